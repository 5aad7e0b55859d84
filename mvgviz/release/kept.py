"""A released answer as a ledger keeps it: certificate and noisy numbers, both public, and the way back to a release."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mvgviz.errors import InputError
from mvgviz.noise.directions import Directions, standard_basis
from mvgviz.noise.sides import NoiseSide
from mvgviz.provenance import Origin, Range, Receipt
from mvgviz.query.queries import of_person, of_record
from mvgviz.query.record_bound import RecordBound
from mvgviz.release.answer import Release
from mvgviz.release.box_noise import Lattice
from mvgviz.release.entries import Entry
from mvgviz.release.files import to_metadata_json
from mvgviz.release.intervals import EntryNoise
from mvgviz.release.ledger_file import Answer
from mvgviz.release.secure_noise import Hardening
from mvgviz.scenario.scenario import Scenario
from mvgviz.validation import FloatArray, frozen

MOST_KEPT = 2_000_000  # numbers of an answer that a ledger keeps: 16 MB; of a larger one it keeps the entry alone
_NUMBERS = np.dtype("<f8")


def keep(release: Release, number: int) -> tuple[Release, Answer | None]:
    """Return the release with its place in the ledger, and what to keep of it; None if it is too large."""
    if release.noisy.size > MOST_KEPT:
        return release, None
    certificate = to_metadata_json(release)
    return (replace(release, number=number, certificate=certificate),
            Answer(certificate, release.noisy.astype(_NUMBERS).tobytes()))


def restored(entry: Entry, answer: Answer) -> Release:
    """Return the release kept with this entry; raise `InputError` if this version cannot read it."""
    try:
        return _restored(json.loads(answer.certificate), entry, answer)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"this version of mvgviz cannot read the answer kept with release {entry.number}; use a "
                         "newer one") from None


def _restored(held: dict[str, Any], entry: Entry, answer: Answer) -> Release:
    query, promise, noise, ranges = held["query"], held["guarantee"], held["noise"], held["ranges"]
    prepared = held.get("prepared", {})
    origins = {what: Origin(origin) for what, origin in held["origins"].items() if what != "chosen_on_the_data"}
    asked = _ranges(ranges["of_the_numbers_asked"], ranges["origins"])
    declared = _ranges(ranges["of_the_data"], ranges.get("origins_of_the_data", ranges["origins"]))
    row_names, col_names = (names and tuple(names) for names in (query["row_names"], query["col_names"]))
    row_noise, col_noise = _side(noise["rows"]), _side(noise["cols"])
    per_person = prepared.get("records_per_person")
    numbers = np.frombuffer(answer.numbers, dtype=_NUMBERS).astype(np.float64).reshape(query["rows"], query["cols"])
    return Release(
        query=query["name"], row_names=row_names, col_names=col_names,
        neighbour_rule=query["neighbours"] if per_person is None else of_person(query["neighbours"]),
        sensitivity=query["sensitivity"], n_records=query["records"],
        mode=noise["mode"], calibrated_by=promise["calibrated_by"], design=noise["design"], origins=origins,
        mu=promise["mu"], mu_is=promise["mu_is"], epsilon=promise["epsilon"], delta=promise["delta"],
        epsilon_asked=promise["epsilon_asked"], ranges=asked, declared_ranges=None if declared == asked else declared,
        bound=_bound(held, origins), caveats=tuple(promise["caveats_accepted"]), symmetrised=noise["symmetrised"],
        row_noise=row_noise, col_noise=col_noise, hardening=_hardening(held["hardening"]),
        family=noise.get("family", "gaussian"), epsilon_pure=promise.get("epsilon_pure", 0.0),
        together=promise.get("together", ""),
        entry_noise=_entry_noise(held, row_noise, col_noise), version=held["versions"]["mvgviz"],
        opendp_version=held["versions"]["opendp"], data=held["data"], title=held["title"],
        units=dict(held["units"] or {}), gaps=prepared.get("gaps", ""), per_person=per_person,
        noisy=frozen(numbers), time=held["time"], number=entry.number,
        scenario=None if held["scenario"] is None else Scenario.from_json(json.dumps(held["scenario"])),
        certificate=answer.certificate)


def _hardening(saved: dict[str, Any]) -> Hardening | Lattice:
    if "steps" not in saved:
        return Hardening(**saved)
    return Lattice(**saved | {name: tuple(map(tuple, saved[name]) if name == "blocks" else saved[name])
                             for name in ("blocks", "families", "epsilons")})


def _ranges(ends: Mapping[str, list[float]] | None, origins: Mapping[str, str] | None) -> dict[str, Range] | None:
    """Return ranges with their origins; an unknown origin counts as read from the data."""
    if ends is None:
        return None
    known = origins or {}
    return {name: Range(low, high, Origin(known.get(name, Origin.READ))) for name, (low, high) in ends.items()}


def _side(saved: dict[str, Any] | None) -> NoiseSide | None:
    if saved is None:
        return None
    variances = np.array(saved["variances"], dtype=np.float64)
    turned = saved["directions"]
    return NoiseSide.of(standard_basis(variances.size) if turned is None else
                        Directions(size=variances.size, rotated=np.array(turned), label="as released"), variances)


def _entry_noise(held: dict[str, Any], rows: NoiseSide | None, cols: NoiseSide | None) -> EntryNoise | None:
    """Return the noise for intervals; None if the certificate does not hold all of it."""
    saved = held["intervals"]
    if saved is None or saved["std_rows"] is None or saved["std_cols"] is None:
        return None
    hardening = _hardening(held["hardening"])
    shared, factor = None, held["noise"]["larger_than_designed_by_factor"]
    if saved["entries_share_noise"]:
        if rows is None or cols is None:
            return None
        shared = frozen(rows.covariance() * cols.covariance() * factor**2)
    return EntryNoise(rows=_spread(saved["std_rows"], held["query"]["rows"]), shared=shared,
                      cols=_spread(saved["std_cols"], held["query"]["cols"]), rounding=saved["rounding_in_std"],
                      symmetrised=held["noise"]["symmetrised"],
                      blocks=hardening.noise if isinstance(hardening, Lattice) else ())


def _spread(values: float | list[float], size: int) -> FloatArray:
    """Return an array of this size; a single number stands for all entries."""
    return frozen(np.broadcast_to(np.asarray(values, dtype=np.float64), (size,)).copy())


def _bound(held: dict[str, Any], origins: Mapping[str, Origin]) -> RecordBound | None:
    """Return the clipping bound; one without numbers counts as read from the data."""
    saved = held["record_bound"]
    if saved is None:
        return None
    origin, query = Origin(saved["origin"]), held["query"]
    if saved["radius"] is None:
        return RecordBound(radius=1.0, origin=Origin.READ)
    receipts = () if not saved["mu_spent_on_its_radius"] else (Receipt(
        what="radius", mu=saved["mu_spent_on_its_radius"], neighbour_rule=of_record(query["neighbours"]),
        n_records=query["records"], ranges_origin=origins.get("ranges", Origin.DECLARED),
        records_origin=origins.get("records", Origin.DECLARED)),)
    return RecordBound(radius=saved["radius"], weights=_one_or_many(saved["weights"]), origin=origin, receipts=receipts,
                       centre=_one_or_many(saved["centre"]))


def _one_or_many(values: float | list[float]) -> FloatArray | float:
    return np.array(values) if isinstance(values, list) else values
