"""The page on which the attacker is played: ten rounds, the same for everyone who follows the link."""

from mvgviz.lesson.game import GUESSES, ROUNDS, game
from mvgviz.ui.menu import ATTACKER
from tests.pages.app import adjust, opened
from tests.pages.shown import assert_says, clean, link, text


def played(app, guesses):
    for guess in guesses:
        app.button(key=f"game_{guess}").click().run()
    return clean(app)


def test_whoever_says_the_truth_hits_ten_of_ten():
    rounds = game(seed=3, shape="circle", epsilon=4).rounds
    app = played(opened(ATTACKER.path, game="3"), [each.truth for each in rounds])
    assert_says(app, ["You: **10 of 10** right", "best attacker is right in **66 of 100** rounds"])
    assert not [one for one in app.button if one.key == "game_least"]


def test_the_best_guess_hits_as_often_as_the_page_says_with_each_shape():
    app = opened(ATTACKER.path, game="5")
    for shape in ("circle", "ellipse", "box"):
        right = game(seed=5, shape=shape, epsilon=4)
        played(app, [each.best for each in right.rounds])
        assert f"You: **{right.best_hits} of 10** right" in text(app)
        assert f"right in **{right.best_hits} of {ROUNDS}** rounds" in text(app)
        app.button(key="game_other").click().run()
    assert link(app) == {"data": "two_features", "game": "5"}


def test_each_round_says_who_it_was():
    first = game(seed=1, shape="circle", epsilon=4).rounds[0]
    app = played(opened(ATTACKER.path), [first.truth])
    assert app.success[0].value.startswith("Right: Ann:")
    wrong = next(guess for guess in GUESSES if guess != first.truth)
    assert played(opened(ATTACKER.path), [wrong]).warning[0].value.startswith("Wrong: Ann:")


def test_the_link_holds_game_shape_and_budget():
    app = clean(opened(ATTACKER.path, game="42", shape="ellipse", budget="1", big="1"))
    assert link(app) == {"data": "two_features", "game": "42", "shape": "ellipse", "budget": "1", "big": "1"}
    assert "55 of 100" in text(app)
    assert link(adjust(app, game_budget="10"))["budget"] == "10"


def test_a_game_that_is_not_there_is_said():
    for parameters in ({"game": "-1"}, {"game": "x"}, {"shape": "square"}, {"budget": "2"}, {"game": "123456"}):
        app = clean(opened(ATTACKER.path, **parameters))
        assert "A part of the link was ignored: games are 0 to 9999" in text(app)
        assert link(app) == {"data": "two_features"}
