// Noise on priority columns against noise on others, with a point that can be moved along its curve by mouse,
// finger or arrow keys. Python sends the curve; while the point moves, the numbers are read off it here; when it is
// let go, Python takes over.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 380, LEFT = 54, BOTTOM = 46, RIGHT = 14, LETTER = 6, ROW = 18;

function element(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function short(value) {
  if (value >= 1e5 || value < 1e-3) return value.toExponential(1);
  return String(value >= 100 ? Math.round(value) : Number(value.toPrecision(2)));
}

const odds = (share) => Math.log(share / (1 - share));

// The noise at a share, on a straight line between two known ones in the logarithms of noise and of share : rest.
export function noiseAt(curve, share) {
  const last = curve.shares.length - 1;
  let k = curve.shares.findIndex((other) => other >= share);
  k = k < 0 ? last : Math.max(k, 1);
  const [from, to] = [odds(curve.shares[k - 1]), odds(curve.shares[k])];
  const part = Math.min(Math.max((odds(share) - from) / (to - from), 0), 1);
  return [curve.xs, curve.ys].map((noise) => noise[k - 1] ** (1 - part) * noise[k] ** part);
}

// The share whose point on the curve is nearest to a place, all in pixels.
export function nearestShare(curve, place, x, y) {
  let best = [Infinity, curve.shares[0]];
  for (let k = 1; k < curve.shares.length; k++) {
    const [ax, ay, bx, by] = [x(curve.xs[k - 1]), y(curve.ys[k - 1]), x(curve.xs[k]), y(curve.ys[k])];
    const along = ((place[0] - ax) * (bx - ax) + (place[1] - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2);
    const part = Math.min(Math.max(along, 0), 1);
    const away = Math.hypot(place[0] - ax - part * (bx - ax), place[1] - ay - part * (by - ay));
    const between = odds(curve.shares[k - 1]) * (1 - part) + odds(curve.shares[k]) * part;
    if (away < best[0]) best = [away, 1 / (1 + Math.exp(-between))];
  }
  return best[1];
}

// What Python will take: whole steps on the curve.
export function taken(curve, step, share) {
  const least = Math.ceil(curve.shares[0] / step - 1e-9), most = Math.floor(curve.shares.at(-1) / step + 1e-9);
  return Number((Math.min(Math.max(Math.round(share / step), least), most) * step).toFixed(6));
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".frontier");
  const state = root.__state ?? (root.__state = begin(root));
  state.data = data;
  state.send = setTriggerValue;
  if (!state.dragging && !state.waiting) state.share = null; // the engine's own numbers
  draw(root, state);
}

function begin(root) {
  const [picture, handle, numbers] = ["picture", "handle", "numbers"].map((name) => root.querySelector(`.${name}`));
  const state = { picture, handle, numbers, dragging: false, waiting: 0, share: null };
  new ResizeObserver(() => {
    if (state.data && Math.abs(picture.clientWidth - state.width) > 1) draw(root, state);
  }).observe(picture);
  handle.addEventListener("pointerdown", (event) => drag(root, state, event));
  handle.addEventListener("keydown", (event) => press(root, state, event));
  return state;
}

function drag(root, state, start) {
  start.preventDefault();
  const { handle } = state;
  handle.focus({ preventScroll: true });
  handle.setPointerCapture(start.pointerId);
  state.dragging = true;
  const move = (event) => {
    const box = state.picture.getBoundingClientRect();
    const place = [event.clientX - box.left, event.clientY - box.top];
    const { curve, step } = state.data;
    state.share = taken(curve, step, nearestShare(curve, place, state.x, state.y));
    draw(root, state);
  };
  const stop = (event) => {
    handle.removeEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) handle.removeEventListener(end, stop);
    state.dragging = false;
    if (event.type === "pointerup") return release(state);
    state.share = null;
    draw(root, state);
  };
  handle.addEventListener("pointermove", move);
  for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, stop);
}

function press(root, state, event) {
  const { curve, step, here } = state.data;
  const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5 };
  const now = state.share ?? here.share ?? nearestShare(curve, [state.x(here.x), state.y(here.y)], state.x, state.y);
  const ends = { Home: 0, End: 1 };
  if (!(event.key in moves || event.key in ends)) return;
  event.preventDefault();
  state.share = taken(curve, step, ends[event.key] ?? now + step * moves[event.key]);
  draw(root, state);
  clearTimeout(state.waiting);
  state.waiting = setTimeout(() => release(state), 500); // after the last of several presses
}

function release(state) {
  clearTimeout(state.waiting);
  state.waiting = 0;
  if (state.share !== null && state.share !== state.data.here.share) state.send("moved", state.share);
}

function draw(root, state) {
  const { data, picture, handle, numbers } = state;
  const width = state.width = Math.max(picture.clientWidth, 280);
  const [nx, ny] = state.share === null ? [data.here.x, data.here.y] : noiseAt(data.curve, state.share);
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img",
    "aria-label": data.alt })) svg.setAttribute(key, value);
  const top = legend(svg, data, width) + 10;
  const scale = ([low, high], from, to) => (value) =>
    from + (to - from) * (Math.log(value / low) / Math.log(high / low));
  const x = state.x = scale(data.across, LEFT, width - RIGHT), y = state.y = scale(data.up, HEIGHT - BOTTOM, top);
  grid(svg, data, width, top, x, y);
  for (const wall of data.walls)
    element(svg, "line", { x1: x(wall.x), x2: x(wall.x), y1: top, y2: HEIGHT - BOTTOM, class: `wall ${wall.dash}` });
  for (const line of data.lines)
    element(svg, "polyline", { points: line.xs.map((value, k) => `${x(value)},${y(line.ys[k])}`).join(" "),
      class: line.own ? "curve own" : "curve" });
  for (const mark of data.marks) symbol(svg, mark, x(mark.x), y(mark.y));
  data.far.forEach((mark, row) => element(svg, "text", { x: width - RIGHT - 4, y: top + 14 + ROW * row,
    class: `far ${mark.kind}`, "text-anchor": "end" }, mark.words));
  if (data.here.drawn) element(svg, "circle", { cx: x(nx), cy: y(ny), r: 8, class: "here" });
  picture.replaceChildren(svg);

  const share = state.share ?? data.here.share;
  const said = `${share === null ? "this design" : `share ${Number((100 * share).toFixed(1))} %`}: `
    + `${short(nx)} times equal noise on priority columns, ${short(ny)} times on others`;
  numbers.textContent = state.share === null ? "" : said; // at rest the takeaway says it
  handle.hidden = !data.movable;
  handle.style.left = `${x(nx)}px`;
  handle.style.top = `${y(ny)}px`;
  const [least, most] = [0, 1].map((end) => taken(data.curve, data.step, end));
  const now = share ?? taken(data.curve, data.step, nearestShare(data.curve, [x(nx), y(ny)], x, y));
  for (const [name, value] of Object.entries({ valuemin: 100 * least, valuemax: 100 * most, valuenow: 100 * now }))
    handle.setAttribute(`aria-${name}`, Number(value.toFixed(1)));
  handle.setAttribute("aria-valuetext", said);
}

// Rows of names with their signs; returns the height that they take.
function legend(svg, data, width) {
  let [left, row] = [LEFT, 0];
  const items = [...data.lines.map((line) => ({ ...line, draw: (g) => element(g, "line",
    { x1: 0, x2: 22, y1: -4, y2: -4, class: line.own ? "curve own" : "curve" }) })),
  ...data.walls.map((wall) => ({ ...wall, draw: (g) => element(g, "line",
    { x1: 0, x2: 22, y1: -4, y2: -4, class: `wall ${wall.dash}` }) })),
  ...(data.here.drawn ? [{ name: data.here.name, draw: (g) => element(g, "circle",
    { cx: 12, cy: -4, r: 6, class: "here" }) }] : []),
  ...data.marks.map((mark) => ({ ...mark, draw: (g) => symbol(g, mark, 12, -4) }))];
  for (const item of items) {
    const space = 30 + LETTER * item.name.length;
    if (left > LEFT && left + space > width) [left, row] = [LEFT, row + 1];
    const group = element(svg, "g", { transform: `translate(${left} ${14 + ROW * row})` });
    item.draw(group);
    element(group, "text", { x: 27, y: 0, class: "tick" }, item.name);
    left += space + 10;
  }
  return 14 + ROW * row;
}

function symbol(parent, mark, x, y) {
  const turn = mark.kind === "equal" ? 45 : 0;
  element(parent, "rect", { x: x - 5, y: y - 5, width: 10, height: 10, transform: `rotate(${turn} ${x} ${y})`,
    class: mark.kind });
}

function grid(svg, data, width, top, x, y) {
  for (const value of data.ticksAcross) {
    element(svg, "line", { x1: x(value), x2: x(value), y1: top, y2: HEIGHT - BOTTOM, class: "grid" });
    element(svg, "text", { x: x(value), y: HEIGHT - BOTTOM + 15, class: "tick", "text-anchor": "middle" }, short(value));
  }
  for (const value of data.ticksUp) {
    element(svg, "line", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value), class: "grid" });
    element(svg, "text", { x: LEFT - 6, y: y(value) + 4, class: "tick", "text-anchor": "end" }, short(value));
  }
  const fits = (title, room) => LETTER * title.length * 1.1 < room ? title : title.replace(/ \(.*\)/, "");
  element(svg, "text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 8, class: "title", "text-anchor": "middle" },
    fits(data.titles[0], width - LEFT));
  element(svg, "text", { class: "title", "text-anchor": "middle",
    transform: `translate(14 ${(top + HEIGHT - BOTTOM) / 2}) rotate(-90)` }, fits(data.titles[1], HEIGHT - BOTTOM - top));
}
