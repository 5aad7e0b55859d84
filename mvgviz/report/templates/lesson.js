// The lesson and the game on one page, and the handout. Numbers, words and pictures come from Python, one of each for
// every value of a control; here they are chosen, and what the learner guesses is drawn.

const { steps, game } = JSON.parse(document.getElementById("lesson").textContent);
const [handle, key] = ["handle", "key"].map((name) => document.getElementById(name));
const grey = getComputedStyle(document.documentElement).getPropertyValue("--data").trim();
const [words, control, picture, desk, nav] = ["#words", "#control", "#picture", "#desk", "nav"].map((name) => document.querySelector(name));
const answers = steps.map((step) => ({ at: step.start, drafts: {}, guess: null }));
const table = { seed: 0, shape: game && Object.keys(game.shapes)[0], epsilon: game?.epsilons[1], said: {} };
const MARKS = { square: "■", diamond: "◆", star: "★", cross: "✚" };
let shown; // what the picture shows, to be drawn again when the screen changes

function make(name, properties = {}, ...children) {
  const { data = {}, ...own } = properties, node = Object.assign(document.createElement(name), own);
  for (const [key, value] of Object.entries(data)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// Every size of letters in a layout, times a factor.
function scaled(part, factor) {
  if (Array.isArray(part)) return part.map((one) => scaled(one, factor));
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, key === "size" ? value * factor : scaled(value, factor)]));
}

// A title in two lines where one has no room.
function folded(title, room) {
  const middle = title.text.length / 2, spaces = [...title.text.matchAll(/ /g)].map(({ index }) => index);
  if (title.text.length * title.font.size * 0.55 <= room || !spaces.length) return title;
  const cut = spaces.reduce((best, at) => Math.abs(at - middle) < Math.abs(best - middle) ? at : best);
  return { ...title, text: `${title.text.slice(0, cut)}<br>${title.text.slice(cut + 1)}` };
}

// A figure in a node, and what its colours mean in words of their own above it.
function draw(node, key, figure, factor) {
  const [ink, line] = ["--ink", "--grid"].map((name) => getComputedStyle(node).getPropertyValue(name));
  const sample = ({ line: { color, dash } = {}, marker, mode, fill }) => {
    const mark = mode === "markers" ? MARKS[marker.symbol] ?? "●" : fill === "toself" ? MARKS.square : "";
    return make("i", { className: mark ? "" : dash ?? "solid", textContent: mark,
      style: `color: ${color ?? [marker?.color].flat()[0]}` });
  };
  key.replaceChildren(...figure.layout.showlegend === false ? [] : figure.data.filter(({ name, showlegend }) => name && showlegend !== false)
    .map((trace) => make("span", {}, sample(trace), trace.name)));
  const layout = scaled(figure.layout, factor), [width, height] = [node.clientWidth, node.clientHeight];
  for (const [name, axis] of Object.entries(layout)) {
    if (!/^[xy]axis/.test(name)) continue;
    layout[name] = { ...axis, automargin: true, gridcolor: line, zerolinecolor: line,
      ...(axis.title?.text && { title: folded(axis.title, name[0] === "x" ? 0.85 * width : 0.7 * height * (axis.domain ? axis.domain[1] - axis.domain[0] : 1)) }),
      ...(factor < 1 && !axis.tickvals && { nticks: Math.min(axis.nticks ?? 6, 6), tickangle: 0 }) };
  }
  Object.assign(layout, { width, height, showlegend: false, margin: { l: 8, r: 8, t: 8, b: 16 }, font: { ...layout.font, color: ink } });
  Plotly.react(node, figure.data, layout, { displayModeBar: false, doubleClick: false });
}

function drawPicture() {
  draw(picture, key, shown, picture.clientWidth < 560 ? 0.7 : 1);
}

function show(figure, alt) {
  shown = figure;
  picture.setAttribute("aria-label", alt);
  drawPicture();
}

// One of several, as buttons.
function chips(question, names, chosen, pick) {
  const buttons = names.map((name, k) => make("label", {}, make("input", {
    type: "radio", name: question, checked: k === chosen, onchange: () => pick(k) }), make("span", { textContent: name })));
  return make("fieldset", { className: "chips" }, make("legend", { textContent: question }), make("div", {}, ...buttons));
}

// A number between two; `words` says each of them.
function slider(label, { min, max, step, value }, words, pick) {
  const output = make("b", { ariaHidden: "true" }), input = make("input", { type: "range", min, max, step, value });
  const tell = () => {
    output.textContent = words(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.oninput = () => {
    tell();
    pick(Number(input.value));
  };
  tell();
  return make("label", { className: "range" }, `${label} `, output, input);
}

// A guess: in words, whether it is right, and on a picture.
const written = ({ shown }, guess) => shown.replace(/%\.(\d)f/, (_, digits) => guess.toFixed(digits));
const isRight = ({ answer }, guess) => answer.low - 1e-9 <= guess && guess <= answer.high + 1e-9;

function withGhost(figure, ghost, guess, name) {
  const x = ghost.lines.flatMap((line) => [...line.map(([at, , by]) => at + guess * by), null]).slice(0, -1);
  const y = ghost.lines.flatMap((line) => [...line.map(([, at, , by]) => at + guess * by), null]).slice(0, -1);
  return { ...figure, data: [...figure.data, { type: "scatter", mode: "lines", x, y, name, xaxis: `x${ghost.axes}`,
    yaxis: `y${ghost.axes}`, zorder: 9, hoverinfo: "name", line: { color: grey, width: 4, dash: "dot" } }] };
}

// Where the handle of a ghost is, in pixels of the picture.
function placed({ axes, handle: [x, y, dx, dy] }, guess) {
  const { [`xaxis${axes}`]: across, [`yaxis${axes}`]: up } = picture._fullLayout;
  return [across.d2p(x + guess * dx) + across._offset, up.d2p(y + guess * dy) + up._offset];
}

// A step: the picture waits for the guess; then the guess stays on it while the control moves.
function showStep(index) {
  const step = steps[index], of = answers[index], value = step.values[of.at], { ghost } = value;
  words.querySelector("h2").textContent = step.title;
  words.querySelector("#sentences").replaceChildren(...value.sentences.map((line) => make("p", { innerHTML: line })));
  if (of.guess) return showAnswer(index);
  const take = () => {
    of.guess = { at: of.at, given: of.drafts[of.at] };
    showStep(index);
  };
  const tell = (guess) => {
    of.drafts[of.at] = guess;
    show(withGhost(value.before, ghost, guess, "your guess"), `${value.alts[0]} Your guess: ${written(ghost, guess)}.`);
    const [x, y] = placed(ghost, guess);
    Object.assign(handle.style, { left: `${x}px`, top: `${y}px` });
  };
  const guess = slider(value.question, { min: ghost.least, max: ghost.most, step: ghost.step,
    value: of.drafts[of.at] ?? ghost.start }, (one) => written(ghost, one), tell), input = guess.querySelector("input");
  control.replaceChildren();
  desk.replaceChildren(guess, make("p", { className: "quiet", textContent: "Drag the dotted line, or move the slider." }),
    make("button", { type: "button", className: "main", textContent: "Reveal", onclick: take }), ways(index));
  handle.hidden = false;
  handle.drag = ([x, y]) => {
    const [[x0, y0], [x1, y1]] = [placed(ghost, 0), placed(ghost, 1)];
    input.value = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2);
    input.oninput();
  };
  handle.again = () => tell(Number(input.value));
  handle.again();
  mark();
}

function showAnswer(index) {
  const step = steps[index], of = answers[index], { at, given } = of.guess, names = step.values.map((value) => value.shown);
  const reply = make("p", { data: { role: "status" } });
  const tell = () => {
    const value = step.values[of.at], { ghost } = step.values[at], right = isRight(value, given), said = written(ghost, given);
    reply.className = `reply ${of.at !== at ? "" : right ? "right" : "wrong"}`;
    reply.innerHTML = of.at !== at ? value.why : right ? `<strong>Right</strong>, you said ${said}. ${value.why}`
      : `<strong>You said ${said}.</strong> ${value.hints[Number(given > value.answer.value)]} ${value.why}`;
    words.querySelector("#sentences").replaceChildren(...value.sentences.map((line) => make("p", { innerHTML: line })));
    show(withGhost(value.after, ghost, given, of.at === at ? "your guess" : `your guess (${names[at]})`),
      `${value.alts[1]} Your guess: ${said}.`);
  };
  const pick = (k) => {
    of.at = k;
    tell();
  };
  handle.hidden = true;
  control.replaceChildren(step.ordered ? slider(step.control, { min: 0, max: names.length - 1, step: 1, value: of.at },
    (k) => names[k], pick) : chips(step.control, names, of.at, pick));
  const again = make("button", { type: "button", textContent: "Guess again", onclick: () => {
    of.guess = null;
    showStep(index);
  } });
  desk.replaceChildren(reply, ways(index, again));
  tell();
  mark();
}

function ways(index, ...before) {
  return make("div", { className: "ways" }, ...before,
    ...(index ? [make("a", { className: "way", href: `#${index}`, textContent: "← Back" })] : []),
    make("a", { className: "way", href: index + 1 < steps.length ? `#${index + 2}` : "#game",
      textContent: index + 1 < steps.length ? "Next →" : "Play the attacker →" }));
}

// The game: what was said is kept for each table.
function gameFigure({ start, end, games }, seed, said) {
  const rounds = games[seed], over = said === rounds.length, [outline, border, ...kinds] = end.data, star = start.data.at(-1);
  const small = Math.min(...kinds.flatMap((trace) => trace.marker.size)), keys = Object.keys(game.names);
  const seen = kinds.map((trace, k) => {
    const points = rounds.slice(0, said).filter(([truth]) => truth === keys[k]);
    return { ...trace, x: [trace.x[0], ...points.map((one) => one[1])], y: [trace.y[0], ...points.map((one) => one[2])],
      marker: { ...trace.marker, size: [trace.marker.size[0], ...points.map(() => small)] } };
  });
  return { layout: end.layout, data: [outline, ...(over ? [border] : []), ...seen,
    ...(over ? [] : [{ ...star, x: [rounds[said][1]], y: [rounds[said][2]] }])] };
}

function showGame() {
  const at = `${table.shape} ${table.epsilon}`, now = game.tables[at], rounds = now.games[table.seed];
  const said = table.said[`${at} ${table.seed}`] ??= [], shapes = Object.keys(game.shapes);
  const sit = (change) => {
    Object.assign(table, change);
    showGame();
  };
  words.querySelector("h2").textContent = "Play the attacker";
  words.querySelector("#sentences").replaceChildren(make("p", { innerHTML: game.rules }));
  control.replaceChildren(
    chips("Noise", Object.values(game.shapes), shapes.indexOf(table.shape), (k) => sit({ shape: shapes[k] })),
    chips("Privacy budget ε", game.epsilons, game.epsilons.indexOf(table.epsilon), (k) => sit({ epsilon: game.epsilons[k] })));
  const last = make("p", { data: { role: "status" } }), round = make("strong"), tally = make("p");
  const guesses = make("div", { className: "ways" }, ...Object.entries(game.names).map(([guess, name]) =>
    make("button", { type: "button", textContent: name, onclick: () => say(guess) })));
  const other = shapes[(shapes.indexOf(table.shape) + 1) % shapes.length];
  const after = make("div", { className: "ways" },
    make("button", { type: "button", className: "main", textContent: `Now with the ${other}`, onclick: () => sit({ shape: other }) }),
    make("button", { type: "button", textContent: "Another game", onclick: () => sit({ seed: (table.seed + 1) % now.games.length }) }));
  const over = make("p", { innerHTML: now.over[table.seed] });
  desk.replaceChildren(last, round, guesses, make("p", { className: "quiet", textContent: "By keyboard: 1 and 2." }), tally, over, after);
  const say = (guess) => {
    if (said.length < rounds.length) said.push(guess);
    tell();
  };
  const tell = () => {
    const done = said.length === rounds.length, truth = said.length ? rounds[said.length - 1][0] : "", right = said.at(-1) === truth;
    last.hidden = !said.length;
    last.className = `reply ${right ? "right" : "wrong"}`;
    last.textContent = said.length ? `${right ? "Right" : "Wrong"}: ${game.names[truth]}.` : "";
    round.textContent = done ? "Ten rounds" : `Round ${said.length + 1} of ${rounds.length}`;
    guesses.hidden = guesses.nextSibling.hidden = done;
    over.hidden = after.hidden = !done;
    const hits = said.filter((guess, k) => guess === rounds[k][0]).length;
    tally.innerHTML = `You: <strong>${hits} of ${said.length}</strong> right. ${now.chance}`;
    const [, x, y] = rounds[Math.min(said.length, rounds.length - 1)];
    show(gameFigure(now, table.seed, said.length), done ? "All ten releases, by what Ann has."
      : `Round ${said.length + 1}: a release at ${x.toFixed(2)} hours and ${y.toFixed(1)} points. ${now.without}`);
  };
  handle.hidden = true;
  picture.say = (key) => guesses.children[key - 1]?.click();
  tell();
}

// Where one is, and how far.
const place = () => location.hash === "#game" ? steps.length : Math.min(Math.max(parseInt(location.hash.slice(1)) || 1, 1), steps.length) - 1;

function mark() {
  nav.childNodes.forEach((link, k) => {
    const tried = Boolean(answers[k]?.guess), right = tried && isRight(steps[k].values[answers[k].guess.at], answers[k].guess.given);
    link.className = right ? "right" : tried ? "tried" : "";
    link.toggleAttribute("aria-current", false);
    if (k === place()) link.setAttribute("aria-current", "step");
    if (k < steps.length) link.setAttribute("aria-label", `Step ${k + 1}${right ? ", answered" : tried ? ", tried" : ""}`);
  });
}

function go() {
  picture.say = null;
  mark();
  if (place() === steps.length) showGame(); else showStep(place());
  scrollTo(0, 0);
}

function drawHandout() {
  document.querySelectorAll(".draw").forEach((node) => {
    const step = steps[node.dataset.step], { before, ghost } = step.values[step.start];
    const figure = withGhost(before, ghost, ghost.start, ""); // unseen, for the axes of its own
    figure.data.at(-1).opacity = 0;
    draw(node, node.parentElement.querySelector(".key"), figure, 0.6);
  });
}

if (game) {
  nav.append(...steps.map((step, k) => make("a", { href: `#${k + 1}`, textContent: k + 1, title: step.title })),
    make("a", { href: "#game", textContent: "Game" }));
  document.getElementById("print").onclick = () => print();
  addEventListener("beforeprint", drawHandout);
  addEventListener("hashchange", go);
  addEventListener("resize", () => {
    drawPicture();
    if (!handle.hidden) handle.again();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawPicture);
  addEventListener("keydown", (event) => {
    if (["1", "2"].includes(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) picture.say?.(Number(event.key));
  });
  const dragged = (event) => {
    const box = picture.getBoundingClientRect();
    if (handle.hasPointerCapture(event.pointerId)) handle.drag([event.clientX - box.left, event.clientY - box.top]);
  };
  handle.onpointerdown = (event) => handle.setPointerCapture(event.pointerId);
  handle.onpointermove = dragged;
  go();
} else {
  drawHandout();
}
