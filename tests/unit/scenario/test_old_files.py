"""Links and files that version 1 wrote open as what they were, and are written so again but for new fields."""

import json

import pytest

from mvgviz import DataSource, Origin, QuestionPlan, Range, Scenario, Study

TURNED = ("data=liver query=moments scale=unit label=none epsilon=0.25 delta=1e-07 neighbours=add-remove "
          "directions=rotation angle=-12.5 plane=2-4 favoured=1-3 share=0.375 bound=own radius=2.5 needed=1-3 "
          "importance=3-1 judged=rest task=first-component post=clip-psd trials=250 seed=7 "
          "from_data=favoured-share-needed")
OWN = ("data=upload-0123456789ab query=kernel length=0.5 guarantee=theorem2 tail=exact-chi mode=both "
       "directions=private private_share=0.125 allocation=manual weights=3-1-2 form=unrelaxed post=none")
LINKS = {
    TURNED: Scenario(
        data="liver", query="moments", scale="unit", label=None, epsilon=0.25, delta=1e-7, neighbours="add-remove",
        directions="rotation", angle=-12.5, plane=(2, 4), priority_directions=(1, 3), share=0.375, bound="own",
        radius=2.5,
        priority=(1, 3), importance=(3, 1), judged="other", task="first-component", post=("clip", "psd"), trials=250,
        seed=7, from_data=("priority_directions", "share", "priority")),
    OWN: Scenario(
        data="upload-0123456789ab", query="kernel", length=0.5, guarantee="theorem2", tail="exact-chi", mode="both",
        directions="private", private_share=0.125, allocation="manual", weights=(3, 1, 2),
        priority_directions=(), form="unrelaxed", post=()),
}
SCENARIO = """{"mvgviz": 1, "scenario": {"data": "upload-0123456789ab", "query": "kernel", "scale": "symmetric",
"length": 0.5, "label": null, "epsilon": 1.0, "delta": null, "guarantee": "theorem2", "tail": "exact-chi",
"mode": "both", "neighbours": "replace", "directions": "private", "angle": 30.0, "plane": [0, 1],
"private_share": 0.125, "allocation": "manual", "favoured": [], "share": 0.8, "weights": [3, 1, 2],
"form": "unrelaxed", "bound": "none", "radius": 1.0, "needed": [], "importance": [], "judged": "needed",
"task": "reconstruction", "post": [], "trials": 100, "seed": 0, "from_data": []}}"""
EXACT = SCENARIO.replace("theorem2", "exact")
PLAN = ('{"mvgviz_plan": 1, "shares_read": false, "questions": [{"parts": 7000, ' + EXACT[1:]
        + ', {"parts": 3000, ' + EXACT[1:].replace("kernel", "mean") + "]}")
DATA = """{"name": "Köln; 2024.csv", "columns": ["age", "dose"], "ranges": {"age": [0.0, 120.0],
"dose": [0.5, 7.0, "read from the data"], "when": ["2024-01-01", "2024-12-31"]}, "missing": "middle",
"separator": ";", "decimal": ",", "header": true, "member": "a", "levels": {"sex": ["f", "m"]}, "person": "id",
"at_most": 2, "directions": "w.csv", "directions_origin": "declared"}"""
STUDY = (f'{{"mvgviz_study": 1, "made_with": "0.1.0", "data": {DATA}, "scenario": {SCENARIO}, "plan": {PLAN}, '
         '"population": "patients of 2024", "notes": "a\\nε"}')


def renamed(text):
    """What earlier versions wrote, with the names of fields and choices of now."""
    for former, now in {"needed": "priority", "favoured": "priority_directions", "judged=rest": "judged=other"}.items():
        text = text.replace(former, now)
    return text


def written(saved):
    """The file, without what came later."""
    later = {"group", "category", "family"}
    return json.loads(saved.to_json(), object_hook=lambda part: {k: v for k, v in part.items() if k not in later})


@pytest.mark.parametrize("link", LINKS, ids=["turned", "own"])
def test_a_link_opens_as_what_it_was(link):
    parameters = dict(pair.split("=") for pair in link.split())
    scenario = Scenario.from_query(parameters)
    assert repr(scenario) == repr(LINKS[link])
    assert list(scenario.to_query().items()) == [tuple(pair.split("=")) for pair in renamed(link).split()]


def test_a_scenario_opens_as_what_it_was():
    assert Scenario.from_json(SCENARIO) == LINKS[OWN]
    assert written(LINKS[OWN]) == json.loads(renamed(SCENARIO))


def test_a_study_opens_as_what_it_was():
    exact = LINKS[OWN].changed(guarantee="exact")
    study = Study(
        scenario=LINKS[OWN], population="patients of 2024", notes="a\nε",
        plan=QuestionPlan(scenarios=(exact, exact.changed(query="mean")), parts=(7000, 3000)),
        source=DataSource(
            name="Köln; 2024.csv", columns=("age", "dose"), missing="middle", separator=";", decimal=",", header=True,
            ranges={"age": Range(0, 120), "dose": Range(0.5, 7, Origin.READ), "when": ("2024-01-01", "2024-12-31")},
            member="a", levels={"sex": ("f", "m")}, person="id", at_most=2, directions="w.csv",
            directions_origin=Origin.DECLARED))
    assert Study.from_json(STUDY) == study
    assert written(study) == json.loads(renamed(STUDY))
    assert QuestionPlan.from_json(PLAN) == study.plan
