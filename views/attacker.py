"""Play the attacker: what a budget means, felt in ten rounds."""

from mvgviz.ui.frame import open_plain_page
from mvgviz.ui.lesson.attacker import draw_round, draw_rules, sit_down
from mvgviz.ui.lesson.screen import adopt_screen
from mvgviz.ui.menu import ATTACKER

open_plain_page(ATTACKER)
adopt_screen()
table = sit_down()
draw_rules(table)
draw_round(table)
