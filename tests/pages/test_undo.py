"""Undo, redo, the list of the last choices, and the way back from a design that was taken over."""

from mvgviz.ui.menu import BUDGET, COMPARE, PAPER, SHAPE
from tests.pages.app import opened, press, to, uploaded
from tests.pages.shown import clean, link, scenario


def test_every_choice_can_be_undone_and_redone_on_any_page():
    app = opened(data="liver")
    assert app.button(key="w_undo").disabled
    assert app.button(key="w_redo").disabled
    app.select_slider(key="w_epsilon").set_value(2.0).run()
    app.selectbox(key="w_query").set_value("mean").run()
    press(to(app, SHAPE), "w_undo")
    assert (scenario(app).query != "mean", scenario(app).epsilon) == (True, 2.0)
    press(app, "w_undo")
    assert (scenario(app).epsilon, link(app)) == (1.0, {"data": "liver"})  # the address goes along
    assert app.select_slider(key="w_epsilon").value == 1.0
    press(press(app, "w_redo"), "w_redo")
    assert (scenario(app).query, scenario(app).epsilon, app.button(key="w_redo").disabled) == ("mean", 2.0, True)


def test_one_click_in_the_list_goes_back_to_a_choice():
    app = opened(data="liver")
    for epsilon in (2.0, 3.0):
        app.select_slider(key="w_epsilon").set_value(epsilon).run()
        app.session_state["_history"]._changed = -1e9  # not one move of the slider
    app.multiselect(key="w_priority").set_value([1]).run()
    menu = app.menu_button(key="w_history")
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
    app.multiselect(key="w_priority").set_value([2]).run()
    app.select_slider(key="w_epsilon").set_value(2.0).run()
    app.multiselect(key="upload_columns").set_value(["b", "c"]).run()
    press(clean(app), "w_undo")
    assert (scenario(app).epsilon, scenario(app).priority_directions) == (1.0, (1,))  # still c


def test_back_to_mine_stands_beside_a_design_of_the_advisor():
    app = opened(COMPARE.path, state={"compare_section": "Advisor"}, data="liver", query="mean", epsilon="2")
    mine = scenario(app)
    assert not any(button.key == "w_mine" for button in app.button)
    load = next(button for button in app.button if str(button.key).startswith("compare_load_") and not button.disabled)
    press(app, load.key)
    assert scenario(app) != mine
    press(app, "w_mine")
    assert (scenario(app), scenario(app).from_data) == (mine, mine.from_data)
    assert not any(button.key == "w_mine" for button in app.button)


def test_back_to_mine_stands_beside_what_the_budget_page_took_over():
    app = opened(BUDGET.path, state={"budget_tab": "From noise to epsilon"}, data="liver", query="mean")
    mine = scenario(app)
    press(press(app, "budget_take"), "w_mine")
    assert scenario(app) == mine


def test_back_to_mine_stands_beside_an_experiment_of_the_paper(monkeypatch):
    monkeypatch.setattr("mvgviz.paper.runs.TRIALS", 2)
    app = opened(PAPER.path, data="karate")
    mine = scenario(app)
    press(press(app, "paper_open"), "w_mine")
    assert scenario(app) == mine
