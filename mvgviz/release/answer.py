"""A released answer and everything public about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.accounting import zcdp_rho
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin, Range
from mvgviz.query.queries import Query, kind_of
from mvgviz.query.record_bound import RecordBound
from mvgviz.release.box_noise import Lattice
from mvgviz.release.entries import in_words
from mvgviz.release.intervals import LEVEL, DataUnits, EntryNoise, data_units
from mvgviz.release.secure_noise import Hardening
from mvgviz.scenario.bound import most_clipped
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Announced:
    """Everything public about a release, known before its noise is drawn."""

    query: str
    row_names: tuple[str, ...] | None = field(repr=False)
    col_names: tuple[str, ...] | None = field(repr=False)
    neighbour_rule: str
    sensitivity: float
    n_records: int | None
    mode: str
    calibrated_by: str
    design: str
    origins: Mapping[str, Origin]
    mu: float
    mu_is: str
    epsilon: float
    delta: float
    epsilon_asked: float
    ranges: Mapping[str, Range] | None = field(repr=False)
    declared_ranges: Mapping[str, Range] | None = field(repr=False)
    bound: RecordBound | None = field(repr=False)
    caveats: tuple[str, ...]
    symmetrised: bool
    row_noise: NoiseSide | None = field(repr=False)
    col_noise: NoiseSide | None = field(repr=False)
    entry_noise: EntryNoise | None = field(repr=False)
    hardening: Hardening | Lattice = field(repr=False)
    version: str
    opendp_version: str
    data: str | None
    scenario: Scenario | None = field(repr=False)
    title: str = ""
    units: Mapping[str, str] = field(default_factory=dict, repr=False)
    gaps: str = ""
    per_person: int | None = None
    family: str = "gaussian"
    epsilon_pure: float = 0.0
    together: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Release(Announced):
    """A noisy answer, rows × cols and read-only, and everything public about it.

    ``mu``: of noise and private directions together, which spends ``epsilon`` at ``delta``. ``epsilon_pure``: what box
    or Laplace noise spends with delta = 0. ``together``: what all answers of a release together spend, in words.
    ``caveats``: what was read from the data, which the guarantee does not cover (keys of ``CAVEATS``).
    ``declared_ranges``: ``ranges`` in the data's units, if those differ. ``row_noise``, ``col_noise``: the covariance
    as designed (None: the identity, too large, or not private itself); the drawn noise is larger by the factor
    ``hardening.noise_std``. ``entry_noise``: None if the shape of the noise is not private. ``per_person``: how many
    records of a person were kept; None if persons are unknown. ``number``: its place in the ledger.
    """

    noisy: FloatArray = field(repr=False)
    time: str
    number: int | None = None
    certificate: str = field(default="", repr=False)

    @property
    def not_covered(self) -> tuple[str, ...]:
        """Return in words what the guarantee does not cover."""
        return in_words(self.caveats)

    @property
    def chosen_on_data(self) -> tuple[str, ...]:
        """Return the used fields of the scenario that were chosen by looking at the data."""
        return () if self.scenario is None else self.scenario.read_among(self.scenario.from_data)

    @property
    def rho(self) -> float:
        """Return ``mu²/2``, the ρ of zero-concentrated privacy (zCDP)."""
        return zcdp_rho(self.mu)

    @property
    def kind(self) -> type[Query]:
        return kind_of(self.query)

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of rows and columns."""
        return self.kind.names_of(self.noisy.shape, self.row_names, self.col_names)

    @property
    def data_units(self) -> DataUnits | None:
        """Return how to convert the answer to the data's units; None if it already has them or cannot."""
        if self.scenario is None or self.declared_ranges is None:
            return None
        return data_units(self.kind, self.scenario.scale, self.declared_ranges, self.row_names)

    @property
    def most_clipped(self) -> FloatArray | None:
        """Return how far clipping can have moved each number; None without clipping, or if it is not public."""
        if self.bound is None or not self.bound.origin.is_covered or self.ranges is None:
            return None
        lower, upper = np.array([ends[:2] for ends in self.ranges.values()], dtype=np.float64).T
        return most_clipped(self.kind, self.bound, lower, upper)

    @property
    def known_noise(self) -> EntryNoise:
        """Return the noise for intervals; raise `InputError` if it is not private."""
        if self.entry_noise is None:
            raise InputError("this release has no intervals: the shape of its noise was read from the data; choose "
                             "directions and shares without the data")
        return self.entry_noise

    @property
    def in_units(self) -> FloatArray:
        """Return the noisy answer in the data's units, if it can be converted."""
        return self.noisy if self.data_units is None else self.data_units.of(self.noisy)

    def half_widths(self, level: float = LEVEL, *, in_units: bool = False) -> FloatArray:
        """Return half the width of each number's interval, which holds the answer without noise ``level`` of the time.

        With a clipping bound that is the answer of the clipped records; clipping may add ``most_clipped``.
        """
        widths = self.known_noise.half_widths(level)
        return self.data_units.widths(widths) if in_units and self.data_units is not None else widths

    def to_frame(self, level: float = LEVEL) -> Any:
        """Return a pandas frame: names, value and interval of each number, in the data's units if known."""
        from mvgviz.release.files import interval_frame

        return interval_frame(self, level)

    @property
    def guarantee(self) -> str:
        """Return the guarantee in one sentence."""
        at = "with delta = 0" if self.epsilon_pure and not self.mu else f"at delta {self.delta:.6g}"
        words = f"epsilon {self.epsilon:.6g} {at} ({self.neighbour_rule})"
        left_out = ", ".join(self.not_covered)
        return f"the noise alone gives {words}; not covered: {left_out}" if left_out else words
