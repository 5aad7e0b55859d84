// Two buttons under a chart, which save it on the page's background, so that light text stays
// readable. Plotly makes the picture of its charts: its own (hidden) camera button is pressed with
// the format set. A drawing of ours is copied with the styles it has on the page.

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity",
  "font-family", "font-size", "font-weight"];

function save(key, format) {
  const host = document.querySelector(`.st-key-${CSS.escape(key)}`);
  const page = getComputedStyle(document.querySelector(".stApp")).backgroundColor;
  const chart = host?.querySelector(".js-plotly-plot");
  const drawing = chart ? null : find(host);
  if (drawing) return saveDrawing(drawing, page, `mvgviz-${key}.${format}`, format);
  const camera = chart?.querySelector(".modebar-btn");
  if (!camera) return;
  const before = chart.layout.paper_bgcolor;
  chart._context.toImageButtonOptions = { format, filename: `mvgviz-${key}`, scale: format === "png" ? 3 : 1 };
  chart._context.displayNotifier = false; // the browser itself tells of the download
  chart.layout.paper_bgcolor = page; // Plotly copies the layout at once
  camera.click();
  chart.layout.paper_bgcolor = before;
}

function find(host) {
  const places = [host, ...host.querySelectorAll("*")].map((one) => one.shadowRoot ?? one);
  return places.map((one) => one.querySelector("svg[role=img]")).find(Boolean);
}

function saveDrawing(drawing, page, name, format) {
  const copy = drawing.cloneNode(true);
  const { width, height } = drawing.viewBox.baseVal;
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((one, k) => {
    const look = getComputedStyle(originals[k]);
    STYLES.forEach((property) => one.style.setProperty(property, look.getPropertyValue(property)));
  });
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.style.background = page;
  const text = new XMLSerializer().serializeToString(copy);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  if (format === "svg") return download(address, name);
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [3 * width, 3 * height];
    const pen = canvas.getContext("2d");
    pen.fillStyle = page;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(URL.createObjectURL(blob), name));
    URL.revokeObjectURL(address);
  };
  image.src = address;
}

function download(address, name) {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function saveOnClick(event) {
  const button = event.target.closest?.(".save button");
  if (button) save(button.dataset.chart, button.dataset.format);
}

document.addEventListener("click", saveOnClick);
