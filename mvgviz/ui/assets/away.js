// While the server does not answer: our words in Streamlit's box. When it is back: the page asks for itself again.

const STATE = "data-test-connection-state", RUNS = "data-test-script-state", RESTS = `[${RUNS}=notRunning]`;
const PATIENCE = 5_000, LOOK = 200;

export default function ({ data, parentElement, setTriggerValue }) {
  const before = window.mvgvizSession;
  window.mvgvizSession = data;
  const app = document.querySelector("[data-testid=stApp]");
  if (before && before.session !== data.session) {
    atRest(app, PATIENCE, () => setTriggerValue("lost", { released: before.released }));
  }
  parentElement.mvgvizWatch?.disconnect();
  let away = false;
  const watch = parentElement.mvgvizWatch = new MutationObserver(() => {
    const gone = app.getAttribute(STATE) !== "CONNECTED";
    if (gone) say(data.words);
    else if (away && !data.released && app.matches(RESTS)) setTriggerValue("back", true);  // else it asks anyway
    away = gone;
    mendMenu();
  });
  mendMenu();
  watch.observe(app, { attributeFilter: [STATE, RUNS] });
  watch.observe(document.body, { childList: true });
  return () => watch.disconnect();
}

// Not while controls of the session before are on the page: their values would be taken for choices.
function atRest(app, patience, act) {
  if (patience > 0 && !app.matches(RESTS)) setTimeout(atRest, LOOK, app, patience - LOOK, act);
  else act();
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

// Streamlit's menu is a list with headings between its items, which a screen reader does not take for one: links, then.
function mendMenu() {
  for (const one of document.querySelectorAll("ul[data-testid=stSidebarNavItems], [data-testid=stSidebarNavItems] li")) {
    one.setAttribute("role", "presentation");
  }
}
