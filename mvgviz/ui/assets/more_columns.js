// One needed column among more and more: a bar a column, as high as its noise. All numbers come from Python.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".columns");
  const slider = root.querySelector("input");
  const { gains, epsilon } = data;
  const top = Math.max(...gains.map((gain) => gain.other)), most = gains.at(-1);
  if (!root.__drawn) {
    slider.min = gains[0].columns;
    slider.max = most.columns;
    slider.value = data.start;
    root.__drawn = true;
  }
  root.querySelector("small").textContent = data.about;
  const bars = root.querySelector(".bars");
  bars.style.setProperty("--one", `${100 / top}%`);
  bars.replaceChildren(...Array.from({ length: most.columns }, (_, k) => {
    const bar = document.createElement("i");
    bar.className = k ? "rest" : "needed";
    return bar;
  }), Object.assign(document.createElement("b"), { textContent: "equal noise" }));
  const show = () => {
    const gain = gains[slider.value - gains[0].columns];
    [...bars.querySelectorAll("i")].forEach((bar, k) => {
      const height = k >= gain.columns ? 0 : k ? gain.other : gain.priority;
      bar.style.height = `${(100 * height) / top}%`;
      bar.classList.toggle("away", k >= gain.columns);
    });
    bars.querySelector(".needed").dataset.noise = `${gain.short}×`;
    bars.setAttribute("aria-label", gain.words);
    slider.setAttribute("aria-valuetext", `${gain.columns} columns`);
    root.querySelector("label span").textContent = `${gain.columns} columns, one with priority`;
    for (const [name, spent, text] of [["own", epsilon, `ε = ${epsilon} with directional noise`],
      ["equal", gain.epsilon, `ε = ${gain.spent} with equal noise, as precise on priority columns`]]) {
      const bar = root.querySelector(`.${name}`);
      bar.style.setProperty("--spent", `${(100 * spent) / most.epsilon}%`);
      bar.textContent = text;
    }
    root.querySelector("p").textContent = gain.words;
  };
  slider.oninput = show;
  show();
}
