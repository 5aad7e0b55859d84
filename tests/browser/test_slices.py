"""Long work, seen from the browser: what each slice draws arrives, with its button to stop."""

import time

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

SLICES = 5


def test_every_slice_arrives_whole(address, browser):
    """Streamlit drops what a script drew last where it runs again at once."""
    tab, heard = browser.new_page(), []
    tab.on("websocket", lambda socket: socket.on("framereceived", lambda raw: heard.append(ForwardMsg.FromString(raw))))
    tab.goto(f"{address}/utility?data=liver&trials=100000")
    end = time.monotonic() + 60
    while len(runs := runs_of(heard)) < SLICES:
        assert time.monotonic() < end
        tab.wait_for_timeout(200)
    assert [stops(run) for run in runs] == [1] * len(runs)
    tab.get_by_role("button", name="Stop").click()
    tab.get_by_role("button", name="Go on").first.wait_for()
    tab.close()


def runs_of(heard):
    """What was drawn in each run that led to another one."""
    runs, drawn = [], []
    for message in list(heard):
        kind = message.WhichOneof("type")
        if kind == "new_session":
            drawn = []
        elif kind == "delta":
            drawn.append(message.delta)
        elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            runs.append(drawn)
    return runs


def stops(run):
    return sum(delta.new_element.button.label == "Stop" for delta in run)
