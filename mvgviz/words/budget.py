"""Sentences of the page Precision budget, computed from its numbers."""

from mvgviz.design.allocation import FLOOR, WaterFilling
from mvgviz.design.most_information import is_proved
from mvgviz.figures.budget.noise import NoiseFactors, SignalNumbers
from mvgviz.figures.budget.splits import PnrNumbers, WaterNumbers, percent
from mvgviz.labels import GUARANTEES, SPLITS
from mvgviz.provenance import Origin, weakest
from mvgviz.query.bounded_neighbours import BoundedColumn, BoundedOuterProduct
from mvgviz.scenario.precision_budget import BudgetTable, WantedNoise
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_factor, as_number, at_most, capitalised, delta_words, in_html, in_markdown, listed
from mvgviz.validation import FloatArray
from mvgviz.words.provenance import thing

NOT_PRIVATE = "Computed on the data: not private."
BETWEEN = " It is that of each direction with itself; where two meet, the noise lies between theirs."
_NAMED, _LONGEST = 3, 22


class Names:
    """What the directions are called; beyond the names that are kept, "record 10001"."""

    def __init__(self, setup: Setup) -> None:
        self._names, self._both = setup.direction_names, setup.design.mode == "both"

    def __call__(self, k: int) -> str:
        if k < len(self._names):
            return self._names[k]
        kind, _, number = self._names[-1].rpartition(" ")
        return f"{kind if number == str(len(self._names)) else 'number'} {k + 1}"

    def labels(self, shown: list[int]) -> list[str]:
        """For a chart's axis: short, and harmless in Plotly."""
        return [short_label(self(k)) for k in shown]

    def of_noise(self, shown: list[int]) -> list[str]:
        """For a chart of noise: with noise on both sides it is told of entries, each direction's with itself."""
        if not self._both:
            return self.labels(shown)
        return [" × ".join([short_label(self(k), _LONGEST // 2)] * 2) for k in shown]

    def few(self, positions: list[int]) -> str:
        """For a sentence: three or four names, the rest counted."""
        names = [in_markdown(self(k)) for k in positions[: _NAMED + 1]]
        more = len(positions) - _NAMED
        return f"{', '.join(names[:_NAMED])} and {more:,} more" if more > 1 else listed(names)


def short_label(name: str, longest: int = _LONGEST) -> str:
    """A name from a file, cut to what an axis can hold and escaped."""
    return in_html(name if len(name) <= longest else f"{name[: longest - 1]}…")


def promise(setup: Setup) -> str:
    """What does not change, whatever the split."""
    epsilon, delta, care = setup.scenario.epsilon, delta_words(setup.delta, setup.dataset.n_records), ""
    if not weakest(setup.origins.values()).is_covered:
        care = " It covers the noise; what was read from the data here, no guarantee covers."
    return (f":material/shield: **What does not change is the guarantee:** with every split the whole answer is "
            f"private at ε = {epsilon:g}, δ = {delta} for {setup.design.neighbour_rule}; more precision for a "
            f"direction is not less privacy for a feature.{care}")


def who_gains(setup: Setup, names: Names, numbers: NoiseFactors) -> str:
    """Names and factors of those with less and of those with more noise than equal noise."""
    gains, pays, factors = numbers.gains, numbers.pays, numbers.table.factor
    if not gains and not pays:
        return "**Nobody gains and nobody pays:** this is equal noise."
    pay = f"**Pay:** {names.few(pays)}, with {_span(factors[pays])}." if pays else "**Nobody pays.**"
    if not gains:
        return f"**Nobody gains.** {pay} {_why_nobody_gains(setup)}"
    return f"**Gain:** {names.few(gains)}, with {_span(factors[gains])} equal noise. {pay}"


def gains_verdict(names: Names, numbers: NoiseFactors) -> str:
    """Who gains, in a few words; empty where nobody does, which is said already."""
    return f"**Less noise on {names.few(numbers.gains)}, more on the rest.** " if numbers.gains and numbers.pays else ""


def largest_share(names: Names, table: BudgetTable) -> str:
    """Who has most of the budget, against an equal share."""
    top, equal = float(table.theta.max()), 1 / table.size
    first = [k for k in range(table.size) if table.theta[k] > top * (1 - 1e-9)]
    if len(first) == table.size:
        return f"**Equal shares:** {percent(equal)} each." if table.size > 1 else "**One direction** has it all."
    return (f"**The largest share**, {percent(top)}{' each' if len(first) > 1 else ''}, goes to {names.few(first)}; "
            f"an equal share is {percent(equal)}.")


def about_split(setup: Setup, table: BudgetTable) -> str:
    """What theta divides under the guarantee."""
    if isinstance(setup.design.neighbours, BoundedColumn | BoundedOuterProduct):
        return ("theta: how much of the precision each direction has, with noise of the shape of the ellipse that "
                "records are pulled into. Strong colour: more than an equal share.")
    what = ("1/v (v the noise variance), weighted by how far one record can reach: together μ²"
            if table.precision_is == "1/v" else "1/v² (v the noise variance), which the paper calls precision")
    return (f"theta: how the precision budget is divided. Under this guarantee it is the sum of {what}. Strong "
            "colour: more than an equal share.")


def signal_words(numbers: SignalNumbers) -> str:
    """In how many directions the signal is above the noise."""
    silent = f" {numbers.silent} without any signal are not drawn." if numbers.silent else ""
    drawn = len(numbers.shown)
    part = f" The {drawn} largest are drawn." if drawn + numbers.silent < numbers.total else ""
    return (f"**Signal above noise** in {numbers.above} of {numbers.total} directions "
            f"(equal noise: {numbers.iid_above}). {NOT_PRIVATE}{part}{silent}")


def about_signal(setup: Setup) -> str:
    """What signal and noise are."""
    signal = ("the answer's own entry along the direction" if setup.query.name == "covariance"
              else "the root mean square of the values along the direction")
    return f"Signal: {signal}. Noise: its typical error (standard deviation) along the same direction. {NOT_PRIVATE}"


def loading_words(setup: Setup, loadings: FloatArray, features: tuple[str, ...]) -> str:
    """What the direction with the largest share is made of."""
    first = int(setup.design.theta.argmax())
    most = (-abs(loadings[:, first])).argsort()[:2]
    parts = [f"{in_markdown(features[i])} ({loadings[i, first]:+.2f})" for i in most]
    return f"**Direction {first + 1}**, with the largest share, is mostly {' and '.join(parts)}."


def what_gets_through(numbers: PnrNumbers) -> str:
    """The verdict under the first guarantee told, then for each what survives, against equal shares (log PNR)."""
    sentences, verdict = [], ""
    for guarantee in reversed(numbers.scores):
        best, equal = numbers.best(guarantee), numbers.scores[guarantee]["uniform"]
        gains = best.log_pnr > equal.log_pnr * (1 + 1e-6)
        verdict = verdict or (f"Most information survives with: {SPLITS[best.split]}" if gains else
                              "No split beats equal shares here")
        most = f"{SPLITS[best.split]} {as_number(best.log_pnr)}, " if gains else ""
        sentences.append(f"{capitalised(GUARANTEES[guarantee].in_chart)}: {most}equal shares "
                         f"{as_number(equal.log_pnr)}{'' if gains else ', no split has more'}.")
    return f"**{verdict}.** Information that survives (log PNR): {' '.join(sentences)}"


def exact_words(setup: Setup) -> str:
    """What the exact form of max-PNR is the largest of."""
    if setup.design.directions_origin is Origin.PAID:
        return ("Exact knows the privately released spectrum only: it maximises the ratio that this spectrum promises, "
                "not the one shown, which is the data's.")
    if is_proved(setup.design):
        return "Exact maximises the very ratio shown, correlations included: no split lets more through."
    return ("Exact searches for the largest of the very ratio shown, correlations and worst neighbours included: it is "
            "the largest found, not proved to be the largest.")


def water_words(setup: Setup, names: Names, numbers: WaterNumbers, filled: WaterFilling) -> str:
    """The level, who is dry and whose spectrum it is."""
    dry = [int(k) for k in filled.dry.nonzero()[0]]
    private = setup.design.directions_origin is Origin.PAID
    source = "Spectrum from the private release: its cost is in the budget." if private else NOT_PRIVATE
    drawn = len(numbers.shown)
    part = f" The {drawn} with the strongest signal are drawn." if drawn < filled.dry.size else ""
    floor = f"the floor, {FLOOR:g} of an equal part, since no share at all would be infinite noise"
    who = (f"**{len(dry)} of {filled.dry.size} dry:** {names.few(dry)} got {floor}." if dry else
           "**Nobody is dry:** every direction gets water.")
    level = "Here is no common level: bars are what each direction gets."
    if filled.level is not None:
        thin = " The water is thin, so heights are measured from the lowest ground." if numbers.from_lowest else ""
        level = f"Level: {as_number(filled.level)}.{thin}"
    return f"{who} {level}{part} {source}"


def smallest_words(setup: Setup, wanted: WantedNoise) -> str:
    """The smallest epsilon for the noise that is wanted."""
    return (f"**The smallest ε for this noise: {at_most(setup.design.mu_is)}{as_number(wanted.needed)}**, at "
            f"δ = {delta_words(setup.delta, setup.dataset.n_records)}, by the exact limit (asked now: "
            f"{setup.scenario.epsilon:g}). The other directions get the floor: almost no precision.")


def _span(factors: FloatArray) -> str:
    low, high = as_factor(float(factors.min())), as_factor(float(factors.max()))
    return low if low == high else f"{low} to {high}"


def _why_nobody_gains(setup: Setup) -> str:
    if setup.design.mu_is != "exact":
        return "The worst neighbours of this shape are only known up to an upper bound, and the noise makes up for it."
    if setup.scenario.directions == "private":
        return "Finding the directions privately took a part of the budget."
    return f"One {thing(setup)} can act just where the noise is least, so no direction can be favoured for free."
