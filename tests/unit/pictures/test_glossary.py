"""The glossary: every plain word of the texts has its entry, and only what a text uses is listed under it."""

import ast
import re
from pathlib import Path

import pytest

import mvgviz
from mvgviz.pictures.report import assumption_sentences
from mvgviz.pictures.scenes import note_of
from mvgviz.pictures.sentences import DELTA_IS, WORDS, Word, others_words, words_in
from mvgviz.report.lesson import handout_html
from tests.datasets import setup_of

ROOT = Path(mvgviz.__file__).parent
PLAIN = ("equal noise", "typical error", "promised limit", "paper's best split", "information that survives",
         "chosen without looking at the data", "share", "false alarms", "priority columns", "no-data baseline",
         "no privacy", "simulated data", "clip")
OLD = ("i.i.d. noise", "noise of one size", "trivial answer", "least asked for", "taken as public")


def _texts():
    """Every string of pictures, labels and pages that is no docstring."""
    rooms = (ROOT / "pictures", ROOT / "report", ROOT / "ui", ROOT.parent / "pages")
    for path in [ROOT / "labels.py", ROOT / "provenance.py", *(file for room in rooms for file in room.rglob("*.py"))]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        yield from (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
                    and isinstance(node.value, str) and id(node) not in docstrings)
    yield from (file.read_text(encoding="utf-8") for file in (ROOT / "ui").rglob("*.js"))
    yield (ROOT / "report" / "templates" / "report.html").read_text(encoding="utf-8")


TEXTS = tuple(_texts())


@pytest.mark.parametrize("term", PLAIN)
def test_a_plain_word_is_used_and_explained(term):
    assert any(term in text.lower() for text in TEXTS)
    assert term in {word.term for word in WORDS}


@pytest.mark.parametrize("old", OLD)
def test_an_old_word_is_in_no_text(old):
    assert [text for text in TEXTS if old in text.lower()] == []
    assert not any(old in word.sentence.lower() for word in WORDS)
    assert [path.name for path in (ROOT.parent / "docs").glob("*.md") if old in path.read_text("utf-8").lower()] == []


def test_a_text_gets_the_words_it_uses_and_no_others():
    said = [word.term for word in words_in("**Equal noise** is better here; the ε spent is 1.")]
    assert said == ["equal noise", "epsilon (ε)"]
    assert words_in("Unequal noises; a shared epsilons") == []


def test_an_entry_says_the_plain_thing_first():
    assert Word(term="a", plain="B.", behind="c").sentence == "**a:** B. (In the literature: c.)"
    assert Word(term="a", plain="B.").sentence == "**a:** B."
    for word in WORDS:
        assert word.plain[0].isupper()
        assert word.plain.endswith(".")
    assert len({word.term for word in WORDS}) == len(WORDS)


def test_what_delta_is_is_said_once_in_the_code_and_everywhere_it_matters():
    assert not any("beyond what ε allows" in text for text in TEXTS)  # the glossary has it
    wrong = re.compile(r"probability of failure|loss may exceed|but for (the probability )?δ", re.IGNORECASE)
    assert [text for text in TEXTS if wrong.search(text)] == []
    assert not any(wrong.search(word.sentence) for word in WORDS)
    told = [handout_html(), note_of(2).mistakes[3][1], " ".join(assumption_sentences(setup_of("liver")))]
    assert all(DELTA_IS in said for said in told)


def test_every_use_of_others_says_whom_it_protects_and_where_that_is_written():
    lines = others_words().splitlines()
    source = r"arXiv:\d{4}\.\d{5}|\w+\.(wikimedia\.org|gov, \d+ \w+ \d{4})"
    assert all(re.fullmatch(rf"\* ε = [\d.]+: .+ \(one .+; ({source})\)", line) for line in lines), lines
    epsilons = [float(line.split()[3].rstrip(":")) for line in lines]
    assert epsilons == sorted(epsilons)
    assert len(epsilons) >= 4
