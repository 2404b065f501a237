"""The result at a glance, its verdict in words, and the findings to know before believing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from identify.findings import NOT_IDENTIFIED
from identify.inertia import PHI
from identify.pipeline.needs import Need, parse_needs
from identify.reporting.content import Cell, Head, Row, Section, Table, Tile, Tiles, row
from identify.reporting.parameter_table import ABOUT_COM, PRINCIPAL, Shown, parameter_rows
from identify.reporting.rounding import fixed, nines, prefixed, significant
from identify.validation import ESTIMATE

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


@dataclass(frozen=True, slots=True)
class VerdictInWords:
    """What is known of an estimate, each part for itself.

    Attributes:
        usable: yes, with care, or no, and for which reasons.
        possible: yes or no, and that some or no distribution of mass has the parameters.
        identifiable: which parameters the data identify.
        explains_data: yes or no, with the held-out R².
        needs: what was asked for, and whether the intervals meet it.
    """

    usable: str
    possible: str
    identifiable: str
    explains_data: str
    needs: Mapping[str, str]


def verdict_in_words(result: FitResult) -> VerdictInWords:
    """The verdict of a fit in words."""
    verdict, reasons = result.verdict, reasons_in_short(result)
    possible = "yes, some" if verdict.possible else "no, no"
    return VerdictInWords(
        usable=f"{verdict.usable} ({reasons})" if reasons else verdict.usable,
        possible=f"{possible} distribution of mass has these parameters",
        identifiable=_identifiable(result),
        explains_data=_explained(result),
        needs={need.text: _need(need, result) for need in parse_needs(result.settings.needs)},
    )


def reasons_in_short(result: FitResult) -> str:
    """Why an estimate is not to be used, or with care: codes of findings, and needs not met."""
    unusable = result.verdict.usable == "no"
    codes = dict.fromkeys(
        f.code for f in result.findings if (f.severity == "error" if unusable else f.asks_for_care)
    )
    reasons = [code.replace("_", " ") for code in codes]
    reasons += [f"{need} is not met" for need, met in result.verdict.needs.items() if not met]
    return "; ".join(reasons)


def _identifiable(result: FitResult) -> str:
    decided = result.estimate.decided_by
    given = [name for name in PHI if decided[name] == "given"]
    default = [name for name in PHI if decided[name] in (*NOT_IDENTIFIED, "prior")]
    found = len(PHI) - len(given) - len(default)
    said = "all 10 parameters" if found == len(PHI) else f"{found} of 10 parameters"
    said += f"; {', '.join(given)} given" if given else ""
    return said + (f"; not {', '.join(default)}" if default else "")


def _explained(result: FitResult) -> str:
    scores = result.validation.scores
    if scores is None:
        return "not tested, the data are too few to hold some out"
    parts = []
    for kind, axes in (("forces", slice(0, 3)), ("torques", slice(3, 6))):
        pooled = scores.pooled_r_squared(axes)
        parts.append(
            f"{kind} without signal" if np.isnan(pooled) else f"R² of the {kind} {nines(pooled)}"
        )
    said = "yes" if result.verdict.explains_data else "no, the residual is not noise"
    return f"{said} (held out: {', '.join(parts)})"


def _need(need: Need, result: FitResult) -> str:
    reached = need.reached(result.estimate)
    if reached is None:
        return "not met, not identifiable"
    shown = f"± {significant(reached, 2)} {need.unit}"
    return f"met, {shown}" if need.met(result.estimate) else f"not met, {shown}"


_ENTRIES = 6


def headline_section(result: FitResult, truth: InertialParameters | None) -> Section:
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


def verdict_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """What is known of the estimate, each part for itself, and which needs are met."""
    said, found = verdict_in_words(result), result.verdict
    complete = len(found.identifiable) == len(PHI)
    rows = [
        _part("Usable", said.usable, found.usable == "yes"),
        _part("Possible", said.possible, found.possible),
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
    missing = [name for name in PHI if decided[name] in NOT_IDENTIFIED]
    if missing:
        logs = "this log" if len(result.logs) == 1 else "these logs"
        return Tile(
            "Inertia",
            "not identifiable" if len(missing) >= _ENTRIES else "not all identifiable",
            f"{', '.join(missing)}: unidentifiable from {logs}; a default body completes them",
            "warn",
        )
    moments = [one.shown for one in parameter_rows(result.estimate, None, PRINCIPAL)]
    where = f"{moments[0].unit}, about the centre of mass"
    title = f"Principal moments of inertia{result.estimate.of_body}"
    return Tile(title, ", ".join(one.value for one in moments), where)


def _quantity(unit: str, value: float) -> str:
    scale = prefixed(unit, value)
    return f"{significant(scale.of(value), 3)} {scale.name}"


def findings_section(result: FitResult, truth: InertialParameters | None) -> Section | None:
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
