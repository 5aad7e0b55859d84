// The noise ellipse as a picture that can be dragged. Python sends numbers; while a handle
// moves, everything is computed and redrawn here, frame by frame; on release Python takes over.

const SVG = "http://www.w3.org/2000/svg";
const PAD = 46;
const ALONE = { width: 640, height: 420 }, BESIDE = { width: 450, height: 410 };
const NARROW = 700; // a window this wide has the two pictures below each other

function element(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

function short(value) {
  if (value === 0 || !isFinite(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

// Beside an ellipse of records: how far an evenly spread record goes along each axis.
export function spreads(model, angle) {
  const c = Math.cos(angle), s = Math.sin(angle), [a, b, d] = model.spread;
  return [Math.sqrt(c * c * a + 2 * c * s * b + s * s * d), Math.sqrt(s * s * a - 2 * c * s * b + c * c * d)];
}

// What a record is multiplied by to lie inside; [u, v, rest, part]: where it is, its squared length along all other
// directions, and the answer for a shape that cannot be moved.
export function partOf(model, radius, record, theta, angle) {
  const [u, v, rest, part] = record;
  if (model.kind !== "bounded") return part;
  const c = Math.cos(angle), s = Math.sin(angle), spread = spreads(model, angle);
  const along = [c * u + s * v, -s * u + c * v];
  const square = rest + along.reduce((sum, value, k) => sum + theta[k] * (value / spread[k]) ** 2, 0);
  return Math.min(1, radius / Math.sqrt(Math.max(square, 1e-300)));
}

// The largest whitened move of one record, for directions turned by `angle` with shares `theta`
// (without the common factor): what the budget buys. h: how far a record reaches along each axis.
export function worst(model, theta, angle) {
  const c = Math.cos(angle), s = Math.sin(angle), [r1, r2] = model.reach;
  const h = [Math.abs(c) * r1 + Math.abs(s) * r2, Math.abs(s) * r1 + Math.abs(c) * r2];
  const q = [theta[0] / h[0] ** 2, theta[1] / h[1] ** 2];
  const corner = (sign) => q[0] * (c * r1 + sign * s * r2) ** 2 + q[1] * (-s * r1 + sign * c * r2) ** 2;
  return { h, total: model.rest + Math.max(corner(1), corner(-1)) };
}

// Standard deviations along the two axes.
export function deviations(model, theta, angle) {
  if (model.kind === "theorem")
    return theta.map((t) => Math.sqrt(model.across / (Math.sqrt(t) * model.rootBudget)));
  if (model.kind === "bounded") {
    const spread = spreads(model, angle);
    return theta.map((t, k) => model.scale * spread[k] / Math.sqrt(t));
  }
  const { h, total } = worst(model, theta, angle);
  const factor = model.factor * model.total / total;
  return theta.map((t, k) => Math.sqrt(model.across * h[k] ** 2 / (factor * t)));
}

// The share of axis k that makes its standard deviation `wanted`; the partner keeps the rest.
// Neither gets less than the scenario allows.
export function shareFor(model, k, wanted, angle) {
  const whole = model.theta[0] + model.theta[1];
  let low = model.least * whole, high = (1 - model.least) * whole;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    const theta = k === 0 ? [middle, whole - middle] : [whole - middle, middle];
    if (deviations(model, theta, angle)[k] > wanted) low = middle; else high = middle;
  }
  const share = (low + high) / 2;
  return k === 0 ? [share, whole - share] : [whole - share, share];
}

// What Python will take of it: shares are whole steps, within the same limit.
export function taken(model, k, theta) {
  const whole = theta[0] + theta[1], least = Math.max(model.least * whole, model.step);
  if (whole < 2 * least) return theta;
  const steps = Math.round(theta[k] / model.step) * model.step;
  const share = Math.min(Math.max(steps, least), whole - least);
  return k === 0 ? [share, whole - share] : [whole - share, share];
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".ellipse");
  const state = root.__state ?? (root.__state = { dragging: false });
  state.data = data;
  state.send = setTriggerValue;
  if (!state.dragging) {
    state.theta = [...data.model.theta];
    state.angle = data.model.angle;
    draw(root, state);
  }
}

function draw(root, state) {
  const { data, theta, angle } = state;
  const model = data.model, two = data.records !== null, below = two && window.innerWidth < NARROW;
  const std = model.kind === "fixed" ? model.std : deviations(model, theta, angle);
  const size = two ? BESIDE : ALONE;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size.width * (two && !below ? 2 : 1)} ${size.height * (below ? 2 : 1)}`);
  svg.setAttribute("class", below ? "below" : two ? "beside" : "");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", data.alt);
  const noise = panel(svg, "noise", size, [0, 0], data, angle);
  drawNoise(noise, state, std);
  const panels = [noise];
  if (two) {
    const records = panel(svg, "records", size, below ? [0, size.height] : [size.width, 0], data.records, angle);
    drawRecords(records, state, std);
    panels.push(records);
  }
  root.replaceChildren(svg);
  const turned = data.canTurn ? ` · angle ${(angle * 180 / Math.PI).toFixed(0)}°` : "";
  const numbers = document.createElement("div");
  numbers.className = "numbers";
  const names = Math.abs(angle) < 1e-9 ? data.names : ["along the first axis", "along the second"];
  const kept = two ? ` · records within ${std.map((each) => short(model.records * each)).join(" and ")}` : "";
  numbers.textContent = `noise ${names[0]}: ${short(std[0])} · ${names[1]}: ${short(std[1])} · `
    + `i.i.d. ${short(data.iid)}${kept}${turned}${state.dragging && model.rough ? " · about, until you let go" : ""}`;
  root.appendChild(numbers);
  if (data.canPull) panels.forEach((one) => one.handles.forEach((handle, k) => grab(root, state, one, handle, k)));
}

// A picture with its grid: where things go in it, and what is clipped to it.
function panel(svg, name, size, [left, top], shown, angle) {
  const whole = element(svg, "g", { transform: `translate(${left} ${top})`, class: name });
  const scale = Math.min((size.width - 2 * PAD) / 2, (size.height - 2 * PAD) / 2) / shown.view;
  const x = (value) => size.width / 2 + value * scale, y = (value) => size.height / 2 - value * scale;
  const c = Math.cos(angle), s = Math.sin(angle);
  const turn = (u, v) => [x(c * u - s * v), y(s * u + c * v)];
  grid(whole, size, shown, scale, x, y);
  const clip = element(whole, "clipPath", { id: `frame-${name}` });
  element(clip, "rect", { x: PAD, y: 4, width: size.width - PAD - 4, height: size.height - PAD - 4 });
  const inside = element(whole, "g", { "clip-path": `url(#frame-${name})` });
  return { whole, inside, size, left, top, scale, x, y, turn, degrees: -angle * 180 / Math.PI, handles: [], unit: 1 };
}

function drawNoise(place, state, std) {
  const { data } = state, { inside, x, y, turn, scale, degrees } = place;
  for (const [u, v] of data.points)
    element(inside, "circle", { cx: x(u), cy: y(v), r: 2, class: "data" });
  if (data.useful !== null) {
    const far = 3 * data.view, [uc, us] = [Math.cos(data.useful), Math.sin(data.useful)];
    element(inside, "line", { x1: x(-far * uc), y1: y(-far * us), x2: x(far * uc), y2: y(far * us), class: "useful" });
  }
  if (data.showDraws)
    for (const [u, v] of data.normals) {
      const [ix, iy] = turn(data.iid * u, data.iid * v), [dx, dy] = turn(std[0] * u, std[1] * v);
      element(inside, "circle", { cx: ix, cy: iy, r: 1.8, class: "iid dot" });
      element(inside, "circle", { cx: dx, cy: dy, r: 1.8, class: "own dot" });
    }
  element(inside, "circle", { cx: x(0), cy: y(0), r: data.radii[2] * data.iid * scale, class: "iid line" });
  data.radii.forEach((radius, i) => element(inside, "ellipse", {
    cx: x(0), cy: y(0), rx: radius * std[0] * scale, ry: radius * std[1] * scale,
    transform: `rotate(${degrees} ${x(0)} ${y(0)})`, class: `own line level${i}` }));
  drawAxes(place, state, std, data.radii[2], (k) => data.model.kind === "fixed" ? `± ${short(std[k])}`
    : `± ${short(std[k])} · ${(100 * state.theta[k]).toFixed(1)} %`);
  if (data.spread > 0) scaleBar(place, data, std);
}

// The ranges, the ellipse and, where they are shown, the records: a line from where each was to where it is pulled.
function drawRecords(place, state, std) {
  const { model, records } = state.data, { inside, x, y, scale, degrees } = place;
  const [low, high, bottom, top] = records.box;
  element(inside, "rect", { x: x(low), y: y(top), width: (high - low) * scale, height: (top - bottom) * scale,
    class: "ranges" });
  for (const record of records.points) {
    const [u, v] = record, part = partOf(model, records.radius, record, state.theta, state.angle);
    if (part < 1) {
      element(inside, "line", { x1: x(u), y1: y(v), x2: x(part * u), y2: y(part * v), class: "pull" });
      element(inside, "circle", { cx: x(u), cy: y(v), r: 1.5, class: "was" });
    }
    element(inside, "circle", { cx: x(part * u), cy: y(part * v), r: 2, class: part < 1 ? "data pulled" : "data" });
  }
  element(inside, "ellipse", { cx: x(0), cy: y(0), rx: model.records * std[0] * scale,
    ry: model.records * std[1] * scale, transform: `rotate(${degrees} ${x(0)} ${y(0)})`, class: "own line" });
  drawAxes(place, state, std, model.records, (k) => short(model.records * std[k]));
}

// Both axes, `unit` standard deviations long, with a handle at the end of each.
function drawAxes(place, state, std, unit, words) {
  const { whole, inside, size, x, y, turn, handles } = place;
  place.unit = unit;
  std.forEach((deviation, k) => {
    const length = unit * deviation, [hx, hy] = k === 0 ? turn(length, 0) : turn(0, length);
    element(inside, "line", { x1: x(0), y1: y(0), x2: hx, y2: hy, class: "axis" });
    handles.push(element(inside, "circle", { cx: hx, cy: hy, r: state.data.canPull ? 9 : 4, class: "handle" }));
    const lx = Math.min(Math.max(hx + 12, PAD + 4), size.width - 130);
    const ly = Math.min(Math.max(hy - 10, 16), size.height - PAD - 8);
    element(whole, "text", { x: lx, y: ly, class: "label" }, words(k));
  });
}

// How long the data's own spread is in this picture, and how many times it the noise is.
function scaleBar({ whole, size, scale }, data, std) {
  const length = Math.min(Math.max(data.spread * scale, 2), size.width - 2 * PAD), x = PAD + 10, y = 18;
  element(whole, "line", { x1: x, y1: y, x2: x + length, y2: y, class: "bar" });
  element(whole, "text", { x, y: y + 16, class: "tick" },
    `the data's spread; the noise is ${short(Math.min(...std) / data.spread)} to ${short(Math.max(...std) / data.spread)} times it`);
}

// A tick's label; sums of steps miss 0 by a rounding error.
function label(value, unit) {
  return short(Math.abs(value) < unit / 9 ? 0 : value);
}

function grid(svg, { width, height }, data, scale, x, y) {
  const step = 10 ** Math.floor(Math.log10(data.view)), parts = data.view / step;
  const unit = parts >= 5 ? 2 * step : parts >= 2 ? step : step / 2;
  const wide = (width / 2 - PAD) / scale, high = (height / 2 - PAD / 2) / scale;
  for (let t = -Math.floor(wide / unit) * unit; t <= wide; t += unit) {
    element(svg, "line", { x1: x(t), y1: 4, x2: x(t), y2: height - PAD, class: "grid" });
    element(svg, "text", { x: x(t), y: height - PAD + 14, class: "tick", "text-anchor": "middle" }, label(t, unit));
  }
  for (let t = -Math.floor(high / unit) * unit; t <= high; t += unit) {
    if (y(t) > height - PAD) continue;
    element(svg, "line", { x1: PAD, y1: y(t), x2: width - 4, y2: y(t), class: "grid" });
    element(svg, "text", { x: PAD - 5, y: y(t) + 4, class: "tick", "text-anchor": "end" }, label(t, unit));
  }
  element(svg, "text", { x: width / 2, y: height - 8, class: "title", "text-anchor": "middle" }, data.axisNames[0]);
  element(svg, "text", { x: 0, y: 0, class: "title", "text-anchor": "middle",
    transform: `translate(13 ${height / 2}) rotate(-90)` }, data.axisNames[1]);
}

function grab(root, state, { size, left, top, scale, unit }, handle, k) {
  handle.addEventListener("pointerdown", (start) => {
    start.preventDefault();
    state.dragging = true;
    const place = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(
        root.querySelector("svg").getScreenCTM().inverse());
      return [(at.x - left - size.width / 2) / scale, (size.height / 2 - (at.y - top)) / scale];
    };
    let frame = 0;
    const move = (event) => {
      const [px, py] = place(event);
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        const { model } = state.data;
        if (state.data.canTurn) {
          let angle = Math.atan2(py, px) - (k === 0 ? 0 : Math.PI / 2);
          angle -= Math.PI * Math.round(angle / Math.PI);
          const step = model.angleStep * Math.PI / 180;
          state.angle = Math.abs(angle) < 0.035 ? 0 : Math.round(angle / step) * step;
        }
        const wanted = Math.max(Math.hypot(px, py), 1e-12) / unit;
        state.theta = taken(model, k, shareFor(model, k, wanted, state.angle));
        draw(root, state);
      });
    };
    const stop = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", stop);
      state.dragging = false;
      const [first, second] = state.theta;
      state.send("dragged", { theta: [first, second], angle: state.angle, turned: state.angle !== state.data.model.angle });
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", stop);
  });
}
