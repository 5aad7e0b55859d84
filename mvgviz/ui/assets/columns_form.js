// The form of columns: inputs are drawn once and never touched by a later run, so that nothing typed is lost. A new
// round draws them again; what was typed and not yet taken by the server is put back. A link waits until the server has
// what was typed: a busy one drops what the page before sent last.

const REST = 400;  // milliseconds without a key before the rows are sent
const PATIENCE = 20000;  // milliseconds that a link waits at most
const FIELDS = ["kind", "low", "high", "levels", "unit"];

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".form");
  const state = (root.__form ??= { rows: new Map(), seq: Date.now(), typed: 0, round: null, timer: null });
  const values = (row) => Object.fromEntries(FIELDS.map((field) => [field, row[field].value]));
  const send = () => {
    if (!state.timer) return;
    clearTimeout(state.timer);
    state.timer = null;
    const rows = [...state.rows].map(([name, row]) => ({ name, ...values(row), typed: [...row.typed] }));
    setStateValue("rows", { seq: state.seq, rows });
  };
  const later = () => {
    state.typed = state.seq += 1;
    clearTimeout(state.timer);
    state.timer = setTimeout(send, REST);
  };
  Object.assign(state, { seen: data.seen, send });
  state.leave ??= (event) => {
    if (!root.isConnected) return document.removeEventListener("click", state.leave, true);
    const link = event.target.closest("a[href]");
    if (!link || link.target === "_blank" || state.typed <= state.seen) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    state.link = link;  // of two clicks the second
    state.send();
    state.late ??= Date.now() + PATIENCE;
    state.waits ??= setInterval(() => {  // not while the form is drawn; a form that is drawn again has an answer, too
      if (root.isConnected && state.typed > state.seen && Date.now() < state.late) return;
      clearInterval(state.waits);
      Object.assign(state, { waits: null, late: null, seen: state.typed });
      if (state.link.isConnected) state.link.click();
    }, 50);
  };
  document.addEventListener("click", state.leave, true);
  const make = (tag, part, more = {}) => Object.assign(document.createElement(tag), { className: part, ...more });
  const shape = (row) => {
    row.line.dataset.kind = row.kind.value;
    row.levels.readOnly = row.kind.value === "true/false";
  };

  const paste = (event, at, field) => {
    const cells = event.clipboardData.getData("text").trim().split(/\r?\n/).map((line) => line.split("\t"));
    if (cells.length < 2 && cells[0].length < 2) return;
    event.preventDefault();
    const names = [...state.rows.keys()];
    cells.forEach((line, k) => line.slice(0, field === "low" ? 2 : 1).forEach((text, j) => {
      const row = state.rows.get(names[at + k]);
      if (!row) return;
      const part = j ? "high" : field;
      row[part].value = text.trim();
      row.typed.add(part);
    }));
    later();
  };

  if (state.round !== data.round) {
    const typed = state.typed > data.seen
      ? new Map([...state.rows].map(([name, row]) => [name, { values: values(row), parts: row.typed }])) : new Map();
    state.round = data.round;
    state.rows.clear();
    const lines = data.rows.map((given, at) => {
      const line = make("div", "row", { role: "row" });
      const before = typed.get(given.name) ?? { values: {}, parts: [] };
      const row = { line, typed: new Set(before.parts) };
      const field = (part, label, more) => {
        row[part] = make("input", part, { type: "text", value: given[part], autocomplete: "off", ...more });
        row[part].setAttribute("aria-label", `${label} of ${given.name}`);
        const noted = () => { row.typed.add(part); later(); };
        row[part].addEventListener("input", noted);
        row[part].addEventListener("change", noted);
        return row[part];
      };
      row.kind = make("select", "kind", { disabled: given.kinds.length < 2 });
      row.kind.setAttribute("aria-label", `Kind of ${given.name}`);
      row.kind.append(...given.kinds.map((kind) => make("option", "", { value: kind, textContent: kind })));
      row.kind.value = given.kind;
      row.kind.addEventListener("change", () => { shape(row); later(); });
      row.use = make("button", "use", { type: "button", textContent: "Use", title: "Use the proposal: not private" });
      row.use.addEventListener("click", () => { send(); setTriggerValue("accept", given.name); });
      row.note = make("div", "note");
      line.append(make("div", "name", { textContent: given.name, title: given.name }), row.kind,
        field("low", "Lowest value", { inputMode: "decimal" }), field("high", "Highest value", { inputMode: "decimal" }),
        field("levels", "Levels"), field("unit", "Unit", { placeholder: "unit", maxLength: 40 }), row.use, row.note);
      for (const part of ["low", "high"]) row[part].addEventListener("paste", (event) => paste(event, at, part));
      for (const [part, text] of Object.entries(before.values)) row[part].value = text;
      state.rows.set(given.name, row);
      shape(row);
      return line;
    });
    const head = make("div", "row head", { role: "row" });
    head.append(...["column", "kind", "lowest (or levels)", "highest", "unit"].map((textContent) =>
      make("span", "", { role: "columnheader", textContent })));
    root.replaceChildren(head, ...lines);
    root.onfocusout = (event) => { if (!root.contains(event.relatedTarget)) send(); };
  }
  for (const given of data.rows) {  // what the person does not type follows every run
    const row = state.rows.get(given.name);
    if (!row) continue;
    row.low.placeholder = given.hints[0] || "lowest";
    row.high.placeholder = given.hints[1] || "highest";
    row.levels.placeholder = given.levelsHint || "levels, between commas";
    row.note.textContent = given.note;
    row.use.style.visibility = given.proposed ? "visible" : "hidden";
  }
}
