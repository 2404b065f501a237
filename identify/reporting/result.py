"""Whether a result may be used and how: its verdict in words, findings, and texts to copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from identify.errors import ModelError
from identify.exchange import export_body
from identify.exchange.controllers import CONTROLLERS
from identify.findings import NOT_IDENTIFIED
from identify.inertia import PHI
from identify.pipeline.needs import Need, parse_needs
from identify.reporting.content import (
    Block,
    Cell,
    Head,
    Listing,
    ReportTable,
    Row,
    Section,
    Text,
    Tone,
    row,
)
from identify.reporting.rounding import nines, significant
from identify.texts import json_text

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
        f.code
        for f in result.findings
        if (f.severity == "error" if unusable else f.asks_for_care) and f.code != "need_unmet"
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


_ANSWERS: dict[str, tuple[str, Tone]] = {
    "yes": ("Yes. The body is possible, the logs identify it, and it explains them.", "good"),
    "with care": ("With care, because of: {reasons}.", "warn"),
    "no": ("No. Do not use this estimate, because of: {reasons}.", "bad"),
}


def verdict_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """Whether the estimate may be used, what was found, each part of the verdict, and the needs."""
    said, found = verdict_in_words(result), result.verdict
    answer, tone = _ANSWERS[found.usable]
    complete = len(found.identifiable) == len(PHI)
    rows = [
        _part("Usable", said.usable, found.usable == "yes"),
        _part("Possible", said.possible, found.possible),
        _part("Identifiable", said.identifiable, complete or result.estimate.complete),
        # By how much is said where the logs are.
        _part(
            "Explains the data", said.explains_data.partition(" (held out")[0], found.explains_data
        ),
        *(_part(f"Need {need}", answer, found.needs[need]) for need, answer in said.needs.items()),
    ]
    table = ReportTable((Head("Question"), Head("Answer", "prose")), tuple(rows))
    blocks = [Text(answer.format(reasons=reasons_in_short(result))), *_findings(result), table]
    what = f"the {result.estimate.body}" if result.estimate.of_body else "it"
    return Section("verdict", f"May {what} be used?", tuple(blocks), tone)


def _part(name: str, said: str, good: bool) -> Row:
    return row(name, Cell(said, tone="" if good else "warn"))


def _findings(result: FitResult) -> tuple[ReportTable, ...]:
    """What was found, the gravest first, and what to do about it; with the first body of a fit."""
    found = result.all_findings if result.estimate.others or not result.estimate.of_body else ()
    rows = [
        row(
            Cell(finding.severity, tone="warn" if finding.asks_for_care else ""),
            finding.code.replace("_", " "),
            str(finding),
        )
        for finding in found
    ]
    head = (Head("Severity"), Head("What"), Head("Found, and what to do", "prose"))
    return (ReportTable(head, tuple(rows)),) if rows else ()


_FORMS = {"ur": "Universal Robots", "kuka": "KUKA", "urdf": "URDF", "mjcf": "MJCF (MuJoCo)"}
"""What is shown, by the names of `identify export`, which knows more."""


_NO_FLANGE = (
    "Controllers take a payload about the flange, and the schema does not say where that is in the "
    "body frame: [body.flange] of the schema, or --at of identify export, says it."
)


def use_section(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """Texts to paste, each with its frame; none of what is not to be used."""
    estimate = result.estimate
    if result.verdict.usable == "no" or "nothing" in estimate.decided_by.values():
        return None
    known = estimate.frames.flange is not None
    forms = {n: title for n, title in _FORMS.items() if known or n not in CONTROLLERS}
    blocks = [_listing(estimate, name, title) for name, title in forms.items()]
    if not known:
        blocks.insert(0, Text(_NO_FLANGE, "muted"))
    said = json_text(
        {
            "mass": estimate.mass,
            "com": estimate.com.tolist(),
            "inertia_about_com": estimate.inertia_about_com.tolist(),
        }
    )
    what = f"the {estimate.body}" if estimate.of_body else "it"
    note = f"kg, m, kg m²; about {estimate.frame_description}, in its axes."
    more = Text(
        "The command identify export writes these and other forms, and puts the body into a model.",
        "muted",
    )
    blocks = (*blocks, Listing("JSON", said, copied=True, note=note), more)
    return Section("use", f"Use {what}", blocks)


def _listing(estimate: Estimate, name: str, title: str) -> Block:
    try:
        made = export_body(estimate, name)
    except ModelError as error:
        return Text(f"{title}: {error}.", "muted")
    notes = "; ".join((*made.notes, *made.lost))
    return Listing(title, made.text.rstrip(), copied=True, note=f"{notes[:1].upper()}{notes[1:]}.")
