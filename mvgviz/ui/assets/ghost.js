// A guess that is dragged in a Plotly chart: a handle on the trace of the ghost, which moves along while it is dragged.
// `ghost`: where each point of its lines is at 0 and how far it goes for 1, in units of the axes; see `Ghost` in Python.

const SIZE = 30, NAME = "your guess", EVERY = 250;

// Where a point (x, y, dx, dy) is at a guess: in pixels of its axes' own corner.
function placed(gd, { axes }, [x, y, dx, dy], guess) {
  const across = gd._fullLayout[`xaxis${axes}`], up = gd._fullLayout[`yaxis${axes}`];
  return [across.d2p(x + guess * dx), up.d2p(y + guess * dy)];
}

function corner(gd, { axes }) {
  return [gd._fullLayout[`xaxis${axes}`]._offset, gd._fullLayout[`yaxis${axes}`]._offset];
}

function redraw(gd, ghost, guess) {
  const trace = gd._fullData.find(({ name }) => name.startsWith(NAME));
  const path = trace && gd.querySelector(`.trace${trace.uid} path.js-line`);
  if (path) path.setAttribute("d", ghost.lines.map((line) =>
    `M${line.map((point) => placed(gd, ghost, point, guess).join(",")).join("L")}`).join(""));
}

function makeHandle(state) {
  const handle = document.createElement("div");
  handle.className = "lesson-ghost";
  handle.setAttribute("aria-hidden", "true"); // the slider beside the picture is for keys and screen readers
  handle.onpointerdown = (event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    state.dragging = true;
  };
  handle.onpointermove = (event) => {
    if (!state.dragging) return;
    const { gd, ghost } = state, box = gd.getBoundingClientRect(), [left, top] = corner(gd, ghost);
    const [x0, y0] = placed(gd, ghost, ghost.handle, 0), [x1, y1] = placed(gd, ghost, ghost.handle, 1);
    const size = box.width / gd.offsetWidth; // a phone's picture is drawn smaller
    const [x, y] = [(event.clientX - box.left) / size - left - x0, (event.clientY - box.top) / size - top - y0];
    const guess = (x * (x1 - x0) + y * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2);
    const steps = Math.round((Math.min(Math.max(guess, ghost.least), ghost.most) - ghost.least) / ghost.step);
    state.guess = Math.min(ghost.least + steps * ghost.step, ghost.most);
    place(state);
  };
  handle.onpointerup = handle.onpointercancel = () => {
    if (!state.dragging) return;
    state.dragging = false;
    state.send(state.guess);
  };
  return handle;
}

function place(state) {
  const gd = document.querySelector(`.st-key-${CSS.escape(state.chart)} .js-plotly-plot`);
  if (!gd?._fullLayout?.[`xaxis${state.ghost.axes}`]) return;
  state.gd = gd;
  if (state.handle.parentElement !== gd) gd.appendChild(state.handle);
  const [left, top] = corner(gd, state.ghost), [x, y] = placed(gd, state.ghost, state.ghost.handle, state.guess);
  Object.assign(state.handle.style, { left: `${left + x - SIZE / 2}px`, top: `${top + y - SIZE / 2}px` });
  redraw(gd, state.ghost, state.guess);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const state = (parentElement.__ghost ??= { guess: data.guess });
  Object.assign(state, { chart: data.chart, ghost: data.ghost, send: (guess) => setTriggerValue("dragged", guess) });
  if (!state.dragging) state.guess = data.guess;
  state.handle ??= makeHandle(state);
  clearInterval(state.timer);
  state.timer = setInterval(() => place(state), EVERY); // charts are drawn late, and again when the window changes
  place(state);
  return () => {
    clearInterval(state.timer);
    state.handle.remove();
  };
}
