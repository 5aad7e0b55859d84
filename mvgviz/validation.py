"""Checks of arguments, shared by every public function.

Each check states the *good* condition, so that NaN fails too, and returns the value in the form the engine works with.
Arrays come back as read-only copies. Private values never appear in a message; positions and counts do.
"""

import json
from collections.abc import Iterable
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from mvgviz.errors import InputError, refuse

FloatArray: TypeAlias = npt.NDArray[np.float64]

LARGEST = 1e150  # settings lie between this and its inverse
MOST_JSON = 4 * 2**20  # bytes, or characters, of a file of choices: a study, a plan, ranges, a ledger
MOST_POPULATION = 200  # characters of the name of a population, in a study and in a ledger

_Kind = TypeVar("_Kind")
_NOT_NUMBERS = str | bytes | bytearray | memoryview
_SMALLEST_SHARE = 1e-100


def number(name: str, value: Any) -> float:
    """Return a finite float."""
    _refuse_learned(name, value)
    try:
        if isinstance(value, _NOT_NUMBERS | np.complexfloating):  # float() would take them
            raise TypeError
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, got {_shown(value)}") from None
    refuse(not np.isfinite(result), f"{name} must be finite, got {result}")
    return result


def parsed_json(text: str | bytes, refusal: str) -> Any:
    """What a JSON text holds; ``refusal`` is said where it is none, too long, nested without end or no text at all."""
    try:
        if len(text) <= MOST_JSON:
            plain = text.decode(json.detect_encoding(text)) if isinstance(text, bytes) else text
            held = json.loads(plain)
            if not plain.isascii() or "\\ud" in plain.lower():  # halves of a character could be written nowhere
                json.dumps(held, ensure_ascii=False).encode()
            return held
    except (ValueError, TypeError, RecursionError):
        pass
    raise InputError(refusal)


def positive(name: str, value: Any, *, least: float = 1 / LARGEST, most: float = LARGEST) -> float:
    """Return a float above 0, and far enough from the ends of the range for its square to be one too."""
    result = number(name, value)
    refuse(not result > 0, f"{name} must be positive, got {result:g}")
    return within(name, result, least=least, most=most)


def within(name: str, value: Any, *, least: float, most: float, unit: str = "") -> float:
    """Return a float from ``least`` to ``most``."""
    result = number(name, value)
    refuse(not least <= result <= most, f"{name} must lie between {least:g} and {most:g}{unit}, got {result:g}")
    return result


def fraction(name: str, value: Any) -> float:
    """Return a float strictly between 0 and 1."""
    result = number(name, value)
    refuse(not 0 < result < 1, f"{name} must lie strictly between 0 and 1, got {result:g}")
    return result


def epsilon_delta(name: str, value: Any) -> tuple[float, float]:
    """Return a pair (epsilon, delta)."""
    try:
        epsilon, delta = value
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a pair (epsilon, delta)") from None
    return positive(f"the {name}'s epsilon", epsilon), fraction(f"the {name}'s delta", delta)


def count(name: str, value: Any, *, at_least: int = 1, at_most: int = 10**9) -> int:
    """Return a whole number from ``at_least`` to ``at_most``."""
    whole = number(name, value)
    if not (whole == int(whole) and whole >= at_least):
        raise InputError(f"{name} must be a whole number of at least {at_least}, got {_shown(value)}")
    refuse(not whole <= at_most, f"{name} must be at most {at_most}, got {_shown(value)}")
    return int(value)


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of a few words."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}, got {_shown(value)}")
    return str(value)


def numbers(name: str, value: Any, *, above: float = -np.inf, below: float = np.inf,
            closed: bool = False) -> FloatArray:
    """Return a scalar or array of public settings, each finite and inside (above, below).

    With ``closed`` the ends are allowed. The first value that breaks the rule is
    named: use :func:`array` for anything that may be private.
    """
    result = _as_floats(name, value)
    with np.errstate(invalid="ignore"):
        inside = (result >= above) & (result <= below) if closed else (result > above) & (result < below)
    good = np.isfinite(result) & inside
    if not good.all():
        first = result[~good].flat[0] if result.ndim else result
        refuse(not np.isfinite(first), f"{name} must be finite, got {first}")
        if above == 0 and below == np.inf:
            rule = "not be negative" if closed else "be positive"
        else:
            rule = f"lie {'' if closed else 'strictly '}between {above:g} and {below:g}"
        raise InputError(f"{name} must {rule}, got {first:g}")
    return result


def broadcast(**named: FloatArray) -> tuple[FloatArray, ...]:
    """Arrays of one common shape."""
    try:
        return np.broadcast_arrays(*named.values())
    except ValueError:
        shapes = " and ".join(f"{name} {values.shape}" for name, values in named.items())
        raise InputError(f"shapes must fit each other, got {shapes}") from None


def instance(name: str, value: Any, kind: type[_Kind]) -> _Kind:
    """Return an object of this class."""
    if not isinstance(value, kind):
        raise InputError(f"{name} must be a {kind.__name__}, got a {type(value).__name__}")
    return value


def generator(rng: Any) -> np.random.Generator:
    """Return a numpy random generator."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator, got {_shown(rng)}")
    return rng


def array(name: str, value: Any, *, ndim: int) -> FloatArray:
    """Return a read-only, finite, non-empty float array of ``ndim`` dimensions, copied in."""
    result = np.array(_as_floats(name, value), order="C")
    if result.ndim != ndim:
        raise InputError(f"{name} must be {'a vector' if ndim == 1 else 'a matrix'}, got {result.ndim} dimension(s)")
    refuse(result.size == 0, f"{name} must not be empty, got shape {result.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        finite = bool(np.isfinite(result.sum()) or np.isfinite(result).all())
    if not finite:
        bad = np.argwhere(~np.isfinite(result)).tolist()
        raise InputError(f"{name} must be finite, got NaN or infinite entries: {len(bad)}, the first at "
                         f"{tuple(bad[0])}")
    return frozen(result)


def square(name: str, value: Any) -> FloatArray:
    """Return a read-only, finite square matrix."""
    result = array(name, value, ndim=2)
    refuse(result.shape[0] != result.shape[1], f"{name} must be square, got shape {result.shape}")
    return result


def shares(name: str, value: Any, *, size: int | None = None) -> FloatArray:
    """Return a theta: positive parts that sum to 1 within 1e-9, rescaled to sum to 1."""
    result = array(name, value, ndim=1)
    if size is not None and result.size != size:
        raise InputError(f"{name} must have one entry for each of the {size} directions, got {result.size}")
    if not (result >= _SMALLEST_SHARE).all():
        worst = int(np.argmin(result))
        rule = "positive" if result[worst] <= 0 else f"at least {_SMALLEST_SHARE:g}"
        raise InputError(f"{name} must be {rule} everywhere (no share means infinite noise), "
                         f"got {result[worst]:g} at position {worst}")
    total = float(result.sum())
    refuse(not abs(total - 1) <= 1e-9, f"{name} must sum to 1, got {total:.12g}")
    return frozen(result / total)


def non_negative(name: str, value: Any) -> FloatArray:
    """Return a vector: no entry negative, not all zero."""
    result = array(name, value, ndim=1)
    if not (result >= 0).all():
        worst = int(np.argmin(result))
        raise InputError(f"{name} must not be negative, got {result[worst]:g} at position {worst}")
    refuse(not result.max() > 0, f"{name} must not all be zero")
    return result


def frozen(values: FloatArray) -> FloatArray:
    """Return the same array, no longer writable."""
    values.setflags(write=False)
    return values


def _refuse_learned(name: str, value: Any) -> None:
    """Refuse numbers with receipts where nothing counts them."""
    refuse(hasattr(value, "receipts"), f"{name} was learned from the data, and this function does not count what that "
           "spent. Use it as weights or centre of a RecordBound, or as theta or directions of design_noise")


def _as_floats(name: str, value: Any) -> FloatArray:
    for one in value if isinstance(value, list | tuple) else (value,):
        _refuse_learned(name, one)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(f"{name} must have no masked entries")
    try:
        raw = np.asarray(value)
        if not isinstance(value, _NOT_NUMBERS) and raw.dtype.kind in "biufO":  # not text, not complex, not dates
            return np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"{name} must hold numbers only, in rows of one length")


def _shown(value: Any) -> str:
    if isinstance(value, str | int | float | bool) or value is None:
        text = repr(value)
        return text if len(text) <= 40 else text[:37] + "..."
    return f"a {type(value).__name__}"
