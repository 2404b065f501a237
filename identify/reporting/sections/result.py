"""The result at a glance, its verdict, and the findings to know before believing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from identify.inertia import PHI
from identify.reporting.content import Cell, Head, Row, Section, Table, Tile, Tiles, row
from identify.reporting.parameter_table import ABOUT_COM, PRINCIPAL, Shown, parameter_rows
from identify.reporting.rounding import fixed, prefixed, significant
from identify.reporting.verdict import reasons_in_short, verdict_in_words
from identify.validation import ESTIMATE

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

_ENTRIES = 6


def headline(result: FitResult, truth: InertialParameters | None) -> Section:
    """Mass, centre of mass, inertia, and how well the logs are explained."""
    mass, *com = (one.shown for one in parameter_rows(result.estimate, truth, ABOUT_COM)[:4])
    tiles = [
        Tile(f"Mass{result.estimate.of_body}", f"{mass.value} {mass.unit}", mass.interval),
        _com(com, result.estimate),
        _inertia(result),
        _usable(result),
    ]
    if result.carrier is not None:
        carrier = result.carrier.estimate
        (mass,) = (one.shown for one in parameter_rows(carrier, None, ("mass",)))
        tiles.append(Tile(f"Mass{carrier.of_body}", f"{mass.value} {mass.unit}", mass.interval))
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


def _usable(result: FitResult) -> Tile:
    usable = result.verdict.usable
    if usable == "yes":
        return Tile("Usable", "yes", "possible, and explains the data", "good")
    what = "do not use it" if usable == "no" else "with care"
    return Tile("Usable", what, reasons_in_short(result), "warn")


def verdict(result: FitResult, truth: InertialParameters | None) -> Section:
    """What is known of the estimate, each part for itself, and which needs are met."""
    said, found = verdict_in_words(result), result.verdict
    complete = len(found.identifiable) == len(PHI)
    rows = [
        _part("Usable", said.usable, found.usable == "yes"),
        _part("Possible", f"{said.possible}, some density makes this body", found.possible),
        _part("Identifiable", said.identifiable, complete or result.estimate.complete),
        _part("Explains the data", said.explains_data, found.explains_data),
        *(_part(f"Need {need}", answer, found.needs[need]) for need, answer in said.needs.items()),
    ]
    table = Table((Head("Question"), Head("Answer", "prose")), tuple(rows))
    return Section("verdict", f"Verdict{result.estimate.of_body}", (table,))


def _part(name: str, said: str, good: bool) -> Row:
    return row(name, Cell(said, tone="" if good else "warn"))


def _com(shown: list[Shown], estimate: Estimate) -> Tile:
    # Two decimals at the most; the table has all.
    short = (
        text if len(text.partition(".")[2]) <= 2 else fixed(float(text), 2)
        for text in (one.value for one in shown)
    )
    intervals = [one.interval for one in shown]
    detail = "; ".join(intervals)
    if all(interval.startswith("± ") for interval in intervals):
        detail = f"± {', '.join(interval[2:] for interval in intervals)}"
    detail = f"{detail}; from the origin of {estimate.frame_in_words}"
    title = f"Centre of mass{estimate.of_body}"
    return Tile(title, f"{', '.join(short)} {shown[0].unit}", detail)


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
    moments = [one.shown for one in parameter_rows(result.estimate, None, PRINCIPAL)]
    where = f"{moments[0].unit}, about the centre of mass"
    title = f"Principal moments of inertia{result.estimate.of_body}"
    return Tile(title, ", ".join(one.value for one in moments), where)


def _quantity(unit: str, value: float) -> str:
    scale = prefixed(unit, value)
    return f"{significant(scale.of(value), 3)} {scale.name}"


def findings(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """What was found, the gravest first, and what to do about it."""
    if not result.all_findings:
        return None
    rows = [
        row(
            Cell(finding.severity, tone="warn" if finding.asks_for_care else ""),
            finding.code.replace("_", " "),
            str(finding),
        )
        for finding in result.all_findings
    ]
    head = (Head("Severity"), Head("What"), Head("Found, and what to do", "prose"))
    return Section("findings", "Findings", (Table(head, tuple(rows)),))
