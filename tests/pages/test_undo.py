"""Undo, redo, the list of the last choices, and the way back from a design that was taken over."""

import pytest

from mvgviz.ui.menu import BUDGET, COMPARE, PAPER, SHAPE
from tests.pages.app import adjust, opened, press, to, uploaded
from tests.pages.shown import clean, keyed, link, scenario


def test_every_choice_can_be_undone_and_redone_on_any_page():
    app = opened(data="liver")
    assert app.button(key="w_undo").disabled
    assert app.button(key="w_redo").disabled
    adjust(app, w_epsilon=2.0, w_query="mean")
    press(to(app, SHAPE), "w_undo")
    assert (scenario(app).query != "mean", scenario(app).epsilon) == (True, 2.0)
    assert (scenario(press(app, "w_undo")).epsilon, link(app)) == (1.0, {"data": "liver"})  # the address goes along
    assert app.select_slider(key="w_epsilon").value == 1.0
    press(press(app, "w_redo"), "w_redo")
    assert (scenario(app).query, scenario(app).epsilon, app.button(key="w_redo").disabled) == ("mean", 2.0, True)


def test_one_click_in_the_list_goes_back_to_a_choice():
    app = opened(data="liver")
    for epsilon in (2.0, 3.0):
        adjust(app, w_epsilon=epsilon)
        app.session_state["_history"]._changed = -1e9  # not one move of the slider
    menu = adjust(app, w_priority=[1]).menu_button(key="w_history")
    assert menu.options[1:] == ["2. epsilon 2 → 3", "1. epsilon 1 → 2", "0. start"]
    clean(menu.click(1).run())
    assert scenario(app).epsilon == 2.0


def test_query_and_priority_columns_are_not_behind_all_controls():
    app = opened(data="liver")
    assert not app.toggle(key="w_all").value
    assert app.selectbox(key="w_query").options
    assert app.multiselect(key="w_priority").options


def test_columns_that_are_left_out_move_the_positions_of_what_can_be_undone():
    app = clean(uploaded("a,b,c\n" + "".join(f"{i},{i % 7},{i % 5}\n" for i in range(40))))
    press(adjust(app, w_priority=[2], w_epsilon=2.0, upload_columns=["b", "c"]), "w_undo")
    assert (scenario(app).epsilon, scenario(app).priority_directions) == (1.0, (1,))  # still c


@pytest.mark.parametrize(("page", "tab", "key"), [
    (COMPARE, {"compare_section": "Advisor"}, "compare_load_"),
    (BUDGET, {"budget_tab": "From noise to epsilon"}, "budget_take"), (PAPER, {}, "paper_open")])
def test_back_to_mine_stands_beside_what_a_page_took_over(page, tab, key):
    app = opened(page.path, state=tab, data="liver", query="mean", epsilon="2", trials="2")
    mine = scenario(app)
    assert not keyed(app, "button", "w_mine")
    press(app, next(button.key for button in keyed(app, "button", key) if not button.disabled))
    assert scenario(app) != mine
    assert (scenario(press(app, "w_mine")), scenario(app).from_data) == (mine, mine.from_data)
    assert not keyed(app, "button", "w_mine")
