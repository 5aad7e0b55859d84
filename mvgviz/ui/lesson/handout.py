"""A page to take along: the seven steps, each with its question, its sentence and, for one, its picture; to print."""

from pathlib import Path

from mvgviz.lesson import steps
from mvgviz.query.queries import REPLACED_RECORD
from mvgviz.text import in_html
from mvgviz.ui.lesson.scenes import SCENES, Scene
from mvgviz.ui.lesson.screen import qr_code
from mvgviz.words.glossary import DELTA_IS
from mvgviz.words.neighbours import neighbour_words


def handout(address: str) -> str:
    """The page as HTML with everything inside it; ``address``: where the lesson is, as a QR code too."""
    items = "".join(map(_item, SCENES))
    code = (f'<div class="code"><img alt="" src="{qr_code(address)}"><small>{in_html(address)}</small></div>'
            if address else "")
    style = Path(__file__).with_name("handout.css").read_text(encoding="utf-8")
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>How can noise have a direction?</title>'
            f"<style>{style}</style></head><body><header><div><h1>How can noise have a direction?</h1><p>Seven steps "
            f"on privacy and noise. A made-up class of {steps.PUPILS} pupils publishes averages; no pupil may be found "
            f"out. ε says how much may be learned about any one of them, δ (one in a million) is {DELTA_IS}. "
            f"{neighbour_words(REPLACED_RECORD, 'pupil')}</p></div>"
            f"{_shapes()}{code}</header><ol>{items}</ol></body></html>")


def _item(scene: Scene) -> str:
    question = scene.question(scene.step.start)
    return (f"<li><h2>{in_html(scene.title)}</h2><p>{in_html(question)} <span class=\"line\"></span></p>"
            f"<p class=\"takeaway\">{in_html(scene.takeaway)}</p></li>")


def _shapes() -> str:
    """Circle and ellipse of the same privacy around the box of what one pupil can change, at the scale of privacy."""
    wide, high = steps.against_circle(steps.ellipse(steps.FAVOURED_SHARE))
    radius = 2**0.5  # the corners of the box, 1 × 1, lie on every private outline
    return (f'<svg viewBox="-2.6 -2.6 5.2 5.2" width="150" height="150" role="img" aria-label="A circle and an ellipse '
            f'through the corners of the same box: all that one pupil can change">'
            f'<rect x="-1" y="-1" width="2" height="2" fill="#bbb"/><circle r="{radius:.4f}" class="circle"/>'
            f'<ellipse rx="{radius * wide:.4f}" ry="{radius * high:.4f}" class="ellipse"/></svg>')
