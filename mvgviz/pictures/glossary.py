"""One glossary for pages, report and lesson: a plain sentence for each word, and the symbol behind it."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Word:
    """``behind``: what the literature calls it; ``forms``: how else it is written here."""

    term: str
    plain: str
    behind: str = ""
    forms: tuple[str, ...] = ()

    def is_in(self, text: str) -> bool:
        """Whether the term, or another form of it, stands in the text as a word of its own."""
        lowered = text.lower()
        return any(form.lower() in lowered and re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE)
                   for form in (self.term, *self.forms))

    @property
    def sentence(self) -> str:
        """In Markdown: the term, what it means, what stands behind it."""
        return f"**{self.term}:** {self.plain}{f' (In the literature: {self.behind}.)' if self.behind else ''}"


def _read() -> tuple[Word, ...]:
    text = Path(__file__).with_name("glossary.toml").read_text(encoding="utf-8")
    return tuple(Word(**entry | {"forms": tuple(entry.get("forms", ()))}) for entry in tomllib.loads(text)["word"])


WORDS = _read()


def meaning(term: str) -> str:
    """An entry's plain sentence as a part of another one."""
    plain = next(word.plain for word in WORDS if word.term == term)
    return f"{plain[0].lower()}{plain[1:-1]}"


DELTA_IS = meaning("delta (δ)")


def words_in(text: str) -> list[Word]:
    """The entries that a text uses, in the glossary's order."""
    return [word for word in WORDS if word.is_in(text)]
