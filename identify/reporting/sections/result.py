"""The result at a glance, and what to know before believing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from identify.inertia import PHI
from identify.reporting.content import Points, Section, Tile, Tiles
from identify.reporting.parameter_table import ABOUT_COM, Shown, parameter_rows
from identify.reporting.rounding import fixed, prefixed, significant
from identify.reporting.sections.body import moment_texts
from identify.validation import ESTIMATE

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

_ENTRIES = 6


def headline(result: FitResult, truth: InertialParameters | None) -> Section:
    """Mass, centre of mass, inertia, verdict, and how well the logs are explained."""
    mass, *com = (row.shown for row in parameter_rows(result.estimate, truth, ABOUT_COM)[:4])
    tiles = [
        Tile("Mass", f"{mass.value} {mass.unit}", mass.interval),
        _com(com),
        _inertia(result),
        _verdict(result),
    ]
    if (scores := result.validation.scores) is not None:
        force, torque = (float(np.linalg.norm(half)) for half in np.split(scores.rms, 2))
        said = _quantity("N", force), f"and {_quantity('N m', torque)}, on data not fitted to"
        tiles.append(Tile("Held-out error, RMS", *said))
    if (replay := result.validation.replay) is not None:
        errors = replay.errors[ESTIMATE]
        angle = significant(float(np.rad2deg(errors.attitude[-1])), 3)
        after = f"and {angle}° after {errors.horizon[-1]:.3g} s of simulation"
        tiles.append(Tile("Replay error, RMS", _quantity("m", float(errors.position[-1])), after))
    return Section("result", "", (Tiles(tuple(tiles)),))


def _com(shown: list[Shown]) -> Tile:
    # Two decimals at the most; the table has all.
    short = (
        text if len(text.partition(".")[2]) <= 2 else fixed(float(text), 2)
        for text in (one.value for one in shown)
    )
    intervals = [one.interval for one in shown]
    detail = "; ".join(intervals)
    if all(interval.startswith("± ") for interval in intervals):
        detail = f"± {', '.join(interval[2:] for interval in intervals)}"
    return Tile("Centre of mass", f"{', '.join(short)} {shown[0].unit}", detail)


def _inertia(result: FitResult) -> Tile:
    decided = result.estimate.decided_by
    missing = [name for name in PHI if decided[name] == "default"]
    if missing:
        logs = "this log" if len(result.logs) == 1 else "these logs"
        return Tile(
            "Inertia",
            "not identifiable" if len(missing) >= _ENTRIES else "not all identifiable",
            f"{', '.join(missing)}: unidentifiable from {logs}; a default body stands in",
            "warn",
        )
    moments, unit = moment_texts(result.estimate)
    where = f"{unit}, about the centre of mass"
    return Tile("Principal moments of inertia", ", ".join(moments), where)


def _verdict(result: FitResult) -> Tile:
    if not result.estimate.parameters.consistent:
        return Tile("Verdict", "Not a possible body", "do not use it", "warn")
    if result.findings:
        return Tile("Verdict", "Possible, but a poor fit", "see the notes before using it", "warn")
    detail = "some density makes this body; optimum proved"
    return Tile("Verdict", "Physically consistent", detail, "good")


def _quantity(unit: str, value: float) -> str:
    scale = prefixed(unit, value)
    return f"{significant(scale.of(value), 3)} {scale.name}"


def notes(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """Notes of readers, checks and validation, each once; those of the replay stand beside it."""
    said = [note for note in result.validation.notes if "replay" not in note.lower()]
    points = tuple(dict.fromkeys((*result.notes, *said)))
    if not points:
        return None
    return Section("notes", "Notes", (Points(points, "warn"),))
