"""`Finding`: one thing to know of a log or a fit; `Verdict`: what all of them come to.

Most failures are in the log, not in the optimiser. Findings are made where a log is read and
fitted, travel with the estimate into its file, and are repeated by everything that uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from identify.texts import printable

Severity: TypeAlias = Literal["info", "warning", "error"]
"""Of a finding; an error says: do not use this estimate."""

NOT_IDENTIFIED = frozenset(("default", "nothing"))
"""What `decided_by` says of a parameter that the data do not identify: the default body stands in
for it, or nothing does."""

Usable: TypeAlias = Literal["yes", "with care", "no"]

CORRECTABLE = (
    "bias_step",
    "contact",
    "spikes",
    "saturation",
    "frozen_pose",
    "frozen_wrench",
    "wrong_rows",
    "dead_channel",
)
"""Codes, besides those of log faults, that a fit may be asked to correct."""

_OF_BODIES = ("body_changed", "bodies_differ")

REPORTED = _OF_BODIES
"""Codes that no fit corrects: asked to, it says why."""

_SYMPTOMS = (
    *("too_dense", "not_held", "unexplained", "little_motion", "motion_noise", "at_the_edge"),
    *("completed", "left_open", "imprecise", "need_unmet"),
)
"""Codes of what shows that something is wrong, or that the log tells too little."""

CODES = (
    *(
        "edited",
        "hysteresis",
        "cutoff_low",
        *CORRECTABLE,
        "cable",
        "drift",
        "wrench_calibration",
        *_OF_BODIES,
        "logs_swapped",
    ),
    *("imu_axes", "imu_place", "imu_delay", "free_flight", "force_motion"),
    *("not_still", "rows_dropped", "rows_missing", "rows_unused"),
    *("counter_wrapped", "held_samples", "interpolated_samples", "clocks_joined"),
    "wrench_rounded",
    "transposed",
    *("choice_contradicted", *_SYMPTOMS),
)
"""All codes but those of log faults, which `diagnosis.faults.FAMILIES` has: causes before symptoms,
and those of equal evidence in this order."""

_LOG_FAULT = CODES.index("cutoff_low") + 0.5
"""Where log faults stand in that order."""

_SEEN = ("spikes", "saturation", "frozen_pose", "frozen_wrench")
"""Codes of what a raw signal shows by itself."""

_CODE = re.compile("[a-z]+(_[a-z]+)*")

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know.

    Attributes:
        code: what was found, in a word: one of `CODES`, or of a log fault.
        severity: "info", "warning", or "error": do not use this estimate.
        text: what was found, in words.
        remedy: what to do: a line of the schema, or an action; may be empty.
        evidence: named numbers, or pairs of them for intervals.
        where: the log, and the span of time in it, where it is of a part of the data.
    """

    code: str
    severity: Severity
    text: str
    remedy: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise ValueError(
                f"{self.code!r} is no code of a finding; expected a word of small letters and _"
            )
        if self.severity not in _SEVERITIES:
            raise ValueError(f"{self.severity!r} is no severity of a finding")
        object.__setattr__(self, "evidence", MappingProxyType(dict(self.evidence)))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return " ".join(filter(None, (f"{place}{self.text}", self.remedy)))

    def __reduce__(self) -> tuple[object, ...]:
        evidence = dict(self.evidence)
        return Finding, (self.code, self.severity, self.text, self.remedy, evidence, self.where)

    @property
    def asks_for_care(self) -> bool:
        """Whether an estimate with it is usable with care at the most.

        That a default body completes what a log does not tell, or that a constraint decides, is
        nothing wrong with the log, and yet to be known.
        """
        return self.severity != "info" or self.code in ("completed", "left_open", "at_the_edge")

    def record(self) -> dict[str, object]:
        """The finding as plain values, as a file keeps it."""
        return {
            "code": self.code,
            "severity": self.severity,
            "text": self.text,
            "remedy": self.remedy,
            "evidence": dict(self.evidence),
            "where": self.where,
        }


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings; of one severity faults before symptoms, the likeliest first.

    What a raw signal shows by itself comes before other faults, which it may look like.
    """
    number = {code: place for place, code in enumerate(CODES)}

    def key(finding: Finding) -> tuple[float, ...]:
        place = number.get(finding.code, _LOG_FAULT)
        gain = float(finding.evidence.get("gain", 0.0))
        kind = finding.code in _SYMPTOMS, finding.code not in _SEEN
        return _SEVERITIES.index(finding.severity), *kind, -gain, place

    return tuple(sorted(findings, key=key))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of an estimate, each part for itself.

    Attributes:
        usable: "no" where a finding is an error; "with care" where one is a warning that doubts
            what is needed, or a default body completes a parameter and no need was given; else
            "yes".
        possible: whether the body is physically consistent.
        optimal: whether it is proved to be the best such body for the data.
        explains_data: whether what it leaves of the measured wrench is noise: nothing is
            unexplained, and a contact is no good part of a log.
        identifiable: names of the parameters that the data identify.
        reasons: codes of the findings that ask for care.
        needs: what was asked for, and whether the intervals meet it.
    """

    usable: Usable
    possible: bool
    optimal: bool
    explains_data: bool
    identifiable: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    needs: Mapping[str, bool] = field(default_factory=dict)

    def record(self) -> dict[str, object]:
        """The verdict as plain values, as a file keeps it."""
        record: dict[str, object] = {
            "usable": self.usable,
            "possible": self.possible,
            "optimal": self.optimal,
            "explains_data": self.explains_data,
            "identifiable": list(self.identifiable),
            "reasons": list(self.reasons),
        }
        return record | ({"needs": dict(self.needs)} if self.needs else {})


def verdict_of(
    findings: Sequence[Finding],
    *,
    possible: bool,
    optimal: bool,
    identifiable: Sequence[str],
    needs: Mapping[str, bool] | None = None,
) -> Verdict:
    """The verdict that findings come to.

    Args:
        findings: all of them.
        possible: whether the body is physically consistent.
        optimal: whether it is proved to be the best such body.
        identifiable: names of the parameters that the data identify.
        needs: what was asked for, and whether it is met.
    """
    usable: Usable = "yes"
    asking = [
        f for f in findings if f.asks_for_care and not (needs and _concerns_no_need(f, needs))
    ]
    if asking:
        usable = "with care"
    unmet = not all((needs or {}).values())
    if any(f.severity == "error" for f in findings) or unmet or not possible:
        usable = "no"
    reasons = dict.fromkeys(f.code for f in ranked(asking))
    return Verdict(
        usable=usable,
        possible=possible,
        optimal=optimal,
        explains_data=not any(
            f.code == "unexplained" or (f.code, f.severity) == ("contact", "error")
            for f in findings
        ),
        identifiable=tuple(identifiable),
        reasons=tuple(reasons),
        needs=dict(needs or {}),
    )


def _concerns_no_need(finding: Finding, needs: Mapping[str, bool]) -> bool:
    """Whether a finding doubts none of the quantities that are needed.

    A need that is met names what the log tells: nothing of it is completed. Another explanation of
    the log may differ in some quantities alone, which are the `doubted` of the evidence.
    """
    if finding.code == "completed":
        return True
    doubted = finding.evidence.get("doubted")
    return doubted is not None and not any(
        need.lower().startswith(tuple(doubted)) for need in needs
    )


def completion(decided_by: Mapping[str, str], default_body: str | None) -> tuple[Finding, ...]:
    """The finding that a default body, or nothing, stands in for what the data do not identify.

    Args:
        decided_by: what fixed each parameter, by name.
        default_body: that body in words, where it is known.
    """
    remedy = "Use what the data identify alone, or log turns that speed up and slow down."
    if names := [name for name, by in decided_by.items() if by == "nothing"]:
        text = f"not identifiable from the data, and without a number: {', '.join(names)}."
        return (Finding("left_open", "info", text, remedy, {"left_open": len(names)}),)
    names = [name for name, by in decided_by.items() if by == "default"]
    if not names:
        return ()
    of = f" ({default_body})" if default_body else ""
    are = "is" if len(names) == 1 else "are"
    text = f"{', '.join(names)} {are} not identifiable from the data: a default body stands in{of}."
    return (Finding("completed", "info", text, remedy, {"completed": len(names)}),)


def reasons_in_words(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Why an estimate is not to be used, or with care: findings, ranked, a line each.

    Control characters that a file may have brought in are escaped.
    """
    names = {"info": "note"}
    asking = (f for f in ranked(findings) if f.asks_for_care)
    said = (f"{names.get(f.severity, f.severity)}: {f} [{f.code}]" for f in asking)
    return tuple(printable(" ".join(line.split())) for line in said)
