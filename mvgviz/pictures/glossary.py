"""One glossary for pages, report and lesson: a plain sentence for each word, and the symbol behind it."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Word:
    """``behind``: what the literature calls it; ``forms``: how else it is written here."""

    term: str
    plain: str
    behind: str = ""
    forms: tuple[str, ...] = ()

    def is_in(self, text: str) -> bool:
        lowered = text.lower()
        return any(form.lower() in lowered and re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE)
                   for form in (self.term, *self.forms))

    @property
    def sentence(self) -> str:
        return f"**{self.term}:** {self.plain}{f' (In the literature: {self.behind}.)' if self.behind else ''}"


def _entries(file: str, key: str) -> list[dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))[key]  # type: ignore[no-any-return]


WORDS = tuple(Word(**entry | {"forms": tuple(entry.get("forms", ()))}) for entry in _entries("glossary.toml", "word"))


def others_words() -> str:
    """Return what others chose for epsilon, whom that protects and the source, a line each."""
    return "\n".join(f"* ε = {use['epsilon']:g}: {use['who']} ({use['protects']}; {use['source']})"
                     for use in _entries("others.toml", "use"))


def meaning(term: str) -> str:
    """Return an entry's plain sentence as a part of another sentence."""
    plain = next(word.plain for word in WORDS if word.term == term)
    return f"{plain[0].lower()}{plain[1:-1]}"


DELTA_IS = meaning("delta (δ)")


def words_in(text: str) -> list[Word]:
    """Return the entries that a text uses, in the glossary's order."""
    return [word for word in WORDS if word.is_in(text)]
