// The page asks for the next slice of work when this one is on the screen: over a slow line no more is sent than arrives.

const RUNS = "data-test-script-state", RESTS = `[${RUNS}=notRunning]`;

export default function ({ data, setTriggerValue }) {
  const app = document.querySelector("[data-testid=stApp]");
  window.mvgvizNext?.disconnect();  // that of the slice before: only the last one learns that it ends
  const watch = window.mvgvizNext = new MutationObserver(ask);
  watch.observe(app, { attributeFilter: [RUNS] });
  ask();
  return () => watch.disconnect();

  function ask() {
    if (!app.matches(RESTS)) return;
    watch.disconnect();
    if (window.mvgvizSlice === data.slice) return;
    window.mvgvizSlice = data.slice;
    setTriggerValue("next", true);
  }
}
