"""Numbers and names as people read them; names from files made harmless."""

import csv
import html
import io
import math
import re
from collections.abc import Iterable

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, marks that turn the direction of what follows, halves of a character; blanks are left."""
_BOLD = re.compile(r"\\(.)|\*\*", re.DOTALL)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|$~:<>&^=])")


def as_number(value: float, digits: int = 3) -> str:
    """Return a number with few digits: 0.79, 12.8, 777,909, 1.6 × 10⁸, 2.5 × 10⁻⁵."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "∞" if value > 0 else "-∞"
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if -4 <= exponent < 6:
        return f"{value:,.{max(digits - 1 - exponent, 0)}f}"
    return f"{value / 10.0**exponent:.{digits - 1}f} × {power(exponent)}"


def power(exponent: int) -> str:
    """10⁻⁵."""
    return f"10{str(exponent).translate(_SUPERSCRIPTS)}"


def as_probability(value: float, digits: int = 3) -> str:
    """Return a probability, delta above all, as 10⁻⁶, 2.5 × 10⁻⁵ or 0.004."""
    if value >= 1e-3 or value == 0:
        return f"{value:.{digits}g}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return power(int(exponent)) if float(mantissa) == 1 else f"{float(mantissa):g} × {power(int(exponent))}"


def delta_caution(delta: float, n_records: int, thing: str = "record") -> str:
    """Why a delta of 1/n or more promises little; empty for a smaller one. ``thing``: what neighbours differ in."""
    count = max(n_records, 2)
    if delta * count < 1 - 1e-9:
        return ""
    size = "is" if delta * count < 1 + 1e-9 else "is more than"
    return f"δ {size} 1/n: a mechanism could publish one {thing}, chosen at random, as it is and still pass."


def epsilon_caution(epsilon: float, thing: str = "record") -> str:
    """Why an epsilon of 10 or more promises little; empty for a smaller one."""
    return "" if epsilon < 10 else (
        f"Almost no privacy: when one {thing} changes, a result may become more than 20,000 times as likely.")


def as_factor(factor: float) -> str:
    """Return a factor to two digits: 0.79×, 7.8×, 2,000 times."""
    if 0 < factor < 1e-4:
        return "below 0.0001×"
    words = as_number(float(f"{factor:.1e}"), 2)
    return f"{words}×" if factor < 9.95 else f"{words} times"


def one_line(text: str) -> str:
    """Return a name on one line, without characters that nobody sees."""
    return " ".join(_UNSEEN.sub("", text).split())


def in_markdown(name: str) -> str:
    """Return a name from a file, with everything Markdown would act on escaped."""
    return _MARKDOWN.sub(r"\\\1", one_line(name))


def in_html(name: str) -> str:
    """Return a name from a file, for HTML and for Plotly's labels."""
    return html.escape(one_line(name))


def as_html(markdown: str) -> str:
    """Markdown of bold and backslash escapes alone as HTML; everything else is text."""
    text = html.escape(markdown)
    bold = sum(match[1] is None for match in _BOLD.finditer(text)) // 2
    tags = iter(["<strong>", "</strong>"] * bold)
    return _BOLD.sub(lambda match: match[1] or next(tags, "**"), text)


def as_text(markdown: str) -> str:
    """Return the same without bold, for text alternatives."""
    return html.unescape(re.sub(r"</?strong>", "", as_html(markdown)))


def capitalised(text: str) -> str:
    """Return the text with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]


def mu_words(mu: float) -> str:
    """Return "μ = 0.844, ρ = 0.356": ρ is that of zero-concentrated privacy (zCDP)."""
    return f"μ = {as_number(mu)}, ρ = {as_number(mu * mu / 2)}"


def at_delta(delta: float, *, pure: bool = False) -> str:
    """Return "at δ = 10⁻⁶"; ``pure``: only box and Laplace noise spent, which needs no delta."""
    return "with δ = 0" if pure else f"at δ = {as_probability(delta)}"


def at_most(mu_is: str) -> str:
    """Return what stands before a number that follows from mu: nothing if mu is exact, else "at most "."""
    return "" if mu_is == "exact" else "at most "


def listed(names: list[str], most: int = 4) -> str:
    """"a, b and c", or "a, b, c and 12 more"."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "nothing"


def spreadsheet_cell(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula."""
    risky = name.lstrip().startswith(("=", "+", "-", "@")) or name[:1] in ("\t", "\r", "\n")
    return f"'{name}" if risky else name


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
