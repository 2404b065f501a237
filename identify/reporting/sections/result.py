"""The result at a glance, and what to know before believing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from identify.inertia import PHI
from identify.reporting.content import Points, Section, Tile, Tiles
from identify.reporting.parameter_table import ABOUT_COM, ParameterRow, parameter_rows
from identify.reporting.rounding import fixed, prefixed, significant
from identify.reporting.sections.body import moment_texts
from identify.validation import ESTIMATE, HeldOutScores, Replay

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

_FORCE, _TORQUE = slice(0, 3), slice(3, 6)
_ENTRIES = 6


def headline(result: FitResult, truth: InertialParameters | None) -> Section:
    """Mass, centre of mass, inertia, verdict, and how well the logs are explained."""
    rows = parameter_rows(result.estimate, truth, ABOUT_COM)
    tiles = [
        Tile("Mass", f"{rows[0].shown.value} {rows[0].shown.unit}", rows[0].shown.interval),
        _com(rows[1:4]),
        _inertia(result),
        _verdict(result),
    ]
    if result.validation.scores is not None:
        tiles.append(_held_out(result.validation.scores))
    if result.validation.replay is not None:
        tiles.append(_replay(result.validation.replay))
    return Section("result", "", (Tiles(tuple(tiles)),))


def _com(rows: tuple[ParameterRow, ...]) -> Tile:
    values = ", ".join(_short(row.shown.value) for row in rows)
    intervals = [row.shown.interval for row in rows]
    detail = "; ".join(intervals)
    if all(interval.startswith("± ") for interval in intervals):
        detail = f"± {', '.join(interval[2:] for interval in intervals)}"
    return Tile("Centre of mass", f"{values} {rows[0].shown.unit}", detail)


def _short(number: str) -> str:
    """A number with two decimals at the most; the table has all."""
    return number if len(number.partition(".")[2]) <= 2 else fixed(float(number), 2)


def _inertia(result: FitResult) -> Tile:
    decided = result.estimate.decided_by
    missing = [name for name in PHI if decided[name] == "default"]
    if missing:
        return Tile(
            "Inertia",
            "not identifiable" if len(missing) >= _ENTRIES else "not all identifiable",
            f"{', '.join(missing)}: unidentifiable from {_these(result)}; a default body stands in",
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


def _held_out(scores: HeldOutScores) -> Tile:
    force, torque = (float(np.sqrt(np.sum(scores.rms[half] ** 2))) for half in (_FORCE, _TORQUE))
    units = prefixed("N", force), prefixed("N m", torque)
    return Tile(
        "Held-out error, RMS",
        f"{significant(units[0].of(force), 3)} {units[0].name}",
        f"and {significant(units[1].of(torque), 3)} {units[1].name}, on data not fitted to",
    )


def _replay(replay: Replay) -> Tile:
    errors = replay.errors[ESTIMATE]
    distance, angle = float(errors.position[-1]), float(np.rad2deg(errors.attitude[-1]))
    unit = prefixed("m", distance)
    return Tile(
        "Replay error, RMS",
        f"{significant(unit.of(distance), 3)} {unit.name}",
        f"and {significant(angle, 3)}° after {errors.horizon[-1]:.3g} s of simulation",
    )


def _these(result: FitResult) -> str:
    return "this log" if len(result.logs) == 1 else "these logs"


def notes(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """Notes of readers, checks and validation, each once; those of the replay stand beside it."""
    said = [note for note in result.validation.notes if "replay" not in note.lower()]
    points = tuple(dict.fromkeys((*result.notes, *said)))
    if not points:
        return None
    return Section("notes", "Notes", (Points(points, "warn"),))
