"""Privacy spent, in sentences: odds, what the numbers leave out, and the takeaways of its pictures."""

import math

import numpy as np

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import PairLoss, SpentMu, coin_odds, odds
from mvgviz.figures.privacy.loss import CurveNumbers, LossNumbers, spent_together
from mvgviz.noise.accounting import gaussian_epsilon, total_variation
from mvgviz.release.audit import Audit, NoiseScores, attacks_per_release
from mvgviz.release.noise_check import FALSE_ALARMS, MIXTURES
from mvgviz.scenario.resolve import Setup
from mvgviz.text import as_number, as_probability, at_most, delta_words, in_markdown, listed
from mvgviz.validation import FloatArray
from mvgviz.words.provenance import open_parts, thing

_BETTER = ((0.1, "a little better"), (0.3, "better"), (0.7, "much better"), (1.0, "far better"))
"""By how much more often than a coin, of the times that a coin is wrong, the best attack is right."""


def odds_words(setup: Setup, spent: SpentMu) -> str:
    """The best attack on the worst neighbours as a sentence of whole numbers."""
    most, what = at_most(setup.design.mu_is), thing(setup)
    crowd, accused, caught = odds(spent.total)
    right, guesses = coin_odds(spent.total)
    if caught == accused:
        return (f"**No better than guessing:** even an attacker who knows everything else and accuses {accused:,} in "
                f"{crowd:,} cases {_without(setup)} catches {caught:,} in {crowd:,} with it.")
    coin = ("practically always right" if right == guesses else
            f"right {most}{right:,} times in {guesses:,} instead of {guesses // 2:,}")
    return (f"**{alarm_words(crowd, accused, caught, most)}.** A false alarm accuses {_without(setup)}; the "
            f"attacker knows all other {what}s. Asked whether one {what} is there, with even odds before, the best "
            f"guess is {coin}.")


def _without(setup: Setup) -> str:
    """Neighbours: without a record another stands in its place."""
    what = thing(setup)
    return f"without the {what}" if setup.query.is_graph else f"without the {what} (another in its place)"


def found_label(crowd: int, accused: int, caught: int) -> str:
    """Beside the point of that attack."""
    return f"{caught:,} of {crowd:,} found" if caught > accused else ""


def alarm_words(crowd: int, accused: int, caught: int, most: str = "") -> str:
    """"With 5 false alarms in 100 the best attack finds 13; guessing finds 5"."""
    found = f"all {crowd:,}" if caught == crowd else f"{most}{caught:,}"
    return (f"With {accused:,} false alarm{'s' if accused > 1 else ''} in {crowd:,} the best attack finds {found}; "
            f"guessing finds {accused:,}")


def caveats(setup: Setup, spent: SpentMu) -> list[str]:
    """What the numbers count in and what they leave out."""
    said = []
    if spent.directions:
        said.append(f"Counted in: the private directions, which spent {spent.directions_share:.0%} of μ² "
                    f"(directions μ = {as_number(spent.directions)}, noise {as_number(spent.noise)}, "
                    f"together {as_number(spent.total)}).")
    if spent.bound:
        said.append(f"Counted in: finding the length of the ellipse of records, which spent "
                    f"{(spent.bound / spent.total) ** 2:.0%} of μ² (μ = {as_number(spent.bound)}, noise "
                    f"{as_number(spent.noise)}, together at most {as_number(spent.total)}).")
    parts = open_parts(setup)
    if parts:
        said.append(f":material/warning: Not covered: {listed(parts)}. These numbers are about the noise only.")
    return said


def reached_words(setup: Setup, attained: float) -> str:
    """How much of mu the worst neighbours reach, and what mu is."""
    exact = setup.design.mu_is == "exact"
    if exact or attained > 0.999:
        return f"They reach the whole μ of the design{', which is exact' if exact else ''}."
    return f"They are the worst found and reach {attained:.0%} of μ, which is an upper bound here."


def tradeoff_words(spent: SpentMu, mu_is: str = "exact") -> str:
    """Takeaway of the trade-off curve; ``mu_is``: whether the curve is the best attack's own or below it."""
    crowd, accused, caught = odds(spent.total)
    if caught == accused:
        return f"**No better than guessing:** μ = {as_number(spent.total)}, the curve is the diagonal."
    advantage = float(total_variation(spent.total))
    how = next(words for most, words in _BETTER if advantage <= most)
    return (f"**The best attack is {how} than guessing:** the further below the diagonal, the less private. "
            f"{alarm_words(crowd, accused, caught, at_most(mu_is))} (μ = {as_number(spent.total)}).")


def loss_words(numbers: LossNumbers) -> str:
    """Takeaway of the loss density."""
    if not numbers.tail.size:
        reach = numbers.mu * numbers.mu / 2 + 4 * numbers.mu
        return (f"**Never near ε:** the loss hardly ever leaves ±{as_number(reach)}; "
                f"ε = {numbers.epsilon:g} is {as_number(numbers.epsilon_away)} times its spread (standard "
                "deviation) off.")
    delta = as_probability(numbers.delta) if numbers.delta > 1e-300 else "practically 0"
    return (f"**The loss passes ε = {numbers.epsilon:g} in {often(numbers.beyond)} releases** (shaded); weighed by "
            f"how far, that is δ = {delta} (dark).")


def tail_label(numbers: LossNumbers) -> str:
    """The name of the mass beyond epsilon."""
    return f"beyond ε: {often(numbers.beyond)}" if numbers.tail.size else "ε asked: far off"


def curve_words(setup: Setup, numbers: CurveNumbers) -> str:
    """Takeaway of the delta curve."""
    delta, asked = delta_words(numbers.asked_delta, setup.dataset.n_records), numbers.asked_epsilon
    most = at_most(setup.design.mu_is)
    if numbers.spent == 0:
        return (f"**No ε is spent:** even ε = 0 needs only δ = {as_probability(numbers.at_zero)}, "
                f"less than the {delta} allowed.")
    if numbers.spent < 0.999 * asked:
        return f"**Spends {most}ε = {as_number(numbers.spent)} of the {asked:g} asked**, at δ = {delta}."
    return (f"**Spends {most or 'just '}what was asked:** ε = {asked:g} at δ = {delta}; "
            f"ε = 0 would need δ = {as_probability(numbers.at_zero)}.")


def shares_words(shares: FloatArray, theta: FloatArray, labels: list[str]) -> str:
    """Takeaway of the loss by direction: who carries most of it."""
    first = int(shares.argmax())
    rest = f" Of {shares.size:,}, the largest {len(labels)} are shown singly." if len(labels) < shares.size else ""
    return (f"**{in_markdown(labels[0])} carries {percent_words(float(shares[first]))} of the loss** and has "
            f"{percent_words(float(theta[first]))} of the budget.{rest}")


def releases_words(setup: Setup, spent: SpentMu, count: int) -> str:
    """Takeaway of several releases: what they spend together, and what adding up would say."""
    exact, summed = (float(values[0]) for values in spent_together(
        spent, np.array([count]), epsilon=setup.scenario.epsilon, delta=setup.delta))
    spends = f"{count:,} releases together spend" if count > 1 else "1 release spends"
    added = ("adding up says nothing, as δ would pass 1" if math.isnan(summed) else
             f"adding up would say ε = {as_number(summed)} at δ = {as_probability(count * setup.delta)}")
    return (f"**{spends} {at_most(setup.design.mu_is)}ε = {as_number(exact)}** at "
            f"δ = {delta_words(setup.delta, setup.dataset.n_records)}; {added}.")


def tested_words(design: NoiseDesign, noise: NoiseScores, *, hardened: bool) -> str:
    """What was drawn and what was tested on it."""
    each = f", each attacked at every one of its {design.cols:,} records" if attacks_per_release(design) > 1 else ""
    source = ("by the hardened sampler of a release, fresh each time" if hardened else
              "by the app's simulator, from the scenario's seed")
    together = f"whether {' or '.join(noise.tally.pairs)} move together; " if noise.tally.pairs else ""
    return (f"{noise.releases:,} whole {design.rows:,} × {design.cols:,} answers on each neighbour{each}, drawn "
            f"{source}. Tested on them: the attack; the size of the noise along each direction of rows and columns, in "
            f"their sums and in {MIXTURES} mixtures of all entries; {together}whether any of it repeats. Sound noise "
            f"fails these tests in at most {FALSE_ALARMS * 1000:g} of 1,000 audits. Directions and ranges are not "
            "audited.")


def audit_words(setup: Setup, loss: PairLoss, result: Audit, broken: bool) -> str:
    """What the audit proves, and what it cannot."""
    found, claim = result.epsilon_lower, setup.epsilon_spent
    counts = (f"accusing {result.accused:,} of {result.evaluated:,} {_without(setup)}, it catches {result.caught:,} "
              f"of {result.evaluated:,} with it: ε is at least **{as_number(found)}** (95 % confidence)")
    claimed = f"{at_most(setup.design.mu_is)}{as_number(claim)}"
    if not broken:
        if found > claim:
            odd = "" if result.check.as_claimed else f" The noise itself is not as claimed: {result.check.words}."
            return (f"**Above the claim:** {counts}, claimed is {claimed}. By chance this happens in at most 5 of 100 "
                    f"audits: try more releases or another seed.{odd}")
        if not result.check.as_claimed:
            return f"**The noise is not as claimed:** {result.check.words}. The attack alone: {counts}."
        part = f" The pair attacked reaches only {loss.attained:.0%} of the bound μ." if loss.attained < 0.99 else ""
        few = f" So few releases can show at most {as_number(result.ceiling)}." if claim > result.ceiling else ""
        return f"**The claim stands:** {counts}, claimed is {claimed}.{part}{few}"
    truth = float(gaussian_epsilon(setup.delta, 2 * loss.mu))
    if found > claim:
        return f"**Caught:** {counts}, above the {claimed} claimed. Half the noise really spends {as_number(truth)}."
    if truth <= setup.scenario.epsilon:
        why = (f"Half the noise would spend {as_number(truth)} on this pair, still within the "
               f"ε = {setup.scenario.epsilon:g} asked.")
    elif claim > result.ceiling:
        why = f"So few releases can show at most {as_number(result.ceiling)}; a smaller ε can be audited."
    else:
        why = f"Half the noise spends {as_number(truth)}; more releases would show it."
    if not result.check.as_claimed:
        return (f"**Caught, though not by the attack:** the noise itself is not as claimed: {result.check.words}. The "
                f"attack: {counts}, claimed is {claimed}. {why}")
    return f"**Not caught by the attack:** {counts}, claimed is {claimed}. {why}"


def percent_words(share: float) -> str:
    """A share in percent, with more digits near the ends: 9.1 %, 99.95 %."""
    edge = min(share, 1 - share)
    digits = 0 if edge >= 0.1 or edge <= 0 else 1 if edge >= 0.005 else 2 if edge >= 5e-4 else 4
    return f"{round(share * 100, digits):g} %"


def often(probability: float) -> str:
    """How often, in whole numbers: 9 of 100, 1 of 3,400."""
    if probability >= 0.095:
        return f"{round(100 * probability)} of 100"
    if probability >= 0.0095:
        return f"{round(1000 * probability)} of 1,000"
    return f"1 of {as_number(1 / probability, 2)}" if probability > 1e-300 else "practically no"
