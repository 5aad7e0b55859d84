// Two buttons under a chart. Plotly makes the picture: its own (hidden) camera button is pressed
// with the format set, on the page's background, so that light text stays readable.

function save(key, format) {
  const chart = document.querySelector(`.st-key-${CSS.escape(key)} .js-plotly-plot`);
  const camera = chart?.querySelector(".modebar-btn");
  if (!camera) return;
  const page = getComputedStyle(document.querySelector(".stApp")).backgroundColor;
  const before = chart.layout.paper_bgcolor;
  chart._context.toImageButtonOptions = { format, filename: `mvgviz-${key}`, scale: format === "png" ? 3 : 1 };
  chart._context.displayNotifier = false; // the browser itself tells of the download
  chart.layout.paper_bgcolor = page; // Plotly copies the layout at once
  camera.click();
  chart.layout.paper_bgcolor = before;
}

export default function ({ parentElement, data }) {
  const box = parentElement.querySelector(".save");
  if (box.dataset.key === data.key) return;
  box.dataset.key = data.key;
  box.replaceChildren(...["png", "svg"].map((format) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = format.toUpperCase();
    button.title = `Save this chart as ${format.toUpperCase()}`;
    button.setAttribute("aria-label", button.title);
    button.addEventListener("click", () => save(box.dataset.key, format));
    return button;
  }));
}
