"""The load generator (benchmarks/load.py) sends what a browser sends, and takes a fragment's reply for one."""

import asyncio

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.load import Session
from tests.calls import awaited

FULL, FRAGMENT = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


def finished(how):
    return ForwardMsg(script_finished=how)


def drawn():
    """A slider in a fragment, a box beside it, and the box again as the hash that a server sends the next time."""
    slider, box, again = ForwardMsg(), ForwardMsg(hash="of the box"), ForwardMsg(ref_hash="of the box")
    slider.delta.fragment_id = "main"
    control = slider.delta.new_element.slider
    control.id, control.min, control.max, control.step = "share", 1, 99, 1
    control.default.append(50)
    box.metadata.cacheable = True
    box.delta.new_element.checkbox.id, box.delta.new_element.checkbox.default = "box", True
    return slider, box, again


class Server:
    """Answers every run with the next of these lists of messages."""

    def __init__(self, *answers):
        self.answers, self.sent, self.waiting = iter(answers), [], asyncio.Queue()

    async def send(self, raw):
        message = BackMsg()
        message.ParseFromString(raw)
        self.sent.append(message.rerun_script)
        for answer in next(self.answers):
            self.waiting.put_nowait(answer.SerializeToString())

    async def __aiter__(self):
        while True:
            yield await self.waiting.get()


def test_a_move_in_a_fragment_is_sent_with_every_control_and_its_reply_ends_the_wait():
    async def visit(first):
        slider, box, again = drawn()
        server = Server([slider, box, finished(FULL)], [slider, again, finished(FRAGMENT)], [finished(FRAGMENT)])
        one = Session(socket=server, page="", query="", moves=iter(range(first, 99)))
        listening = asyncio.create_task(one.listen())
        for move in (False, True, True):
            await asyncio.wait_for(one.run(move=move), 5)
        listening.cancel()
        return server.sent

    def places(first):
        opening, *moves = awaited(visit(first))
        assert not opening.widget_states.widgets
        assert [move.fragment_id for move in moves] == ["main", "main"]
        states = [{state.id: state for state in move.widget_states.widgets} for move in moves]
        assert all(each["box"].bool_value for each in states)
        return [each["share"].double_array_value.data[0] for each in states]

    here, there = places(0), places(1)
    assert here[0] not in (here[1], there[0])
