"""Privacy spent: the attacker's odds, three pictures of the loss, the worst neighbours, an audit, several releases."""

import streamlit as st

from mvgviz.design.privacy_loss import SpentMu, odds, spent_mu
from mvgviz.figures.privacy.attack import plot_tradeoff
from mvgviz.figures.privacy.loss import curve_numbers, loss_numbers, plot_curve, plot_loss
from mvgviz.scenario.resolve import Setup
from mvgviz.ui.frame import chart, draw_open_tab, open_page
from mvgviz.ui.menu import PRIVACY
from mvgviz.ui.privacy.audit import draw_audit
from mvgviz.ui.privacy.panels import draw_neighbours, draw_releases
from mvgviz.words.privacy import caveats, curve_words, found_label, loss_words, odds_words, tail_label, tradeoff_words
from mvgviz.words.provenance import thing


def draw_tradeoff(setup: Setup, spent: SpentMu) -> None:
    """Misses against false alarms."""
    said = odds(spent.total)
    chart(plot_tradeoff(spent.total, epsilon=setup.scenario.epsilon, delta=setup.delta,
                        marked=said.accused / said.out_of, said=found_label(*said)),
          tradeoff_words(spent, setup.design.mu_is), key="privacy_tradeoff")


def draw_loss(setup: Setup, spent: SpentMu) -> None:
    """The density of the privacy loss."""
    numbers = loss_numbers(spent.total, setup.scenario.epsilon)
    chart(plot_loss(numbers, label=tail_label(numbers), thing=thing(setup)), loss_words(numbers), key="privacy_loss")


def draw_curve(setup: Setup, spent: SpentMu) -> None:
    """delta against epsilon."""
    numbers = curve_numbers(spent.total, epsilon=setup.scenario.epsilon, delta=setup.delta)
    chart(plot_curve(numbers), curve_words(setup, numbers), key="privacy_curve")


setup = open_page(PRIVACY)
spent = spent_mu(setup.design)
st.markdown(odds_words(setup, spent))
for sentence in caveats(setup, spent):
    st.caption(sentence)
for column, draw in zip(st.columns(3, gap="medium"), (draw_tradeoff, draw_loss, draw_curve), strict=True):
    with column:
        draw(setup, spent)
draw_open_tab({"The worst neighbours": draw_neighbours, "Audit by simulation": draw_audit,
               "Several releases": draw_releases}, setup, key="privacy_section")
