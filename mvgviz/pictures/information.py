"""What information says: one number for use and privacy, which noise lets least through, and how normal sums are."""

import math

import numpy as np
import plotly.graph_objects as go

from mvgviz.noise.accounting import gaussian_mu
from mvgviz.noise.families import FAMILIES
from mvgviz.noise.families.base import NUMBERS
from mvgviz.noise.information import LEAST_RATIO, QUERIES, bits_through, count_bits, lacking_bits
from mvgviz.noise.information import simulated_answers as answers_of
from mvgviz.pictures import theme
from mvgviz.pictures.theme import DATA, DIRECTIONAL, FAMILY_COLOURS, THEOREM1, THEOREM2, WEAK, Picture
from mvgviz.text import as_factor, as_number

PEOPLE = 100
RECORDS = (5, 15, 50, 150, 500, 1_500, 5_000)
SAME = {"covariance": "Same size (covariance)", "promise": "Same promise (ε, δ)"}
_STDS, _SIGNALS = np.geomspace(0.5, 50, 31), np.geomspace(0.3, 10, 15)
_COLOURS = dict(zip(QUERIES, (DIRECTIONAL, THEOREM2, THEOREM1), strict=True))


def one_number_picture(epsilon: float, delta: float) -> Picture:
    """What a count with Gaussian noise tells about the answer, the table and one person, over the noise."""
    figure, own = go.Figure(), 1 / float(gaussian_mu(epsilon, delta))

    def about(std: float) -> tuple[float, float, float]:
        whole = count_bits(PEOPLE, std)
        return whole, count_bits(1, std), whole - count_bits(PEOPLE - 1, std)

    answer, known, unknown = np.array([about(std) for std in _STDS]).T
    for name, bits, colour, width, dash in (
            ("the answer", answer, WEAK, 8, None), ("the whole table", answer, DIRECTIONAL, 2.5, None),
            ("one person, all others known", known, THEOREM2, 2.5, None),
            ("one person, others unknown", unknown, THEOREM2, 2.5, "dot")):
        theme.add_line(figure, _STDS, bits, name, colour, width, dash,
                       hover="noise %{x:.3g} people: %{y:.3g} bits<extra>about " + name + "</extra>")
    if _STDS[0] <= own <= _STDS[-1]:
        figure.add_shape(theme.upright(own, DATA, "dot", width=2))
    figure.update_xaxes(title="noise (standard deviation, people)", **theme.log_axis(0.5, 50, room=0.02))
    figure.update_yaxes(title="information (bits, on average)",
                        **theme.log_axis(float(unknown.min()), float(answer.max()), room=0.05))
    whole, one, _ = about(own)
    return Picture(theme.styled(figure, height=400), (
        f"**Use and leakage are one number: {as_number(whole, 2)} bits at this ε and δ.** The release tells as much "
        f"about the whole table as about the answer. About one person: {as_number(one, 2)} bits, if all others are "
        "known."), f"""\
How many of {PEOPLE} people say yes, each with chance one half, with Gaussian noise. Dotted: the noise that (ε, δ) of
this scenario asks for. A promise bounds one person's risk in the worst case, not on average. One bit answers one fair
yes-or-no question.""")


def noises_picture(same: str, epsilon: float, delta: float) -> Picture:
    """What four families of noise let through against Gaussian noise, at the same covariance or the same promise."""
    stds = {name: family.std(NUMBERS, epsilon, delta) if same == "promise" else 1.0
            for name, family in FAMILIES.items()}
    figure, drawn, tops = go.Figure(), [], {}
    for name, family in FAMILIES.items():
        ratios = (_SIGNALS * stds["gaussian"] / stds[name]) ** 2
        heights = [bits_through(name, ratio) / bits_through("gaussian", signal**2) if ratio >= LEAST_RATIO
                   else math.nan for ratio, signal in zip(ratios, _SIGNALS, strict=True)]
        theme.add_line(figure, _SIGNALS, heights, family.title, FAMILY_COLOURS[name], 2.5,
                       hover="%{y:.3g} × Gaussian noise<extra>" + family.title + "</extra>")
        known = list(filter(math.isfinite, heights))
        drawn += known
        tops[name] = max(known, default=0.0)
    figure.update_xaxes(title="answer / Gaussian noise (standard deviations)", **theme.log_axis(0.3, 10, room=0.02))
    figure.update_yaxes(title="information let through<br>(× Gaussian noise)",
                        **theme.log_axis(min(drawn), max(drawn), room=0.05, least=0.02))
    best = max(tops, key=lambda name: tops[name])
    gain = f": up to {as_factor(tops[best])} what Gaussian noise does." if tops[best] > 1 else "."
    words = ("**At the same size, Gaussian noise lets the least through.** "
             f"Box noise lets up to {as_factor(tops['box'])} as much through." if same == "covariance" else
             f"**At the same promise, {FAMILIES[best].word} noise lets the most through**{gain}")
    return Picture(theme.styled(figure, height=360), words, f"""\
An answer of {NUMBERS} independent normal numbers, released with noise of each family. What gets through serves you and
an attacker alike. At the same promise noise differs in size, too. One record moves each number by at most 1.""")


def sums_picture(records: int) -> Picture:
    """The answers on simulated tables of one size, in standard deviations, against the normal curve."""
    figure, lacks, edges = go.Figure(), [], np.linspace(-4, 4, 41)
    middles = (edges[1:] + edges[:-1]) / 2
    for name, answers in zip(QUERIES, answers_of(records), strict=True):
        heights = np.histogram((answers - answers.mean()) / answers.std(), edges)[0] / answers.size / 0.2
        theme.add_line(figure, middles, heights, name, _COLOURS[name], 2)
        bits, error = lacking_bits(answers)
        lacks.append(f"{name} {bits:.2f} ± {error:.2f}".replace("-0.00", "0.00"))
    theme.add_line(figure, middles, np.exp(-middles**2 / 2) / math.sqrt(2 * math.pi), "normal", DATA, 2.5, "dash",
                   hover=None)
    figure.update_xaxes(title="answer (standard deviations from its mean)", range=[-4, 4])
    figure.update_yaxes(title="density", range=[0, 1.1])
    return Picture(theme.styled(figure, height=340), (
        f"**Entropy that answers lack with {records:,} records a table, in bits:** {', '.join(lacks)}."), """\
Each curve: the answers on 4,000 simulated tables of skewed values. A normal answer has the most entropy. ±: twice the
standard error.""")


def lacking_picture() -> Picture:
    """The entropy that answers lack against the normal, by the number of records."""
    figure = go.Figure()
    found = np.array([[lacking_bits(answers) for answers in answers_of(records)] for records in RECORDS])
    for name, (bits, error) in zip(QUERIES, found.transpose(1, 2, 0), strict=True):
        known = bits > error
        theme.add_curve(figure, RECORDS, np.where(known, bits, np.maximum(bits, 0) + error), name, _COLOURS[name], 2,
                        np.where(known, "circle", "triangle-down-open").tolist(), size=10,
                        hover="%{x} records: %{y:.3f} bits<extra>" + name + "</extra>")
    figure.update_xaxes(title="records in a table", **theme.log_axis(5, 5_000, room=0.05))
    figure.update_yaxes(title="entropy it lacks (bits)", **theme.log_axis(0.005, 3, room=0.05))
    return Picture(theme.styled(figure, height=340), (
        "**Sums become normal within some fifty records; a kernel's entries never do.** They are no sums."), """\
Of all answers with one covariance, a normal one lets most through. Another loses at most the bits that its entropy
lacks. Open triangles: upper bounds, too small to tell from 0.""")


def counter_picture() -> Picture:
    """One yes or no, which is not normal: what Laplace noise lets through against Gaussian noise of the same size."""
    figure, stds = go.Figure(), np.geomspace(0.1, 3, 41)
    bits = np.array([[count_bits(1, std, laplace=laplace) for std in stds] for laplace in (False, True)])
    for name, ratio in zip(("gaussian", "laplace"), bits / bits[0], strict=True):
        theme.add_line(figure, stds, ratio, FAMILIES[name].title, FAMILY_COLOURS[name], 2.5,
                       hover="noise %{x:.2g}: %{y:.3g} × Gaussian noise")
    least = int(np.argmin(bits[1] / bits[0]))
    figure.update_xaxes(title="noise (standard deviation; yes is 1, no is 0)", **theme.log_axis(0.1, 3, room=0.02))
    figure.update_yaxes(title="information let through<br>(× Gaussian noise)")
    return Picture(theme.styled(figure, height=340), (
        f"**For one yes or no, small Laplace noise lets less through**: {bits[1, least]:.3f} bits with noise "
        f"{stds[least]:.2f}, Gaussian noise {bits[0, least]:.3f}."), """\
The paper says that Gaussian noise leaks least for any dataset. One answer that is not normal refutes it: yes or no,
with equal chance.""")


_NEEDS = (
    ("Maximising PNR maximises information", "A normal answer, as the paper says.",
     "½ log PNR is only an upper bound. Another split may let more through."),
    ("The best query is a sum over records",
     "The same covariance and noise for all queries. Then every normal answer is best, sum or not.",
     "A query with larger values lets more through, and needs more noise."),
    ("Gaussian noise leaks least, for any dataset", "A normal answer.",
     "Laplace noise may leak less, as in the picture."),
    ("The central limit makes a sum normal",
     "Many independent records, none of which dominates, and values that have a density.",
     "A count has no density, so its entropy is −∞. Its information is finite."))


def needs_rows() -> dict[str, tuple[str, ...]]:
    """Return what the proofs need beside what the paper says, and what happens without."""
    return dict(zip(("The paper's claim", "It also needs", "Without it"), zip(*_NEEDS, strict=True), strict=True))
