"""What the best attacker can do, the privacy loss, and what many releases add up to."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from scipy import special

from mvgviz.design.noise_design import NoiseDesign
from mvgviz.design.privacy_loss import PairLoss, SpentMu, coin_odds, loss_density, mass_beyond, odds, spent_of
from mvgviz.noise.accounting import gaussian_delta, gaussian_epsilon
from mvgviz.noise.ties import largest_first
from mvgviz.pictures.budget import percent
from mvgviz.pictures.sentences import open_parts, thing
from mvgviz.pictures.theme import DATA, DIRECTIONAL, EXACT, Picture, add_dots, add_line, styled, upright, wash
from mvgviz.release.audit import Audit, NoiseScores
from mvgviz.release.noise_check import FALSE_ALARMS, MIXTURES
from mvgviz.scenario.resolve import Setup
from mvgviz.text import (
    as_number,
    as_probability,
    at_delta,
    at_most,
    capitalised,
    epsilon_caution,
    in_html,
    in_markdown,
    listed,
    mu_words,
)
from mvgviz.validation import FloatArray

_BINS = 70


def best_attacks(mu: float | SpentMu) -> tuple[FloatArray, FloatArray]:
    """False alarms and misses, evenly along the attacker's thresholds: the bend is drawn smoothly for every mu."""
    spent = spent_of(mu)
    thresholds = np.linspace(-5, spent.total + 5, 241)
    false_alarms = np.concatenate([[1.0], special.ndtr(-thresholds), [0.0]])
    return false_alarms, spent.misses(false_alarms)


def fewest_misses(epsilon: float, delta: float) -> FloatArray:
    """What is promised (2 × points): misses >= 1 - delta - e^epsilon alarms, and the same with the two exchanged."""
    corner = (1 - delta) * float(special.expit(-epsilon))
    return np.array([[0, corner, 1 - delta, 1], [1 - delta, corner, 0, 0]])


def tradeoff_picture(mu: float | SpentMu, *, epsilon: float, delta: float, mu_is: str = "exact") -> Picture:
    """Misses of the best attack against false alarms: guessing, the promised limit, one attack in whole numbers."""
    (crowd, accused, caught), spent = odds(mu), spent_of(mu)
    marked, said = accused / crowd, f"{caught:,} of {crowd:,} found" if caught > accused else ""
    false_alarms, misses = best_attacks(mu)
    limit = fewest_misses(epsilon, delta)
    hover = "accuses %{x:.2%} of those without it, misses %{y:.2%} of those with it<extra></extra>"
    figure = go.Figure()
    add_line(figure, [0, 1], [1, 0], "guessing", DATA, 1.5, "dash")
    add_line(figure, limit[0], limit[1], "promised limit", EXACT, 2, "dot")
    add_line(figure, false_alarms, misses, "best attack", DIRECTIONAL, 2.5, hover=hover)
    add_dots(figure, [marked], [float(spent.misses(marked))], said, DIRECTIONAL, 11, hover=hover, showlegend=bool(said),
             cliponaxis=False)
    for axis, title in ((figure.update_xaxes, "false alarms: absent, but accused"),
                        (figure.update_yaxes, "misses: present, not accused")):
        axis(title=title, tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], range=[0, 1.02])
    # Above the diagonal nothing is ever drawn.
    styled(figure, height=300).update_layout(
        legend={"orientation": "v", "x": 1, "xanchor": "right", "y": 1, "yanchor": "top"})
    strength = "" if spent.blocks else f" ({mu_words(spent.total)})"
    takeaway = f"**{alarm_words(crowd, accused, caught, at_most(mu_is))}**{strength}."
    if caught == accused:
        takeaway = f"**No better than guessing:** the curve is the diagonal{strength}."
    return Picture(figure, takeaway, """\
Every attack is a point; none lies below the blue curve. On the diagonal the release reveals nothing. Dotted, the \
promised limit: the fewest misses that ε and δ allow, for the worst neighbours and an attacker who knows all others.""")


def audit_picture(result: Audit, mu: float, takeaway: str) -> Picture:
    """Scores of attacks: steps for what was simulated, dotted for what is claimed, ``N(0, 1)`` and ``N(mu, 1)``."""
    low = min(float(result.absent.min()), float(result.present.min()), -3.0)
    high = max(float(result.absent.max()), float(result.present.max()), mu + 3.0)
    edges = np.linspace(low, high, _BINS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    figure = go.Figure()
    for name, scores, claimed, colour in (("without it", result.absent, 0.0, DATA),
                                          ("with it", result.present, mu, DIRECTIONAL)):
        add_line(figure, centres, np.histogram(scores, edges, density=True)[0], f"{name}, simulated", colour, 1,
                 fill="tozeroy", fillcolor=wash(colour, 0.45), line_shape="hvh")
        add_line(figure, centres, np.exp(-(centres - claimed) ** 2 / 2) / np.sqrt(2 * np.pi), f"{name}, claimed",
                 colour, 2, "dot")
    figure.add_vline(x=result.threshold, line={"color": EXACT, "width": 2},
                     annotation={"text": "accused →", "font": {"color": EXACT}})
    figure.update_xaxes(title="score of a release (claimed noise: 1)", zeroline=False)
    figure.update_yaxes(title="density", showticklabels=False, showgrid=False, rangemode="tozero")
    return Picture(styled(figure, height=300), takeaway, """\
The best attack scores each release by its likelihood ratio and accuses above a threshold. One half of the releases \
sets the threshold; the other half counts. Clopper–Pearson limits turn hits and false alarms into the least ε spent, \
with 95 % confidence. Above the claim, the claim is false; below it, nothing is proved.""")


_SMALLEST = 1e-300
RELEASES = np.unique(np.round(np.geomspace(1, 1_000, 80))).astype(np.float64)
_HOVER = "%{x:.0f} releases: ε = %{y:.3g}<extra></extra>"


def loss_picture(mu: float, *, epsilon: float, thing: str = "record") -> Picture:
    """The privacy loss: two bells, the tail beyond epsilon shaded, the part that counts as delta darker."""
    end, away = mu * mu / 2 + 4 * mu, epsilon / mu - mu / 2  # in standard deviations above the average loss
    seen = away <= 9
    low, high = -end, max(end, epsilon + mu) if seen else end
    loss, beyond = np.linspace(low, high, 241), often(mass_beyond(epsilon, mu))
    density, figure = loss_density(loss, mu), go.Figure()
    add_line(figure, loss, density, f"{thing} there", DIRECTIONAL, 2.5, hover="loss %{x:.3g}: density %{y:.3g}")
    add_line(figure, loss, loss_density(loss, mu, replaced=True), "not there", DATA, 1.5, "dash")
    at, label = (epsilon, f"beyond ε: {beyond}") if seen else (high, "ε asked: far off")
    if seen:
        tail = np.linspace(epsilon, high, 81)
        mass = loss_density(tail, mu)
        for values, colour, name in ((mass, wash(DIRECTIONAL, 0.5), "beyond ε"),
                                     (mass * -np.expm1(epsilon - tail), DIRECTIONAL, "δ")):
            add_line(figure, tail, values, name, DIRECTIONAL, 0, fill="tozeroy", fillcolor=colour, showlegend=False)
        figure.add_shape(upright(at, EXACT, "dot", width=2))
    leftwards, peak = at > (low + high) / 2, float(density.max())
    figure.add_annotation(text=f"{label} →" if leftwards else f"→ {label}", x=at, y=1.32 * peak, showarrow=False,
                          xanchor="right" if leftwards else "left", font={"color": EXACT})
    figure.update_xaxes(title="privacy loss (log-odds learned)", zeroline=False, nticks=6, range=[low, high])
    figure.update_yaxes(title="density", showticklabels=False, showgrid=False, range=[0, 1.42 * peak])
    delta = float(gaussian_delta(epsilon, mu))
    takeaway = (f"**The loss exceeds ε = {epsilon:g} in {beyond} releases.** Weighed by their excess, they make δ = "
                f"{as_probability(delta) if delta > _SMALLEST else 'practically 0'}.") if seen else (
        f"**Never near ε:** the loss hardly ever leaves ±{as_number(end)}; ε = {epsilon:g} is {as_number(away)} "
        "standard deviations away.")
    return Picture(styled(figure, height=300), takeaway, """\
The privacy loss is how far one release moves the log-odds between the two neighbours. It is normal, with average μ²/2 \
and standard deviation μ. Light area: how often it exceeds ε. Dark area: δ, each excess weighed by its size.""")


def curve_picture(mu: float | SpentMu, *, epsilon: float, delta: float, mu_is: str = "exact") -> Picture:
    """Delta against epsilon from 0 on, on a log axis; the asked point, and the spent one where it is another."""
    noise = spent_of(mu)
    at_zero, spent = noise.advantage, noise.epsilon(delta)
    lowest = max(min(delta, at_zero) * 1e-4, _SMALLEST)
    reach = noise.epsilon(lowest)
    if reach < epsilon / 10:  # epsilon needs a log axis too, and 0 is left of it
        epsilons = np.geomspace(reach * 1e-3, reach * 1.05, 120)
        across: dict[str, Any] = {"type": "log", "range": [math.log10(epsilons[0]), math.log10(3 * epsilon)]}
    else:
        epsilons = np.linspace(0, max(1.25 * epsilon, min(reach, 4 * epsilon)), 120)
        across = {"range": [0, float(epsilons[-1])]}
    deltas = np.array([noise.delta(float(at)) for at in epsilons])
    figure = go.Figure()
    add_line(figure, epsilons, np.maximum(deltas, lowest / 1e3), "this noise", DIRECTIONAL, 2.5,
             hover="ε = %{x:.3g} needs δ = %{customdata}", customdata=list(map(as_probability, deltas.tolist())))
    hover = f": ε = %{{x:.3g}} at δ = {as_probability(delta)}"
    if 0 < spent < 0.999 * epsilon:
        add_dots(figure, [spent], [delta], "spent", DIRECTIONAL, hover=f"spent{hover}")
    add_dots(figure, [epsilon], [delta], "asked", EXACT, 12, "diamond", hover=f"asked{hover}")
    figure.update_yaxes(title="δ", type="log", range=[math.log10(lowest), math.log10(max(at_zero, delta)) + 0.4])
    figure.update_xaxes(title="ε", **across)
    most, allowed = at_most(mu_is), as_probability(delta)
    takeaway = f"**Spends {most}ε = {as_number(spent)} of the {epsilon:g} asked**, at δ = {allowed}."
    if spent == 0:
        takeaway = (f"**No ε is spent:** even ε = 0 needs only δ = {as_probability(at_zero)}, less than the {allowed} "
                    "allowed.")
    elif spent >= 0.999 * epsilon:
        takeaway = (f"**Spends {most}ε = {epsilon:g} at δ = {allowed}, as asked.** ε = 0 would need "
                    f"δ = {as_probability(at_zero)}. {epsilon_caution(epsilon)}").rstrip()
    found = "a δ that holds" if noise.blocks else "the smallest δ that holds, exactly (Balle & Wang 2018)"
    return Picture(styled(figure, height=300), takeaway, f"One noise keeps many promises: for each ε {found}.")


def largest_shares(shares: FloatArray) -> list[int]:
    """At most 20 positions, the largest first, and beyond the sixth only those whose bar can be seen."""
    return largest_first(shares)[:min(max(int(np.count_nonzero(shares >= 1e-3)), 6), 20)]


def shares_picture(shares: FloatArray, theta: FloatArray, *, names: Sequence[str]) -> Picture:
    """Shares of mu²: a bar for each of the largest, theta as a mark on it. ``names``: of the directions."""
    labels = [names[k] if k < len(names) else f"number {k + 1}" for k in largest_shares(shares)]
    shown, others = np.split(np.array(largest_first(shares)), [len(labels)])
    bars, drawn, marked = [in_html(label) for label in labels], list(shares[shown]), list(theta[shown])
    if others.size:
        bars.append(f"the other {others.size:,} together")
        drawn.append(float(shares[others].sum()))
        marked.append(float(theta[others].sum()))
    places = list(range(len(bars)))
    figure = go.Figure(go.Bar(x=drawn, y=places, orientation="h", marker={"color": DIRECTIONAL}, customdata=bars,
                              name="share of the loss",
                              hovertemplate="%{customdata}: %{x:.1%} of the loss<extra></extra>"))
    add_dots(figure, marked, places, "share of the budget (theta)", DATA, 9, "diamond", customdata=bars,
             cliponaxis=False, hover="%{customdata}: %{x:.1%} of the budget")
    figure.update_xaxes(title="share of μ²", tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(tickvals=places, ticktext=bars, autorange="reversed", showgrid=False)
    figure.update_layout(bargap=0.35)
    takeaway = (f"**{in_markdown(labels[0])} carries {percent(float(shares.max()))} of the loss** and has "
                f"{percent(float(theta[shares.argmax()]))} of the budget.")
    return Picture(styled(figure, height=110 + 22 * max(len(bars), 4)), takeaway, """\
Each direction's part of μ², for the worst neighbours. Less noise along a direction means more of the loss there; the \
total keeps the promise with every split.""")


def releases_picture(spent: SpentMu, *, epsilon: float, delta: float, count: int, mu_is: str = "exact") -> Picture:
    """Epsilon of up to 1 000 releases together, on log axes; those that need no epsilon leave a gap."""
    each = math.fsum(block.delta for block in spent.blocks) if spent.blocks else delta

    def added(releases: Any) -> Any:
        return np.where(releases * each < 1, releases * epsilon, np.nan)

    exact, exactly = np.array([spent.epsilon(delta, int(k)) for k in RELEASES]), spent.epsilon(delta, count)
    seen, figure, summed = exact > 0, go.Figure(), float(added(count))
    for name, values, at, colour, dash in (
            ("added up: kε at kδ", added(RELEASES), summed, DATA, "dash"),
            ("at most, at δ" if spent.blocks else "exact, at δ", np.where(seen, exact, np.nan), exactly, DIRECTIONAL,
             "solid")):
        add_line(figure, RELEASES, values, name, colour, 2.5, dash, hover=_HOVER)
        if at > 0:
            add_dots(figure, [count], [at], name, colour, hover=_HOVER, showlegend=False)
    figure.update_xaxes(title="releases of the same data", type="log", range=[-0.05, 3.05],
                        tickvals=[1, 10, 100, 1000], ticktext=["1", "10", "100", "1,000"])
    figure.update_yaxes(title="ε of all together", type="log", dtick=1)
    if not seen.any():
        figure.add_annotation(text="exact: no ε is spent, even by 1,000 releases", xref="paper", yref="paper", x=0.98,
                              y=0.06, showarrow=False, font={"color": DIRECTIONAL})
    adding = ("adding up says nothing, as δ would pass 1" if math.isnan(summed) else
              f"adding up would say ε = {as_number(summed)} at δ = {as_probability(count * each)}")
    own = "an upper bound from the ε that each has at δ = 0" if spent.blocks else "k of them have μ√k together, exactly"
    takeaway = (f"**{count:,} release{'s together spend' if count > 1 else ' spends'} {at_most(mu_is)}"
                f"ε = {as_number(exactly)}** at δ = {as_probability(delta)}; {adding}.")
    return Picture(styled(figure, height=320), takeaway, f"""\
Releases with fresh noise of this design: {own}. Basic composition adds each ε and δ: \
safe, but too much. A gap: so many releases spend no ε.""")


def odds_words(setup: Setup, spent: SpentMu) -> str:
    """Return how often the best guess is right, as a sentence of whole numbers."""
    right, guesses = coin_odds(spent)
    how = "practically always right" if right == guesses else (
        f"right {at_most(setup.design.mu_is)}{right:,} times in {guesses:,} instead of {guesses // 2:,}")
    return f"Asked whether one {thing(setup)} is there (even odds before), the best guess is {how}."


def alarm_words(crowd: int, accused: int, caught: int, most: str = "") -> str:
    """"With 5 false alarms in 100 the best attack finds 13; guessing finds 5"."""
    found = f"all {crowd:,}" if caught == crowd else f"{most}{caught:,}"
    return (f"With {accused:,} false alarm{'s' if accused > 1 else ''} in {crowd:,} the best attack finds {found}; "
            f"guessing finds {accused:,}")


def caveats(setup: Setup, spent: SpentMu) -> list[str]:
    """Return what the numbers count in and what they leave out."""
    said = [f"Counted in: {what}, which spent {100 * (mu / spent.total) ** 2:.0f} % of μ² (together "
            f"{most}{as_number(spent.total)})." for what, mu, most in (
                ("the private directions", spent.directions, ""),
                ("the private clipping radius", spent.bound, "at most ")) if mu]
    if parts := open_parts(setup):
        said.append(f":material/warning: Not covered: {listed(parts)}. These numbers are about the noise only.")
    return said


def reached_words(setup: Setup, attained: float) -> str:
    """Say how much of mu the worst neighbours reach; of other noise, which epsilon each part hides."""
    if blocks := setup.design.blocks:
        names = setup.query.coordinate_names("rows", setup.design.rows)
        where = ["the whole answer"] if len(blocks) == 1 else [
            listed([in_markdown(names[k]) for k in block.rows]) for block in blocks]
        said = [f"{capitalised(block.family.word)} noise on {part}: ε = {as_number(block.epsilon)} "
                f"{at_delta(block.delta, pure=block.family.is_pure)}"
                for block, part in zip(blocks, where, strict=True)]
        return f"{'; '.join(said)}."
    if setup.design.mu_is == "exact":
        return "It reaches the whole μ: this is exact."
    return f"It is the worst found and reaches {100 * attained:.0f} % of μ, which is an upper bound here."


def tested_words(design: NoiseDesign, noise: NoiseScores, *, hardened: bool) -> str:
    """Say what was drawn and what was tested on it."""
    source = "by the hardened sampler of a release" if hardened else "by the app's simulator, from the scenario's seed"
    return (f"{noise.releases:,} answers ({design.rows:,} × {design.cols:,}) for each neighbour, drawn {source}. "
            f"Tested: the attack; size and repetition of the noise along every direction and {MIXTURES} mixtures of "
            f"entries. Sound noise fails in at most {FALSE_ALARMS * 1000:g} of 1,000 audits. Directions and ranges "
            "are not audited.")


def audit_words(setup: Setup, loss: PairLoss | None, result: Audit, broken: bool = False) -> str:
    """Say what the audit proves, and what it cannot; ``loss``: of Gaussian noise."""
    found, claim = result.epsilon_lower, setup.epsilon_spent if result.delta else setup.design.pure_epsilon
    counts = (f"ε is at least **{as_number(found)}** (95 % confidence), claimed is "
              f"{at_most(setup.design.mu_is) if result.delta else ''}{as_number(claim)}. It accuses "
              f"{result.accused:,} of {result.evaluated:,} without the {thing(setup)}, {result.caught:,} with it")
    odd = "" if result.check.as_claimed else f" The noise is not as claimed: {result.check.words}."
    few = f" So few releases can show at most {as_number(result.ceiling)}." if claim > result.ceiling else ""
    if loss is not None and broken:
        truth = as_number(float(gaussian_epsilon(setup.delta, 2 * loss.mu)))
        verdict = "Caught" if found > claim else "Caught, though not by the attack" if odd else "Not caught"
        return f"**{verdict}:** {counts}. Half the noise really spends {truth}.{odd}{few}"
    if found > claim:
        return (f"**Above the claim:** {counts}. By chance this happens in at most 5 of 100 audits: try another seed."
                f"{odd}")
    if odd:
        return f"**The noise is not as claimed:** {result.check.words}. The attack alone: {counts}."
    part = f" The pair attacked reaches only {100 * loss.attained:.0f} % of the bound μ." if (
        loss is not None and loss.attained < 0.99) else ""
    return f"**The audit found no violation:** {counts}.{part}{few}"


def often(probability: float) -> str:
    """Return how often, in whole numbers: 9 of 100, 1 of 3,400."""
    if probability >= 0.0095:
        out_of = 100 if probability >= 0.095 else 1000
        return f"{round(out_of * probability)} of {out_of:,}"
    return f"1 of {as_number(float(f'{1 / probability:.1e}'), 2)}" if probability > 1e-300 else "practically no"
