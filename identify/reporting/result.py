"""Report sections of the verdict with the findings, and of exports to other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.errors import ModelError
from identify.estimation.scale_accuracy import WITH_SCALE_FROM_LOG
from identify.estimation.settings import CARRIER
from identify.exchange import export_body
from identify.exchange.controllers import CONTROLLERS
from identify.exchange.export_marks import (
    can_be_placed,
    export_marks,
    misplaced_origin,
    unusable_for_export,
)
from identify.exchange.rounding import DEFAULT_DIGITS
from identify.findings import (
    PRECISION_CODES,
    UNIDENTIFIED_SOURCES,
    Finding,
    findings_requiring_care,
)
from identify.inertia import PHI
from identify.pipeline.required_precision import (
    INTERVAL_NAMES,
    QUANTITY_NAMES,
    WRENCH_LIMITS,
    RequiredPrecision,
    parse_required_precision,
    shown_names,
)
from identify.reporting.content import (
    Block,
    Cell,
    Head,
    Listing,
    ReportTable,
    Section,
    Text,
    Tone,
    make_table,
)
from identify.reporting.parameter_table import MECHANISM_MEANING, rounded_parameters
from identify.reporting.rounding import format_r_squared, format_significant
from identify.texts import json_text

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import Result


@dataclass(frozen=True, slots=True)
class VerdictInWords:
    """Verdict of a fit, one sentence for each of its parts.

    Attributes:
        usable: yes, with care, or no, and the reasons.
        physically_consistent: whether the parameters are physically consistent.
        identifiable: the parameters that the data identify.
        explains_data: whether the residual is noise, with the held-out R².
        needs: whether the intervals meet each required half-width.
        quantities: whether mass, centre of mass and inertia are usable, with their half-widths.
    """

    usable: str
    physically_consistent: str
    identifiable: str
    explains_data: str
    needs: Mapping[str, str]
    quantities: Mapping[str, str]


def verdict_in_words(result: Result) -> VerdictInWords:
    """Return the verdict on a fit as sentences."""
    verdict, reasons = result.verdict, verdict_reasons(result)
    possible = "yes, some" if verdict.possible else "no, no"
    return VerdictInWords(
        usable=f"{verdict.usable} ({reasons})" if reasons else verdict.usable,
        physically_consistent=f"{possible} distribution of mass has these parameters",
        identifiable=_identifiability_text(result),
        explains_data=data_explained(result),
        needs={
            need.text: _precision_answer(need, result)
            for need in parse_required_precision(", ".join(result.verdict.needs))
        },
        quantities={
            QUANTITY_NAMES[quantity]: (
                f"{usable}, {_width_in_words(WRENCH_LIMITS.good[quantity], result.estimate)}"
            )
            for quantity, usable in verdict.quantities.items()
        },
    )


def verdict_reasons(result: Result) -> str:
    """Return the finding codes and unmet requirements that limit the use of an estimate."""
    unusable = result.verdict.usable == "no"
    limiting = (
        finding
        for finding in findings_requiring_care(result.findings, result.verdict.needs)
        if (finding.severity == "error" or not unusable) and finding.code != "need_unmet"
    )
    reasons = list(dict.fromkeys(map(_reason_in_words, limiting)))
    reasons += [f"{need} is not met" for need, met in result.verdict.needs.items() if not met]
    return "; ".join(reasons)


def _reason_in_words(finding: Finding) -> str:
    """Return the code of a finding in words, after the quantities whose precision it is about."""
    name = finding.code.replace("_", " ")
    doubted = finding.evidence.get("doubted", ()) if finding.code in PRECISION_CODES else ()
    return " ".join(filter(None, (", ".join(_SHORT_NAMES[each] for each in doubted), name)))


_SHORT_NAMES = {**QUANTITY_NAMES, "inertia": "inertia"}


def _identifiability_text(result: Result) -> str:
    decided = result.estimate.decided_by
    given = [name for name in PHI if decided[name] == "given"]
    default = [name for name in PHI if decided[name] in (*UNIDENTIFIED_SOURCES, "prior")]
    count = len(PHI) - len(given) - len(default)
    text = "all 10 parameters" if count == len(PHI) else f"{count} of 10 parameters"
    text += f"; {', '.join(given)} given" if given else ""
    return text + (f"; not {', '.join(default)}" if default else "")


def data_explained(result: Result) -> str:
    """Describe whether the residual of a fit is noise, with the held-out errors of its sensor."""
    explained = result.sensor.load("explained")
    return "not tested" if explained is None else explained(result)


def residual_answer(result: Result) -> str:
    """Return whether the residual of a fit is noise."""
    return "yes" if result.verdict.explains_data else "no, the residual is not noise"


def wrench_explained(result: Result) -> str:
    """Describe whether the fit explains the wrench except for noise, with the held-out R²."""
    scores = result.validation.scores
    if scores is None:
        return "not tested, too few data for held-out scores"
    parts = []
    for kind, axes in (("forces", slice(0, 3)), ("torques", slice(3, 6))):
        pooled = scores.pooled_r_squared(axes)
        parts.append(
            f"{kind} without signal"
            if np.isnan(pooled)
            else f"R² of the {kind} {format_r_squared(pooled)}"
        )
    return f"{residual_answer(result)} (held out: {', '.join(parts)})"


def _width_in_words(limit: RequiredPrecision, estimate: Estimate) -> str:
    """Return the 95 % half-width of a quantity in words, with the share of the log if smaller.

    `limit`: a need or usual limit of the quantity, in whose unit it is.
    """
    if estimate.decided_by["m"] == "given" and limit.quantity == "mass":
        return "given"
    between_logs, total = (limit.half_width(estimate, total=total) for total in (False, True))
    shown = shown_names(estimate, limit.quantity)
    if not shown:
        return MECHANISM_MEANING
    if between_logs is None or total is None:
        return "not identifiable"
    relative_inertia = (limit.quantity, limit.unit) == ("inertia", "%")
    of_whole = " of the largest principal moment" if relative_inertia else ""
    is_all = shown == INTERVAL_NAMES[limit.quantity]
    only = "" if is_all else f" ({', '.join(shown)} alone)"
    text = f"± {format_significant(total, 2)} {limit.unit}{of_whole}{only}"
    if limit.quantity == "mass" and estimate.interval_kind.endswith(WITH_SCALE_FROM_LOG):
        return f"{text}, if the sensor's scale is right: no gain_accuracy is given, weigh the body"
    if total <= _MIN_WIDTH_RATIO * between_logs:
        return text
    return (
        f"{text}; without the sensor's scale ± {format_significant(between_logs, 2)} {limit.unit}"
    )


_MIN_WIDTH_RATIO = 1.2
"""Smallest ratio of half-widths with and without the scale's error at which both are shown."""


def _precision_answer(need: RequiredPrecision, result: Result) -> str:
    answer = "met" if result.verdict.needs[need.text] else "not met"
    if answer == "met" and not need.total and need.is_scale_limited(result.estimate):
        answer = "met by the log"
    return f"{answer}, {_width_in_words(need, result.estimate)}"


_USABILITY_ANSWERS: dict[str, tuple[str, Tone]] = {
    "yes": (
        "Usable: the body is physically consistent, identifiable, and explains the logs.",
        "good",
    ),
    "with care": ("Usable with care: {reasons}.", "warn"),
    "no": ("Do not use this estimate: {reasons}.", "bad"),
}
"""Text and tone of each answer to the question whether an estimate is usable."""


_USABLE_IN_PART_ANSWER = (
    "Usable: the body is physically consistent and explains the logs. It is not identifiable in "
    "full; the table names the parameters that a default body completes."
)
"""Answer for a usable estimate whose unidentifiable parameters are not needed."""


def verdict_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the report section on whether the estimate is usable, with findings and needs."""
    verdict, verdict_words = result.verdict, verdict_in_words(result)
    answer, tone = _USABILITY_ANSWERS[verdict.usable]
    complete = len(verdict.identifiable) == len(PHI)
    rows = [
        _answer_row("Physically consistent", verdict_words.physically_consistent, verdict.possible),
        _answer_row(
            "Identifiable", verdict_words.identifiable, complete or result.estimate.complete
        ),
        # The held-out R² is in the section of the logs.
        _answer_row(
            "Explains the data",
            verdict_words.explains_data.partition(" (held out")[0],
            verdict.explains_data,
        ),
        *(
            _answer_row(f"{quantity[:1].upper()}{quantity[1:]}", text, text.startswith("yes"))
            for quantity, text in verdict_words.quantities.items()
        ),
        *(
            _answer_row(f"Need {need}", text, verdict.needs[need])
            for need, text in verdict_words.needs.items()
        ),
    ]
    table = make_table(("Question", Head("Answer", "prose")), rows)
    # A fit of payload and carrier lists the findings once, with its first body.
    listed = () if result.estimate.body == CARRIER else result.all_findings
    if verdict.usable == "yes" and not result.estimate.complete:
        answer = _USABLE_IN_PART_ANSWER
    blocks = [Text(answer.format(reasons=verdict_reasons(result))), *finding_table(listed), table]
    subject = f"the {result.estimate.body}" if result.estimate.body_suffix else "the estimate"
    return Section("verdict", f"Is {subject} usable?", tuple(blocks), tone)


def _answer_row(name: str, answer: str, good: bool) -> tuple[str, Cell]:
    return name, Cell(answer, tone="" if good else "warn")


def finding_table(findings: Sequence[Finding]) -> tuple[ReportTable, ...]:
    """Return the table of findings, if there are any."""
    rows = (
        (
            Cell(finding.severity, tone="warn" if finding.requires_care else ""),
            finding.code.replace("_", " "),
            str(finding),
        )
        for finding in findings
    )
    heads = ("Severity", "Finding", Head("Description and remedy", "prose"))
    return (make_table(heads, rows, word_columns=2),) if findings else ()


_EXPORT_TITLES = {"ur": "Universal Robots", "kuka": "KUKA", "urdf": "URDF", "mjcf": "MJCF (MuJoCo)"}
"""Title of each export format in the report, by the format's name in `identify export`."""


_NO_FLANGE_NOTE = (
    "Controllers need the payload about the flange, whose place in the body frame is not known: "
    "give [body.flange] in the schema, or --at of identify export."
)
"""Note of an export for which the pose of the flange is unknown."""


def export_section(result: Result, truth: InertialParameters | None) -> Section | None:
    """Return the report section of exports to other programs; None for an unusable estimate."""
    estimate = result.estimate
    if result.verdict.usable == "no" or "nothing" in estimate.decided_by.values():
        return None
    if unusable_for_export(estimate):
        return None
    known = estimate.frames.flange is not None
    formats = {n: title for n, title in _EXPORT_TITLES.items() if known or n not in CONTROLLERS}
    rounded = replace(estimate, parameters=rounded_parameters(estimate))
    blocks = [_export_block(rounded, name, title) for name, title in formats.items()]
    if not known:
        placed = can_be_placed(estimate)
        note = _NO_FLANGE_NOTE if placed else f"Controllers: {misplaced_origin(estimate)}"
        blocks.insert(0, Text(note, "muted"))
    parameters = json_text(
        {
            "mass": _without_noise(np.array(rounded.mass)),
            "com": _without_noise(rounded.com),
            "inertia_about_com": _without_noise(rounded.inertia_about_com),
        }
    )
    subject = f"the {estimate.body}" if estimate.body_suffix else "the estimate"
    marks = replace(export_marks(estimate), care="").notes("JSON")
    note = "; ".join(("kg, m, kg m²", f"about {estimate.frame_description}, in its axes", *marks))
    more = Text(
        "Rounded as in the table above; the inertia only as far as the body stays physically "
        "consistent. The command identify export writes these and other formats with more digits, "
        "and sets the inertia of a link in a model file.",
        "muted",
    )
    blocks = (*blocks, Listing("JSON", parameters, copyable=True, note=f"{note}."), more)
    return Section("use", f"Use {subject}", blocks)


def _digits_in_use(estimate: Estimate) -> int:
    """Return the largest number of significant digits of mass, centre of mass and inertia."""
    values = [estimate.mass, *estimate.com, *estimate.inertia_about_com.ravel()]
    mantissas = (f"{abs(value):.{DEFAULT_DIGITS - 1}e}".partition("e")[0] for value in values)
    return max(3, *(len(mantissa.rstrip("0").replace(".", "")) for mantissa in mantissas))


def _without_noise(values: Array) -> object:
    """Return numbers without their last bits, which come of the change of the origin."""
    if values.ndim:
        smallest = _ROUNDING_NOISE * float(np.abs(values).max())
        values = np.where(np.abs(values) > smallest, values, 0.0)
    return np.vectorize(lambda value: float(f"{value:.12g}"))(values).tolist()


_ROUNDING_NOISE = 1e-12
"""Largest share of a vector's or matrix's largest entry that is a rounding error."""


def _export_block(estimate: Estimate, name: str, title: str) -> Block:
    digits = DEFAULT_DIGITS if name in CONTROLLERS else _digits_in_use(estimate)
    try:
        export = export_body(estimate, name, digits=digits)
    except ModelError as error:
        return Text(f"{title}: {error}.", "muted")
    # The text has the marks as a comment, and the verdict above says what to use with care.
    notes = [note for note in export.notes if not note.startswith(("poor ", "use with care: "))]
    notes = "; ".join((*notes, *export.lost_information))
    note = f"{notes[:1].upper()}{notes[1:]}."
    return Listing(title, export.text.rstrip(), copyable=True, note=note)
