// The study of this tab, kept by the browser until the tab is closed: no data, no noise, no server.

const PLACE = "mvgviz-study";

export default function ({ data, setStateValue }) {
  try {
    if (data.study) {
      sessionStorage.setItem(PLACE, JSON.stringify({ study: data.study, time: new Date().toTimeString().slice(0, 5) }));
    } else {
      const kept = sessionStorage.getItem(PLACE);
      if (kept) setStateValue("kept", kept);
    }
  } catch (error) {
    console.info("mvgviz: this browser keeps nothing for a tab", error.name);
  }
}
