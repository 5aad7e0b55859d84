// The rule as a picture: what one record can change, inside the ellipse of the noise at the scale of privacy. Python
// sends numbers; while a handle moves, everything is computed (formulas.js stands above this file) and redrawn here,
// frame by frame; when it is let go, Python takes over.

const SVG = "http://www.w3.org/2000/svg";
const PAD = { left: 46, right: 6, top: 6, bottom: 40 }, ROW = 17, LINE = 18, LETTER = 6.2, NARROW = 620, WAIT = 500, LEGEND = 8;
const DEGREE = Math.PI / 180, SNAP = 2 * DEGREE, ROOM = 1.14;
const CLEAR = 30, LOST = 10; // pixels: a box whose corners are distinct, and one that is a dot
const ZOOMS = { rule: "The rule", noise: "Draws of the noise", data: "The data" };

function element(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function html(parent, name, attributes, text) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function short(value, digits = 3) {
  if (value === 0 || !isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(1).replace("e+", "e");
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const degrees = (angle) => `${Number((angle / DEGREE).toFixed(1))}°`;
const half = (angle) => angle - Math.PI * Math.ceil(angle / Math.PI - 0.5); // above -90°, to 90°
const withUnit = (value, unit) => unit ? `${short(value)} ${unit}` : short(value);

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".rule");
  const state = root.__state ?? (root.__state = begin(root));
  state.send = setTriggerValue;
  if (state.dragging || state.waiting) state.next = data; // what was let go since comes later
  else adopt(state, data);
}


function begin(root) {
  const state = { root, dragging: null, waiting: 0, zoom: "rule", theorem: false, view: 0, handles: {} };
  for (const name of ["picture", "bars", "switches", "sliders", "numbers"]) state[name] = root.querySelector(`.${name}`);
  for (const handle of root.querySelectorAll(".handle")) {
    const name = handle.dataset.name;
    state.handles[name] = handle;
    handle.addEventListener("pointerdown", (event) => drag(state, name, event));
    handle.addEventListener("keydown", (event) => press(state, name, event));
  }
  new ResizeObserver(() => {
    if (state.data && Math.abs(state.picture.clientWidth - state.width) > 1) show(state);
  }).observe(state.picture);
  return state;
}

// The engine's own numbers.
function adopt(state, data) {
  const { model } = data, known = state.data;
  state.data = data;
  state.next = null;
  state.model = model;
  state.theta = [...model.theta];
  state.angle = model.angle;
  state.epsilon = model.epsilon;
  if (known?.line !== data.line) state.line = data.line;
  if (!data.zooms.includes(state.zoom)) state.zoom = data.zooms[0];
  if (data.theorem === null) state.theorem = false;
  state.root.classList.toggle("two", data.records !== null);
  if (JSON.stringify([known?.controls, known?.zooms, known?.theorem?.name]) !==
      JSON.stringify([data.controls, data.zooms, data.theorem?.name])) furnish(state);
  show(state);
}

// Everything that the picture shows, from where the handles are.
function work(state, theta = state.theta, angle = state.angle) {
  const { data, model } = state, { changes } = model;
  const pure = model.kind === "pure", moved = model.epsilon !== null && state.epsilon !== model.epsilon;
  const less = moved ? gaussianMu(model.epsilon, model.delta) / gaussianMu(state.epsilon, model.delta) : 1;
  const mu = !moved ? model.mu : pure ? state.epsilon : model.mu / less; // of pure noise: epsilon
  const std = deviations(model, theta, angle, mu), iid = data.iid * less;
  const axes = changes?.axes ? std.map((one) => one * changes.axes * mu / model.mu) : null;
  const gone = changes?.still && (angle !== model.angle || theta.some((share, k) => share !== model.theta[k]));
  const corners = changes === null || gone ? [] : axes ? boundedCorners(axes, angle, changes.box) : changes.corners;
  const touch = corners.length && !axes && !pure ? touching(corners, std, angle) : { radius: 0, at: [] };
  const whole = model.kind !== "theorem" && changes !== null && !changes.shadow && !axes;
  const rule = whole ? touch.radius : mu;
  const unit = state.zoom === "rule" ? rule : data.radii[2];
  const ends = pure ? pureEnds(model, theta) : std.map((one) => unit * one);
  const asked = data.theorem && asTheorem(model, data.theorem, theta, angle, state.epsilon ?? undefined);
  return { mu, std, iid, axes, corners, gone, rule, asked, angle, theta, at: whole ? touch.at : [], pure, ends, unit,
    bounds: model.gaussian ? corners : [], records: model.records * mu / model.mu };
}

// Half the height that holds what is looked at, in a picture `aspect` times as wide as high.
function fitted(state, now, aspect) {
  const { data, zoom } = state;
  const shape = state.theorem ? now.asked : now;
  const [c, s] = [Math.abs(Math.cos(shape.angle)), Math.abs(Math.sin(shape.angle))], [a, b] = shape.std;
  let wide = now.unit * Math.hypot(c * a, s * b), high = now.unit * Math.hypot(s * a, c * b);
  if (now.pure) [wide, high] = now.ends;
  if (zoom === "data") [wide, high] = [0, 1].map((k) => Math.max(...data.points.map((point) => Math.abs(point[k]))));
  const others = [now.pure ? 0 : now.unit * now.iid, ...(zoom === "rule" && data.model.changes ? data.model.changes.box : [])];
  if (!state.theorem && zoom !== "data") [wide, high] = [Math.max(wide, ...others), Math.max(high, ...others)];
  return ROOM * Math.max(high, wide / aspect, 1e-300);
}

// Where the panels are, in pixels: the rule, and the records beside or below it.
function layout(state) {
  const width = state.width = Math.max(state.picture.clientWidth, 260), two = state.data.records !== null;
  const beside = two && width >= NARROW, each = beside ? width / 2 : width;
  const top = legendHeight(state, width);
  const height = Math.round(Math.max(Math.min(0.8 * each, 360), 280));
  const inner = { width: each - PAD.left - PAD.right, height: height - PAD.top - PAD.bottom };
  return { width, two, top, each, height, inner, aspect: inner.width / inner.height,
    places: [[0, top], beside ? [each, top] : [0, top + height]],
    total: top + height * (two && !beside ? 2 : 1) };
}

// Draw; where the scale has to change, go there smoothly.
function show(state, { smooth = false } = {}) {
  cancelAnimationFrame(state.frame);
  const frame = layout(state), goal = fitted(state, work(state), frame.aspect);
  const fits = goal <= state.view * 1.001 && goal >= 0.4 * state.view;
  if (state.dragging || state.waiting) state.view = Math.max(state.view, goal);
  else if (!smooth) state.view = fits ? state.view : goal;
  if (!smooth || matchMedia("(prefers-reduced-motion: reduce)").matches) {
    if (smooth) state.view = goal;
    return draw(state, frame);
  }
  const from = state.view, start = performance.now();
  const step = (time) => {
    const part = Math.min(Math.max((time - start) / 700, 0), 1), eased = part * part * (3 - 2 * part);
    state.view = from ** (1 - eased) * goal ** eased;
    draw(state, layout(state));
    if (part < 1) state.frame = requestAnimationFrame(step);
  };
  state.frame = requestAnimationFrame(step);
}

function draw(state, frame) {
  const { data } = state, now = work(state);
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${frame.width} ${frame.total}`, width: frame.width,
    height: frame.total, role: "img", "aria-label": described(state, now) })) svg.setAttribute(key, value);
  legend(svg, state, frame.width);
  const rule = panel(svg, "plane", frame, frame.places[0], state.view, data.axisNames, data.factors);
  drawRule(rule, state, now);
  state.places = { rule };
  if (frame.two) {
    const records = panel(svg, "records", frame, frame.places[1], data.records.view, data.records.axisNames,
      data.factors);
    drawRecords(records, state, now);
    state.places.records = records;
  }
  state.picture.replaceChildren(svg);
  placeHandles(state, now);
  tellBars(state, now);
  state.numbers.textContent = summary(state, now);
  for (const tellValue of state.tellers ?? []) tellValue();
}

// A picture with its grid: where things go in it, and what is clipped to it.
function panel(svg, name, { each, height, inner }, [left, top], view, titles, factors) {
  const whole = element(svg, "g", { class: name });
  const scale = inner.height / 2 / view;
  const middle = [left + PAD.left + inner.width / 2, top + PAD.top + inner.height / 2];
  const x = (value) => middle[0] + value * scale, y = (value) => middle[1] - value * scale;
  const box = { x: left + PAD.left, y: top + PAD.top, width: inner.width, height: inner.height };
  grid(whole, box, view, x, y, titles, [left, top + height, each], factors);
  const clip = element(whole, "clipPath", { id: `frame-${name}` });
  element(clip, "rect", box);
  return { whole, box, scale, x, y, view, middle, inside: element(whole, "g", { "clip-path": `url(#frame-${name})` }) };
}

function turnedPlace({ x, y }, angle, u, v) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return [x(c * u - s * v), y(s * u + c * v)];
}

function outline(parent, place, [a, b], angle, look) {
  return element(parent, "ellipse", { cx: place.x(0), cy: place.y(0), rx: a * place.scale, ry: b * place.scale,
    transform: `rotate(${-angle / DEGREE} ${place.x(0)} ${place.y(0)})`, class: look });
}

function drawRule(place, state, now) {
  const { data } = state, { inside, x, y } = place, { std, angle, rule } = now;
  drawChanges(place, state, now);
  for (const [u, v] of data.points) element(inside, "circle", { cx: x(u), cy: y(v), r: 2, class: "data" });
  if (state.zoom === "noise")
    for (const [u, v] of data.normals) {
      const [ix, iy] = turnedPlace(place, angle, now.iid * u, now.iid * v);
      const [dx, dy] = turnedPlace(place, angle, std[0] * u, std[1] * v);
      element(inside, "circle", { cx: ix, cy: iy, r: 1.8, class: "iid dot" });
      element(inside, "circle", { cx: dx, cy: dy, r: 1.8, class: "own dot" });
    }
  drawLine(place, state, now);
  if (now.pure) return drawPure(place, state, now);
  outline(inside, place, [now.unit * now.iid, now.unit * now.iid], 0, "iid line");
  const radii = state.zoom === "rule" ? [rule] : data.radii;
  radii.forEach((radius, k) => outline(inside, place, std.map((one) => radius * one), angle,
    `own line level${k + 3 - radii.length}`));
  if (state.theorem) outline(inside, place, now.asked.std.map((one) => now.unit * one), now.asked.angle, "theorem line");
  const size = Math.max(...data.model.changes?.box ?? [0]) * place.scale;
  if (size > CLEAR) for (const [u, v] of now.at) {
    element(inside, "circle", { cx: x(u), cy: y(v), r: 13, class: "glow" });
    element(inside, "circle", { cx: x(u), cy: y(v), r: 5, class: "touch" });
  }
  if (size > 0 && size < LOST) {
    element(inside, "circle", { cx: x(0), cy: y(0), r: LOST + 3, class: "lost" });
    if (state.theorem) element(inside, "text", { x: x(0) + LOST + 8, y: y(0) + 4, class: "label" }, data.grey);
  }
  if (state.zoom !== "rule" && data.spread > 0) scaleBar(place, data, std);
  if (!state.theorem) drawAxes(place, state, now, now.unit, (k) => state.model.kind === "fixed" ? `± ${along(state, now, k)}`
    : `± ${along(state, now, k)} · ${percent(state.theta[k] * state.model.groups[k])}`);
}

// The outline of box and Laplace noise.
function drawPure(place, state, now) {
  const { inside, x, y } = place;
  element(inside, "polygon", { class: "own line level2", points: pureCorners(state.model, now.theta).map(([u, v]) =>
    `${x(u)},${y(v)}`).join(" ") });
  drawAxes(place, state, now, 1, (k) => `± ${along(state, now, k)} · ${percent(state.theta[k] * state.model.groups[k])}`,
    now.ends);
}

// Everything that one record can change.
function drawChanges(place, { model }, { axes, angle, gone }) {
  const { inside, x, y, scale } = place, { changes } = model;
  if (changes === null || gone) return; // what hangs on the shape comes back when it is let go
  const [w, h] = changes.box;
  if (axes) {
    const clip = element(inside, "clipPath", { id: "ranges" });
    element(clip, "rect", { x: x(-w), y: y(h), width: 2 * w * scale, height: 2 * h * scale });
    const group = element(inside, "g", { "clip-path": "url(#ranges)" });
    outline(group, place, axes, angle, "changes");
    element(inside, "rect", { x: x(-w), y: y(h), width: 2 * w * scale, height: 2 * h * scale, class: "ranges" });
  } else element(inside, "polygon", { points: changes.corners.map(([u, v]) => `${x(u)},${y(v)}`).join(" "),
    class: "changes" });
}

// The use: a line through the middle and, thick on it, how far the noise reaches along it and the least that it can.
function drawLine(place, state, now) {
  if (state.theorem) return;
  const { inside, x, y, view } = place, [c, s] = [Math.cos(state.line), Math.sin(state.line)];
  const stretch = (length, look) => element(inside, "line",
    { x1: x(-length * c), y1: y(-length * s), x2: x(length * c), y2: y(length * s), class: look });
  stretch(3 * view, "use");
  if (now.pure) return;
  const reach = now.unit * noiseAlong(now.std, now.angle, state.line);
  stretch(reach, "use noise");
  if (now.bounds.length) stretch(now.unit * reachAlong(now.bounds, state.line) / now.mu, "use least");
  const [ex, ey] = [reach * c, reach * s], far = 4 * view; // where the ellipse ends, seen along the line
  element(inside, "line", { x1: x(ex - far * s), y1: y(ey + far * c), x2: x(ex + far * s), y2: y(ey - far * c),
    class: "edge" });
}

// The ranges, the ellipse and, where they are shown, the records: a line from where each was to where it is clipped.
function drawRecords(place, state, now) {
  const { records } = state.data, { inside, x, y, scale } = place;
  const [low, high, bottom, top] = records.box;
  element(inside, "rect", { x: x(low), y: y(top), width: (high - low) * scale, height: (top - bottom) * scale,
    class: "ranges" });
  for (const record of records.points) {
    const [u, v] = record, part = partOf(state.model, records.radius, record, state.theta, state.angle);
    if (part < 1) {
      element(inside, "line", { x1: x(u), y1: y(v), x2: x(part * u), y2: y(part * v), class: "clip" });
      element(inside, "circle", { cx: x(u), cy: y(v), r: 1.5, class: "was" });
    }
    element(inside, "circle", { cx: x(part * u), cy: y(part * v), r: 2, class: part < 1 ? "data clipped" : "data" });
  }
  outline(inside, place, now.std.map((one) => now.records * one), now.angle, "own line");
  drawAxes(place, state, now, now.records, (k) => along(state, now, k, now.records));
}

// Both axes, `unit` standard deviations long; no label lies on a handle or on the other label.
function drawAxes(place, state, now, unit, words, ends = now.std.map((one) => unit * one)) {
  const { whole, inside, x, y, box } = place;
  const tips = ends.map((length, k) => turnedPlace(place, now.angle, k === 0 ? length : 0, k === 0 ? 0 : length));
  const taken = tips.map(([ex, ey]) => [ex - 11, ex + 11, ey + 5]);
  tips.forEach(([ex, ey], k) => {
    element(inside, "line", { x1: x(0), y1: y(0), x2: ex, y2: ey, class: "axis" });
    const text = words(k), long = text.length * LETTER * 1.15;
    const lx = Math.min(Math.max(ex + (k === 0 ? -long - 16 : 16), box.x + 4), box.x + box.width - long);
    const first = Math.min(Math.max(ey + (k === 0 ? -14 : 4), box.y + 14), box.y + box.height - 6);
    const ly = [0, -1, 1, -2, 2, 3].map((lines) => first + lines * LINE).find((at) =>
      at >= box.y + 14 && at <= box.y + box.height - 6 && taken.every(([left, right, other]) =>
        lx >= right || lx + long <= left || Math.abs(at - other) >= LINE)) ?? first;
    taken.push([lx, lx + long, ly]);
    element(whole, "text", { x: lx, y: ly, class: "label" }, text);
  });
}

// How long the data's own spread is in this picture, and how many times it the noise is.
function scaleBar({ whole, box, scale }, data, std) {
  const length = Math.min(Math.max(data.spread * scale, 2), box.width - 20), x = box.x + 10, y = box.y + 12;
  element(whole, "line", { x1: x, y1: y, x2: x + length, y2: y, class: "spread" });
  const [low, high] = [Math.min(...std), Math.max(...std)].map((one) => short(one / data.spread));
  element(whole, "text", { x, y: y + 16, class: "tick" }, `the data's spread; the noise is ${low} to ${high} times it`);
}

// The lines of an axis up to `view` on either side, at round numbers of its own unit: where they are, what they say.
function ticks(view, end, factor) {
  const most = view * factor, power = 10 ** Math.floor(Math.log10(most)), parts = most / power;
  const unit = parts >= 5 ? 2 * power : parts >= 2 ? power : power / 2;
  const count = Math.floor(end * factor / unit);
  return Array.from({ length: 2 * count + 1 }, (_, i) => i - count).map((k) => ({ k, at: k * unit / factor,
    label: short(k * unit) }));
}

function grid(svg, box, view, x, y, titles, [left, bottom, each], factors) {
  const across = ticks(view, view * box.width / box.height, factors[0]);
  const every = Math.ceil(across.length * across[0].label.length * 8 / box.width);
  for (const { k, at, label } of across) {
    element(svg, "line", { x1: x(at), x2: x(at), y1: box.y, y2: box.y + box.height, class: "grid" });
    if (k % every === 0 && x(at) < box.x + box.width - 12) element(svg, "text",
      { x: x(at), y: box.y + box.height + 14, class: "tick", "text-anchor": "middle" }, label);
  }
  for (const { at, label } of ticks(view, view, factors[1])) {
    element(svg, "line", { x1: box.x, x2: box.x + box.width, y1: y(at), y2: y(at), class: "grid" });
    element(svg, "text", { x: box.x - 5, y: y(at) + 4, class: "tick", "text-anchor": "end" }, label);
  }
  element(svg, "text", { x: box.x + box.width / 2, y: bottom - 8, class: "title", "text-anchor": "middle" },
    cut(titles[0], each));
  element(svg, "text", { class: "title", "text-anchor": "middle",
    transform: `translate(${left + 12} ${box.y + box.height / 2}) rotate(-90)` },
  cut(titles[1], box.height));
}

const cut = (text, room) => {
  const most = Math.floor(room / (LETTER * 1.1));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};

function legendItems({ data, zoom, theorem, model }) {
  const items = model.changes === null ? [] : [["changes", data.grey]];
  if (theorem) items.push(["theorem line", `as ${data.theorem.name} asks`]);
  if (model.kind === "pure") return [...items, ["own line", "e^ε times less likely than no noise"],
    ["use", "your mixture (drag to turn)"]];
  items.push(["own line", zoom === "rule" ? "noise, scaled to the change box" : "directional noise (50, 90, 95 %)"]);
  items.push(["iid line", zoom === "rule" ? "equal noise" : "equal noise (95 %)"]);
  if (!theorem) items.push(["use", "your mixture (drag to turn)"]);
  return items;
}

function legendPlaces(state, width) {
  let [left, row] = [LEGEND, 0];
  return legendItems(state).map(([look, name]) => {
    const space = 30 + LETTER * name.length;
    if (left > LEGEND && left + space > width) [left, row] = [LEGEND, row + 1];
    const place = { look, name, left, row };
    left += space + 8;
    return place;
  });
}

const legendHeight = (state, width) => 6 + ROW * (legendPlaces(state, width).at(-1).row + 1);

function legend(svg, state, width) {
  for (const { look, name, left, row } of legendPlaces(state, width)) {
    const y = 12 + ROW * row;
    if (look === "changes") element(svg, "rect", { x: left + 2, y: y - 9, width: 18, height: 11, class: look });
    else element(svg, "line", { x1: left, x2: left + 22, y1: y - 4, y2: y - 4, class: look });
    element(svg, "text", { x: left + 27, y, class: "tick" }, name);
  }
}

// Handles: pull an axis (its share), turn the ellipse, turn the use. One handle, one value.

function placeHandles(state, now) {
  const { handles, data, model, places } = state, free = model.kind !== "fixed" && !state.theorem
    && !(now.pure && (model.rough || !model.apart));
  const directions = { pull0: [1, 0], pull1: [0, 1], turn: [Math.SQRT1_2, Math.SQRT1_2] };
  const shown = { pull0: free && data.controls.includes("share"), turn: free && model.canTurn
    && data.controls.includes("angle"), line: !state.theorem };
  shown.pull1 = shown.pull0;
  shown.records0 = shown.records1 = shown.pull0 && places.records !== undefined;
  for (const [name, handle] of Object.entries(handles)) {
    handle.hidden = !shown[name];
    if (handle.hidden) continue;
    const place = name.startsWith("records") ? places.records : places.rule;
    const ends = name.startsWith("records") ? now.std.map((one) => now.records * one) : now.ends;
    let at;
    if (name === "line") {
      const reach = 0.93 * Math.min(place.box.height / 2 / Math.max(Math.abs(Math.sin(state.line)), 1e-9),
        place.box.width / 2 / Math.max(Math.abs(Math.cos(state.line)), 1e-9)) / place.scale;
      at = [place.x(reach * Math.cos(state.line)), place.y(reach * Math.sin(state.line))];
    } else {
      const [u, v] = directions[name.replace("records", "pull")];
      at = turnedPlace(place, now.angle, u * ends[0], v * ends[1]);
    }
    const { box } = place;
    handle.style.left = `${Math.min(Math.max(at[0], box.x + 8), box.x + box.width - 8)}px`;
    handle.style.top = `${Math.min(Math.max(at[1], box.y + 8), box.y + box.height - 8)}px`;
    describeHandle(state, name, handle, now);
  }
}

function describeHandle(state, name, handle, now) {
  if (name.startsWith("records")) return;
  const [label, least, most, value, text] = valueOf(state, name, now);
  for (const [key, one] of Object.entries({ label, valuemin: least, valuemax: most, valuenow: Number(value.toFixed(1)),
    valuetext: text })) handle.setAttribute(`aria-${key}`, one);
}

function axisName(state, k) {
  if (Math.abs(state.angle) < 1e-9) return state.data.names[k];
  return k === 0 ? "the first axis" : "the second axis";
}

function valueOf(state, name, now) {
  const { model } = state, said = (line) => times(noiseAlong(now.std, now.angle, line) / now.iid);
  if (name === "line") return ["Direction of your mixture", -90, 90, half(state.line) / DEGREE,
    `${degrees(half(state.line))}: ${said(state.line)} equal noise${leastWords(state, now)}`];
  if (name === "turn") return ["Angle of the ellipse", -90, 90, state.angle / DEGREE,
    `${degrees(state.angle)}: ${said(0)} equal noise on ${state.data.names[0]}, ${said(Math.PI / 2)} on ${state.data.names[1]}`];
  const k = Number(name.at(-1)), whole = wholeOf({ theta: state.theta, groups: model.groups });
  const share = state.theta[k] * model.groups[k];
  return [`Share of the budget along ${axisName(state, k)}`, 100 * model.least * whole, 100 * (1 - model.least) * whole,
    100 * share, `${percent(share)}: ${times(now.std[k] / now.iid)} equal noise along ${axisName(state, k)}, `
    + `${times(now.std[1 - k] / now.iid)} along ${axisName(state, 1 - k)}`];
}

const times = (factor) => `${short(factor, 2)} times`;

function leastWords(state, now) {
  if (!now.bounds.length) return "";
  return `, at best ${times(reachAlong(now.bounds, state.line) / now.mu / now.iid)}`;
}

function drag(state, name, start) {
  start.preventDefault();
  const handle = state.handles[name];
  handle.focus({ preventScroll: true });
  handle.setPointerCapture(start.pointerId);
  const place = () => state.places[name.startsWith("records") ? "records" : "rule"];
  const at = (event) => {
    const box = state.picture.getBoundingClientRect(), { middle, scale } = place();
    return [(event.clientX - box.left - middle[0]) / scale, (middle[1] - (event.clientY - box.top)) / scale];
  };
  const [sx, sy] = at(start);
  state.dragging = { from: Math.atan2(sy, sx), angle: state.angle };
  let frame = 0;
  const move = (event) => {
    const point = at(event);
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      take(state, name, point);
      show(state);
    });
  };
  const stop = () => {
    cancelAnimationFrame(frame);
    handle.removeEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) handle.removeEventListener(end, stop);
    state.dragging = null;
    release(state);
  };
  handle.addEventListener("pointermove", move);
  for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, stop);
}

// A handle was moved to a point of the picture.
function take(state, name, [px, py]) {
  const { model } = state, towards = Math.atan2(py, px);
  if (name === "line") {
    const quarter = Math.PI / 4 * Math.round(towards / (Math.PI / 4));
    state.line = Math.abs(towards - quarter) < SNAP ? quarter : towards;
  } else if (name === "turn") turnTo(state, state.dragging.angle + towards - state.dragging.from, SNAP);
  else {
    const k = Number(name.at(-1)), own = turned([px, py], state.angle)[k];
    const lengthOf = (theta) => {
      const now = work(state, theta);
      return name.startsWith("records") ? now.std[k] * now.records : now.ends[k];
    };
    state.theta = taken(model, k, shareFor(model, k, Math.max(own, 1e-300), lengthOf));
  }
}

function turnTo(state, angle, snap = 0) {
  const step = state.model.angleStep * DEGREE, near = half(angle);
  state.angle = Math.abs(near) < snap ? 0 : Math.round(near / step) * step;
}

const MOVES = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

function press(state, name, event) {
  const by = MOVES[event.key], end = { Home: 0, End: 1 }[event.key];
  if (by === undefined && end === undefined) return;
  event.preventDefault();
  const { model } = state;
  if (name === "line") state.line = end === undefined ? state.line + by * DEGREE : (end - 0.5) * Math.PI;
  else if (name === "turn") turnTo(state, end === undefined ? state.angle + by * DEGREE : (end - 0.5) * Math.PI);
  else {
    const k = Number(name.at(-1)), theta = [...state.theta], whole = wholeOf({ theta, groups: model.groups });
    const share = theta[k] * model.groups[k];
    theta[k] = (end === undefined ? share + 0.01 * whole * by : end * whole) / model.groups[k];
    theta[1 - k] = (whole - theta[k] * model.groups[k]) / model.groups[1 - k];
    state.theta = taken(model, k, theta);
  }
  later(state);
}

// After the last of several presses.
function later(state) {
  clearTimeout(state.waiting);
  state.waiting = setTimeout(() => release(state), WAIT);
  show(state);
}

function release(state) {
  clearTimeout(state.waiting);
  state.waiting = 0;
  const { model } = state.data, { theta, angle, epsilon } = state;
  const same = [...theta, angle, epsilon].every((value, k) =>
    value === [...model.theta, model.angle, model.epsilon][k]);
  if (!same) state.send("moved", { theta, angle, turned: angle !== model.angle, epsilon });
  else if (state.next) adopt(state, state.next);
  else show(state);
}

// Beside the picture: noise against equal noise on either feature and along the use, and the least possible.

function tellBars(state, now) {
  const { data, bars } = state, lines = [0, Math.PI / 2, state.line], shown = state.theorem ? now.asked : now;
  state.root.classList.toggle("unknown", now.bounds.length === 0);
  const found = lines.map((line) => ({ noise: noiseAlong(shown.std, shown.angle, line) / now.iid,
    least: now.bounds.length ? reachAlong(now.bounds, line) / now.mu / now.iid : null }));
  if (!bars.children.length) lines.forEach(() => {
    const row = html(bars, "div", { class: "bar" });
    html(row, "span", { class: "what" });
    html(row, "b", {});
    const track = html(row, "span", { class: "track" });
    for (const look of ["fill", "one", "least"]) html(track, "i", { class: look });
    html(row, "small", {});
  });
  const most = Math.max(2, ...found.map(({ noise }) => noise * 1.05));
  const names = [...data.names.map((name) => `on ${name}`), `along your mixture (${mixture(state)})`];
  found.forEach(({ noise, least }, k) => {
    const [what, value, track, small] = bars.children[k].children;
    what.textContent = names[k];
    value.textContent = `${short(noise, 2)}×`;
    const [fill, one, bound] = track.children;
    fill.style.width = `${100 * noise / most}%`;
    fill.className = noise > 1.005 ? "fill more" : "fill";
    one.style.left = `${100 / most}%`;
    bound.hidden = least === null;
    bound.style.left = `${100 * (least ?? 0) / most}%`;
    small.textContent = least === null ? "" : least > 0.995 ? "equal noise is the best Gaussian noise here"
      : `lowest possible Gaussian noise ${short(least, 2)}×`;
  });
}

// The use by its parts: "0.7 sleep + 0.7 score".
function mixture({ line, data }) {
  const parts = [Math.cos(line), Math.sin(line)].map((part) => Number(part.toFixed(2)));
  if (parts[0] < 0 || (parts[0] === 0 && parts[1] < 0)) parts.forEach((part, k) => { parts[k] = -part; });
  const [a, b] = parts, words = (part, name) => Math.abs(part) === 1 ? name : `${Math.abs(part)} ${name}`;
  if (b === 0) return words(a, data.names[0]);
  return a === 0 ? words(b, data.names[1]) : `${words(a, data.names[0])} ${b < 0 ? "−" : "+"} ${words(b, data.names[1])}`;
}

const isPlain = ({ factors }) => factors.every((factor) => factor === 1);

// So many typical errors along an axis in the unit of its feature; where it is no feature's, as a multiple of equal noise
// (nothing for records, which that says nothing of).
function along({ data }, { angle, std, iid }, k, count = 1) {
  const value = count * std[k], straight = Math.abs(angle) < 1e-9;
  if (!straight && !isPlain(data)) return count === 1 ? `${short(value / iid)} × equal noise` : "";
  return withUnit(value * data.factors[k], straight ? data.units[k] : "");
}

function summary(state, now) {
  const { data, model } = state, parts = [];
  if (state.theorem) {
    const factor = Math.max(...now.asked.std) / Math.max(...now.std);
    return `${data.theorem.name} asks for ${short(factor, 2)} times this noise: its ellipse fills the picture, and all `
      + "that one record can change is the dot in the middle";
  }
  const straight = Math.abs(now.angle) < 1e-9;
  const names = straight ? data.names : ["along the first axis", "along the second"];
  const equal = data.factors.map((factor, k) => withUnit(now.iid * factor, data.units[k]));
  parts.push(...names.map((name, k) => `${k ? "" : "noise "}${name}: ${along(state, now, k)}`),
    `equal noise ${isPlain(data) ? short(now.iid) : equal.join(" and ")}`);
  const records = data.records === null ? [] : [0, 1].map((k) => along(state, now, k, now.records)).filter(Boolean);
  if (records.length) parts.push(`records within ${records.join(" and ")}`);
  if (model.canTurn) parts.push(`angle ${degrees(now.angle)}`);
  if ((state.dragging || state.waiting) && model.rough) parts.push("about, until you let go");
  return parts.join(" · ");
}

function described(state, now) {
  const { data, model } = state, { changes } = model;
  const [wide, high] = changes === null ? ["", ""] : changes.box.map((half, k) =>
    withUnit(half * data.factors[k], data.units[k]));
  if (now.pure) return `${data.alt} ${data.grey}: ± ${wide} by ± ${high}. The outline, where noise is e^ε times less `
    + `likely than none, is a ${model.apart ? "diamond" : "box"}. ${summary(state, now)}.`;
  const grey = changes === null ? "" : ` ${data.grey}: ± ${wide} by ± ${high}, inside the ellipse of `
    + `${short(now.rule)} typical errors, whose half axes are ${now.std.map((one, k) =>
      along(state, now, k, now.rule) || `${short(now.rule * one / now.iid)} × equal noise`).join(" and ")}, turned by ${degrees(now.angle)}.`;
  return `${data.alt}${grey} ${summary(state, now)}.`;
}

// Switches and sliders, once for each kind of picture.

function furnish(state) {
  const { data, switches, sliders } = state;
  switches.replaceChildren();
  sliders.replaceChildren();
  state.tellers = [];
  const button = (text, pressed, act) => {
    const node = html(switches, "button", { type: "button" }, text);
    node.addEventListener("click", () => { act(); show(state, { smooth: true }); });
    state.tellers.push(() => node.setAttribute("aria-pressed", String(pressed())));
  };
  if (data.zooms.length > 1) for (const zoom of data.zooms)
    button(ZOOMS[zoom], () => state.zoom === zoom, () => { state.zoom = zoom; });
  if (data.theorem !== null) button(`As ${data.theorem.name} asks`, () => state.theorem,
    () => { state.theorem = !state.theorem; });
  for (const [name, control] of Object.entries(CONTROLS)) if (data.controls.includes(name)) slider(state, control);
}

const CONTROLS = {
  epsilon: { label: "Privacy budget ε", least: () => -2, most: () => 2, step: 0.05,
    get: ({ epsilon }) => Math.log10(epsilon), set: (state, value) => { state.epsilon = Number((10 ** value).toPrecision(2)); },
    words: ({ epsilon }) => short(epsilon), works: ({ model }) => model.epsilon !== null },
};

function slider(state, control) {
  const label = html(state.sliders, "label", {});
  html(label, "span", {}, control.label);
  const input = html(label, "input", { type: "range", step: control.step });
  const output = html(label, "output", {});
  input.addEventListener("input", () => {
    control.set(state, Number(input.value));
    later(state);
  });
  state.tellers.push(() => {
    label.hidden = !control.works(state.data);
    if (label.hidden) return;
    input.min = control.least(state.data);
    input.max = control.most(state.data);
    if (input.getRootNode().activeElement !== input || !state.waiting) input.value = control.get(state);
    input.setAttribute("aria-valuetext", control.words(state));
    output.textContent = control.words(state);
  });
}
