// The page asks for the next slice of work when this one is on the screen: over a slow line no more is sent than arrives.

const RUNS = "data-test-script-state", RESTS = `[${RUNS}=notRunning]`;

export default function ({ data, setTriggerValue }) {
  const app = document.querySelector("[data-testid=stApp]");
  const watch = new MutationObserver(ask);
  watch.observe(app, { attributeFilter: [RUNS] });
  ask();
  return () => watch.disconnect();

  function ask() {
    if (window.mvgvizSlice === data.slice || !app.matches(RESTS)) return;
    window.mvgvizSlice = data.slice;
    setTriggerValue("next", true);
  }
}
