"""What each split of the budget lets through: log PNR under the printed theorem and the exact limit."""

from dataclasses import dataclass

import plotly.graph_objects as go

from mvgviz.figures.shared.axes import log_axis
from mvgviz.figures.shared.theme import GUARANTEE_COLOURS, styled
from mvgviz.labels import GUARANTEES
from mvgviz.scenario.splits import SplitScore


@dataclass(frozen=True, kw_only=True)
class PnrNumbers:
    """One line a split, in order; ``scores`` by guarantee and split."""

    splits: list[str]
    scores: dict[str, dict[str, SplitScore]]

    def best(self, guarantee: str) -> SplitScore:
        """The split that lets most through."""
        return max(self.scores[guarantee].values(), key=lambda score: score.log_pnr)


def pnr_numbers(scores: tuple[SplitScore, ...]) -> PnrNumbers:
    """The scores by guarantee; splits in order of first appearance."""
    table: dict[str, dict[str, SplitScore]] = {}
    for score in scores:
        table.setdefault(score.guarantee, {})[score.split] = score
    return PnrNumbers(splits=list(dict.fromkeys(score.split for score in scores)), scores=table)


def plot_pnr(numbers: PnrNumbers, *, names: dict[str, str]) -> go.Figure:
    """Dots on a log axis; the scenario's own split is ringed."""
    figure = go.Figure()
    rows = {split: i for i, split in enumerate(numbers.splits)}
    scores = [score for by_split in numbers.scores.values() for score in by_split.values()]
    for guarantee in numbers.scores:
        some = [score for score in scores if score.guarantee == guarantee and score.log_pnr > 0]
        figure.add_scatter(
            x=[score.log_pnr for score in some], y=[rows[score.split] for score in some], mode="markers",
            name=GUARANTEES[guarantee].in_chart,
            customdata=[[names[score.split], score.mutual_information] for score in some],
            marker={"color": GUARANTEE_COLOURS[guarantee], "size": 13,
                    "symbol": "circle" if guarantee == "exact" else "diamond"},
            hovertemplate="%{customdata[0]}: log PNR %{x:.4g},"
                          " mutual information %{customdata[1]:.4g} nats<extra></extra>")
    current = [score for score in scores if score.is_current]
    figure.add_scatter(x=[score.log_pnr for score in current], y=[rows[score.split] for score in current],
                       mode="markers", name="this design", hoverinfo="skip",
                       marker={"symbol": "circle-open", "size": 22, "color": "rgba(128,128,128,1)",
                               "line": {"width": 2}})
    positive = [score.log_pnr for score in scores if score.log_pnr > 0] or [1.0]
    figure.update_xaxes(title="log PNR, in nats (log scale)", **log_axis(min(positive), max(positive), room=0.06))
    figure.update_yaxes(tickvals=list(rows.values()), ticktext=[names[split] for split in rows],
                        range=[len(rows) - 0.5, -0.5], zeroline=False)
    return styled(figure, height=340, top=50)
