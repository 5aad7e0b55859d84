"""Present: the scenario in a few pictures, one a screen."""

from mvgviz.ui.frame import open_bare_page
from mvgviz.ui.menu import PRESENT
from mvgviz.ui.present.presenter import draw_deck

draw_deck(open_bare_page(PRESENT))
