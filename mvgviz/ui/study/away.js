// While the server does not answer: our words in Streamlit's box. When it is back: the page asks for itself again.

const STATE = "data-test-connection-state";

export default function ({ data, parentElement, setTriggerValue }) {
  const before = window.mvgvizSession;
  window.mvgvizSession = data;
  if (before && before.session !== data.session) setTriggerValue("lost", { released: before.released });

  parentElement.mvgvizWatch?.disconnect();
  const app = document.querySelector("[data-testid=stApp]");
  let away = false;
  const watch = parentElement.mvgvizWatch = new MutationObserver(() => {
    const gone = app.getAttribute(STATE) !== "CONNECTED";
    if (gone) say(data.words);
    else if (away && !data.released) setTriggerValue("back", true);
    away = gone;
  });
  watch.observe(app, { attributeFilter: [STATE] });
  watch.observe(document.body, { childList: true });
  return () => watch.disconnect();
}

function say(words) {
  const box = document.querySelector("body > [data-testid=stDialog] [role=dialog]");
  if (!box || box.querySelector(".mvgviz-away")) return;
  const said = document.createElement("p");
  said.className = "mvgviz-away";
  said.setAttribute("role", "alert");
  said.textContent = words;
  box.append(said);
}
