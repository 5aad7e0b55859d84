from mvgviz.words import *  # noqa
from mvgviz.words import delta_words, in_html, in_markdown, listed, plain, power, small, times  # noqa
