// The noise ellipse as a picture that can be dragged. Python sends numbers; while a handle
// moves, everything is computed and redrawn here, frame by frame; on release Python takes over.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640, HEIGHT = 420, PAD = 46;

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
  const model = data.model;
  const std = model.kind === "fixed" ? model.std : deviations(model, theta, angle);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", data.alt);
  const scale = Math.min((WIDTH - 2 * PAD) / 2, (HEIGHT - 2 * PAD) / 2) / data.view;
  const x = (value) => WIDTH / 2 + value * scale, y = (value) => HEIGHT / 2 - value * scale;
  const c = Math.cos(angle), s = Math.sin(angle);
  const turn = (u, v) => [x(c * u - s * v), y(s * u + c * v)];

  grid(svg, data, scale, x, y);
  const clip = element(svg, "clipPath", { id: "frame" });
  element(clip, "rect", { x: PAD, y: 4, width: WIDTH - PAD - 4, height: HEIGHT - PAD - 4 });
  const inside = element(svg, "g", { "clip-path": "url(#frame)" });
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
  const degrees = -angle * 180 / Math.PI;
  element(inside, "circle", { cx: x(0), cy: y(0), r: data.radii[2] * data.iid * scale, class: "iid line" });
  data.radii.forEach((radius, i) => element(inside, "ellipse", {
    cx: x(0), cy: y(0), rx: radius * std[0] * scale, ry: radius * std[1] * scale,
    transform: `rotate(${degrees} ${x(0)} ${y(0)})`, class: `own line level${i}` }));
  const handles = [];
  std.forEach((deviation, k) => {
    const length = data.radii[2] * deviation;
    const [hx, hy] = k === 0 ? turn(length, 0) : turn(0, length);
    element(inside, "line", { x1: x(0), y1: y(0), x2: hx, y2: hy, class: "axis" });
    const handle = element(inside, "circle", { cx: hx, cy: hy, r: data.canPull ? 9 : 4, class: "handle" });
    handles.push(handle);
    const lx = Math.min(Math.max(hx + 12, PAD + 4), WIDTH - 130), ly = Math.min(Math.max(hy - 10, 16), HEIGHT - PAD - 8);
    element(svg, "text", { x: lx, y: ly, class: "label" },
      model.kind === "fixed" ? `± ${short(deviation)}` : `± ${short(deviation)} · ${(100 * theta[k]).toFixed(1)} %`);
  });
  if (data.spread > 0) scaleBar(svg, data, std, scale);
  root.replaceChildren(svg);
  const turned = data.canTurn ? ` · angle ${(angle * 180 / Math.PI).toFixed(0)}°` : "";
  const numbers = document.createElement("div");
  numbers.className = "numbers";
  const names = Math.abs(angle) < 1e-9 ? data.names : ["along the first axis", "along the second"];
  numbers.textContent = `noise ${names[0]}: ${short(std[0])} · ${names[1]}: ${short(std[1])} · `
    + `i.i.d. ${short(data.iid)}${turned}${state.dragging && model.rough ? " · about, until you let go" : ""}`;
  root.appendChild(numbers);
  if (data.canPull) handles.forEach((handle, k) => grab(root, state, svg, handle, k, scale));
}

// How long the data's own spread is in this picture, and how many times it the noise is.
function scaleBar(svg, data, std, scale) {
  const length = Math.min(Math.max(data.spread * scale, 2), WIDTH - 2 * PAD), x = PAD + 10, y = 18;
  element(svg, "line", { x1: x, y1: y, x2: x + length, y2: y, class: "bar" });
  element(svg, "text", { x, y: y + 16, class: "tick" },
    `the data's spread; the noise is ${short(Math.min(...std) / data.spread)} to ${short(Math.max(...std) / data.spread)} times it`);
}

// A tick's label; sums of steps miss 0 by a rounding error.
function label(value, unit) {
  return short(Math.abs(value) < unit / 9 ? 0 : value);
}

function grid(svg, data, scale, x, y) {
  const step = 10 ** Math.floor(Math.log10(data.view)), parts = data.view / step;
  const unit = parts >= 5 ? 2 * step : parts >= 2 ? step : step / 2;
  const wide = (WIDTH / 2 - PAD) / scale, high = (HEIGHT / 2 - PAD / 2) / scale;
  for (let t = -Math.floor(wide / unit) * unit; t <= wide; t += unit) {
    element(svg, "line", { x1: x(t), y1: 4, x2: x(t), y2: HEIGHT - PAD, class: "grid" });
    element(svg, "text", { x: x(t), y: HEIGHT - PAD + 14, class: "tick", "text-anchor": "middle" }, label(t, unit));
  }
  for (let t = -Math.floor(high / unit) * unit; t <= high; t += unit) {
    if (y(t) > HEIGHT - PAD) continue;
    element(svg, "line", { x1: PAD, y1: y(t), x2: WIDTH - 4, y2: y(t), class: "grid" });
    element(svg, "text", { x: PAD - 5, y: y(t) + 4, class: "tick", "text-anchor": "end" }, label(t, unit));
  }
  element(svg, "text", { x: WIDTH / 2, y: HEIGHT - 8, class: "title", "text-anchor": "middle" }, data.axisNames[0]);
  element(svg, "text", { x: 0, y: 0, class: "title", "text-anchor": "middle",
    transform: `translate(13 ${HEIGHT / 2}) rotate(-90)` }, data.axisNames[1]);
}

function grab(root, state, svg, handle, k, scale) {
  handle.addEventListener("pointerdown", (start) => {
    start.preventDefault();
    state.dragging = true;
    const place = (event) => {
      const box = root.querySelector("svg").getBoundingClientRect();
      const pixels = WIDTH / box.width;
      return [((event.clientX - box.left) * pixels - WIDTH / 2) / scale, (HEIGHT / 2 - (event.clientY - box.top) * pixels) / scale];
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
        const wanted = Math.max(Math.hypot(px, py), 1e-12) / state.data.radii[2];
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
