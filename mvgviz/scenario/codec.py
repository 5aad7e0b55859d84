"""One declaration for each field of what people save: its default, what it may hold, how a link or file says it."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import field, fields
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple, Self

from mvgviz.errors import InputError, refuse
from mvgviz.text import listed
from mvgviz.validation import count, number, one_of, parsed_json

VERSION = 1  # of every file
_EMPTY = "none"
_MOST_POSITIONS = 10_000


class Kind(NamedTuple):
    """What a field may hold, by its name: ``check`` returns a value as it is stored, ``from_link`` reads a link's."""

    check: Callable[[str, Any], Any]
    from_link: Callable[[str, str], Any] = lambda name, text: text


def held(default: Any, kind: Kind, part: str = "", used: Callable[[Any], bool] = lambda owner: True, **options: Any
         ) -> Any:
    """Declare a field of a dataclass, which may be None if that is its default; ``used``: whether it changes anything;
    ``part``: what it decides, if it can be marked as chosen by looking at the data.
    """
    return field(default=default, metadata={"kind": kind, "part": part, "used": used}, **options)


@cache
def declared(cls: Any, key: str = "kind") -> dict[str, Any]:
    """Return what the fields of a class declare, by name: their "kind", their "part" or when they are "used"."""
    return {each.name: each.metadata[key] for each in fields(cls) if key in each.metadata}


def check_fields(owner: Any) -> None:
    """Check every declared field and put it into the form in which it is held."""
    for name, kind in declared(owner.__class__).items():
        value = getattr(owner, name)
        if value is not None or getattr(owner.__class__, name, "") is not None:  # the second is its default
            object.__setattr__(owner, name, kind.check(name, value))


def to_link(value: Any) -> str:
    """Return a value as the text of a link."""
    if value is None or value == ():
        return _EMPTY
    if isinstance(value, tuple):
        return "-".join(map(str, value))
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def from_link(cls: type, name: str, text: str) -> Any:
    """Return the value of one parameter of a link, unchecked; a text where the class has no such field."""
    refuse(not isinstance(text, str) or len(text) > 100_000, f"{name} in the link must be a short text")
    kind = declared(cls).get(name)
    return text if kind is None else kind.from_link(name, text)


class Saved:
    """A dataclass that is saved as JSON; ``called``: what a sentence calls the file."""

    called: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return what stands in the file, with the version of its format."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """Return what :meth:`to_dict` gave; refuse other versions, unknown parts and values out of range."""
        raise NotImplementedError

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        return cls.from_dict(parsed_json(text, f"{cls.called} must be JSON, as downloaded from mvgviz, and small"))


def check_parts(content: Any, called: str, mark: str, **parts: type) -> None:
    """Refuse a file with another version (the key ``mark``) or with other parts."""
    refuse(isinstance(content, dict) and content.get(mark, VERSION) != VERSION,
           f"{called} must have version {VERSION}, got another; open it with the mvgviz that saved it")
    if not (isinstance(content, dict) and set(content) == {mark, *parts}
            and all(isinstance(content[name], kind) for name, kind in parts.items())):
        names = [f'"{mark}" (the version)', *(f'"{name}"' for name in parts)]
        raise InputError(f"{called} must hold {listed(names, len(names))}")


def choice(choices: Iterable[str]) -> Kind:
    """Declare one of a few words."""
    return Kind(partial(one_of, choices=tuple(choices)))


def real(check: Callable[..., float] = number, **limits: Any) -> Kind:
    """Declare a number, checked by a function of ``mvgviz.validation``."""
    return Kind(partial(check, **limits), partial(_number_in_link, float))


def whole(**limits: Any) -> Kind:
    """Declare a whole number."""
    return Kind(partial(count, **limits), partial(_number_in_link, int))


def position() -> Kind:
    """Declare a position, counted from 0."""
    return Kind(lambda name, value: _positions(name, [value])[0], partial(_number_in_link, int))


def positions(size: int | None = None) -> Kind:
    """Declare different positions, counted from 0: of a given number in the order given, else sorted."""
    def checked(name: str, value: Any) -> tuple[int, ...]:
        found = _positions(name, value)
        refuse(len(set(found)) != len(found), f"{name} must be different positions")
        refuse(size not in (None, len(found)), f"{name} must be a pair of positions")
        return tuple(sorted(found)) if size is None else found

    return Kind(checked, _numbers_in_link)


def parts() -> Kind:
    """Declare whole parts of something, each at least 1."""
    return Kind(partial(_whole_numbers, at_least=1), _numbers_in_link)


def words(choices: Callable[[], Iterable[str]]) -> Kind:
    """Declare some of the choices, in their order."""
    def checked(name: str, value: Any) -> tuple[str, ...]:
        known = tuple(choices())
        refuse(isinstance(value, str) or not hasattr(value, "__iter__"),
               f"{name} must be a sequence of words from {', '.join(known)}")
        chosen = {one_of(name, word, known) for word in value}
        return tuple(word for word in known if word in chosen)

    return Kind(checked, lambda name, text: () if text == _EMPTY else tuple(text.split("-")))


def text(of: str, most: int | None = None) -> Kind:
    """Declare text of any length, or of at most so many characters; ``of``: what it belongs to, for the sentence."""
    def checked(name: str, value: Any) -> str:
        if not (isinstance(value, str) and (most is None or len(value) <= most)):
            rule = f", got a {type(value).__name__}" if most is None else f" of at most {most} characters"
            raise InputError(f"{name} of {of} must be text{rule}")
        return value

    return Kind(checked)


def _number_in_link(convert: Callable[[str], float], name: str, text: str) -> float | None:
    try:
        return None if text == _EMPTY else convert(text)
    except ValueError:
        raise InputError(f"{name} in the link must be a number") from None


def _numbers_in_link(name: str, text: str) -> tuple[int, ...]:
    if text == _EMPTY:
        return ()
    refuse(not re.fullmatch(r"\d{1,9}(-\d{1,9})*", text, re.ASCII), f"{name} in the link must be numbers joined by -")
    return tuple(int(part) for part in text.split("-"))


def _positions(name: str, value: Any) -> tuple[int, ...]:
    """Positions: names need the dataset that has them."""
    refuse(isinstance(value, list | tuple) and any(isinstance(each, str) for each in value),
           f"{name} must be positions in a scenario; scenario.on(dataset, {name}=…) takes names")
    return _whole_numbers(name, value, at_least=0)


def _whole_numbers(name: str, value: Any, *, at_least: int) -> tuple[int, ...]:
    refuse(isinstance(value, str) or not hasattr(value, "__iter__"), f"{name} must be a sequence of whole numbers")
    entries = tuple(value)
    refuse(len(entries) > _MOST_POSITIONS, f"{name} must have at most {_MOST_POSITIONS} entries, got {len(entries)}")
    return tuple(count(name, entry, at_least=at_least) for entry in entries)
