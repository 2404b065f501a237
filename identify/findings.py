"""`Finding`, a problem or note about a log or a fit, and `Verdict`, their summary.

Most failures are in the log, not in the optimiser. Findings are created where a log is read and
fitted, are saved with the estimate, and are repeated by every command that uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from identify.texts import escape_unprintable

Severity: TypeAlias = Literal["info", "warning", "error"]
"""Severity of a finding; after an error the estimate must not be used."""

UNIDENTIFIED_SOURCES = frozenset(("default", "nothing", "mechanism"))
"""Sources of a parameter (`decided_by`) that the data do not identify: the default body, none at
all, or the default body because no motion of the mechanism shows it."""

Usability: TypeAlias = Literal["yes", "with care", "no"]
"""Whether an estimate, or a quantity of it, may be used, as the verdict on a fit says."""

QUANTITIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mass": ("m",),
        "com": ("hx", "hy", "hz"),
        "inertia": ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"),
    }
)
"""Quantities of a body with a verdict of their own, and the parameters that decide each besides the
quantities before it."""

INDISPENSABLE_QUANTITIES = ("mass", "com")
"""Quantities that every export needs; an inertia that is too poor is marked, or left out."""

_SPAN_CODES = (
    "bias_step",
    "contact",
    "spikes",
    "saturation",
    "frozen_pose",
    "frozen_wrench",
    "wrong_rows",
    "dead_channel",
)

CORRECTABLE_CODES = ("hysteresis", "resonance", *_SPAN_CODES)
"""Codes that `--apply` corrects; their faults need no comparison of interpretations."""

BODY_CHANGE_CODES = ("body_changed", "bodies_differ")
"""Codes of logs, or of parts of a log, that are of different bodies."""

PRECISION_CODES = ("scale_limit", "imprecise", "need_unmet")
"""Codes of intervals that are wider than needed."""

_OPEN_CODES = ("mechanism", "completed", "left_open")
"""Codes of parameters that the data do not identify."""

_SYMPTOM_CODES = (
    *("too_dense", "not_held", "unexplained", "little_motion", "motion_noise", "at_the_edge"),
    *("torque_unexplained", *_OPEN_CODES, "by_prior", *PRECISION_CODES),
)
"""Codes of symptoms: something is wrong, or the log has too little excitation."""

FINDING_CODES = (
    *(
        "choice_contradicted",
        "edited",
        "hysteresis",
        "resonance",
        "cutoff_low",
        *_SPAN_CODES,
        "cable",
        "drift",
        "wrench_calibration",
        "gain_accuracy",
        *BODY_CHANGE_CODES,
        "logs_swapped",
    ),
    *("imu_axes", "imu_place", "imu_delay", "free_flight", "force_motion"),
    *("not_still", "rows_dropped", "rows_missing", "rows_unused"),
    *("counter_wrapped", "runs_appended", "held_samples"),
    *("interpolated_samples", "clocks_joined"),
    "wrench_rounded",
    *("transposed", "column_order", "robot_pose", "current_gains", "joints_unused"),
    *("same_run", "effort_constant", "effort_sign", "joint_unit", "effort_scale", "joint_order"),
    *("gravity_subtracted", "no_load", "load_frame", "arms_differ", "link_length"),
    *("joint_gain", "torque_scale", "arm_loaded"),
    *("joint_sign", "joint_zero", "joint_type", "effort_commanded", "effort_low_passed"),
    *("effort_delay", "friction_change"),
    "impossible_links",
    *_SYMPTOM_CODES,
)
"""All finding codes in the order of reports: a value that the user gave, under which other causes
were sought, then causes before symptoms; codes of log faults are in
`diagnosis.faults.FAMILIES`."""

_LOG_FAULT_RANK = FINDING_CODES.index("cutoff_low") + 0.5
"""Rank of findings of log faults among `FINDING_CODES`."""

_SIGNAL_DEFECT_CODES = ("spikes", "saturation", "frozen_pose", "frozen_wrench")
"""Codes of defects that are visible in a raw signal."""

_UNEXPLAINED_CODES = (
    *("unexplained", "torque_unexplained", "effort_sign", "column_order"),
    *("joint_unit", "joint_order", "joint_sign", "joint_zero", "joint_type"),
    *("load_frame", "arms_differ", "link_length"),
)
"""Codes of findings by which the residual of the log as it was read is larger than noise."""

_NOTABLE_INFO_CODES = (
    *("completed", "left_open", "by_prior", "at_the_edge", "imprecise", "scale_limit"),
)
"""Codes of infos that make an estimate usable with care at best."""

_CODE_PATTERN = re.compile("[a-z]+(_[a-z]+)*")

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem or note about a log or a fit.

    Attributes:
        code: one of `FINDING_CODES`, or the code of a log fault.
        severity: "info", "warning", or "error": the estimate must not be used.
        text: description.
        remedy: recommended action or line of the schema; may be empty.
        evidence: named numbers, or pairs of them for intervals.
        where: the log and its span of time, if the finding concerns a part of the data.
    """

    code: str
    severity: Severity
    text: str
    remedy: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""

    def __post_init__(self) -> None:
        if not _CODE_PATTERN.fullmatch(self.code):
            raise ValueError(
                f"{self.code!r} is not a valid code; expected lower-case words joined by _"
            )
        if self.severity not in _SEVERITIES:
            raise ValueError(f"severity: expected one of {_SEVERITIES}, got {self.severity!r}")
        object.__setattr__(self, "evidence", MappingProxyType(dict(self.evidence)))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return " ".join(filter(None, (f"{place}{self.text}", self.remedy)))

    def __reduce__(self) -> tuple[object, ...]:
        evidence = dict(self.evidence)
        return Finding, (self.code, self.severity, self.text, self.remedy, evidence, self.where)

    @property
    def requires_care(self) -> bool:
        """Whether the finding makes an estimate usable with care at best.

        Infos that a default body replaces unidentified parameters, that a prior decides them, that
        the inertia or the sensor's scale is imprecise, or that a constraint is active, are no
        defects of the log, but the user has to know them.
        """
        return self.severity != "info" or self.code in _NOTABLE_INFO_CODES

    def concerns(self, quantity: str) -> bool:
        """Whether the finding casts doubt on a quantity of the estimate.

        The evidence of findings that concern some quantities only names them as `doubted`.
        """
        doubted = self.evidence.get("doubted")
        return doubted is None or quantity in doubted

    def record(self) -> dict[str, object]:
        """Return the finding as plain values, as written to files."""
        return {
            "code": self.code,
            "severity": self.severity,
            "text": self.text,
            "remedy": self.remedy,
            "evidence": dict(self.evidence),
            "where": self.where,
        }


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by severity, then faults before symptoms, likelier faults first.

    Defects visible in a raw signal come before other faults, which they can resemble.
    """
    rank = {code: position for position, code in enumerate(FINDING_CODES)}

    def key(finding: Finding) -> tuple[float, ...]:
        position = rank.get(finding.code, _LOG_FAULT_RANK)
        gain = float(finding.evidence.get("gain", 0.0))
        kind = finding.code in _SYMPTOM_CODES, finding.code not in _SIGNAL_DEFECT_CODES
        return _SEVERITIES.index(finding.severity), *kind, -gain, position

    return tuple(sorted(findings, key=key))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Summary of the quality of an estimate.

    Attributes:
        usable: "no" if a finding is an error; "with care" if another finding that requires care
            concerns a needed quantity (any, where no need was given); else "yes".
        possible: whether the body is physically consistent.
        optimal: whether it is proved to be the best such body for the data.
        explains_data: whether the residual is noise: nothing is unexplained, no joint of an arm is
            misread, and no large part of a log is a contact.
        identifiable: names of the parameters that the data identify.
        reasons: codes of the findings that require care.
        needs: requested quantities, and whether they are met: the intervals are narrow enough,
            and no error casts doubt on the quantity.
        quantities: whether each of `QUANTITIES` may be used, by its precision and the findings that
            concern it; empty for links of an arm.
    """

    usable: Usability
    possible: bool
    optimal: bool
    explains_data: bool
    identifiable: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    needs: Mapping[str, bool] = field(default_factory=dict)
    quantities: Mapping[str, Usability] = field(default_factory=dict)

    def record(self) -> dict[str, object]:
        """Return the verdict as plain values, as in files."""
        record: dict[str, object] = {
            "usable": self.usable,
            "possible": self.possible,
            "optimal": self.optimal,
            "explains_data": self.explains_data,
            "identifiable": list(self.identifiable),
            "reasons": list(self.reasons),
        }
        optional = {"needs": dict(self.needs), "quantities": dict(self.quantities)}
        return record | {name: values for name, values in optional.items() if values}


def derive_verdict(
    findings: Sequence[Finding],
    *,
    possible: bool,
    optimal: bool,
    identifiable: Sequence[str],
    needs: Mapping[str, bool] | None = None,
    precision: Mapping[str, Usability] | None = None,
) -> Verdict:
    """Derive the verdict on an estimate from its findings."""
    usable: Usability = "yes"
    met = {
        need: met and not _error_on(_quantity_of(need), findings)
        for need, met in (needs or {}).items()
    }
    relevant = findings_requiring_care(findings, met)
    if relevant:
        usable = "with care"
    if any(f.severity == "error" for f in findings) or not all(met.values()) or not possible:
        usable = "no"
    reasons = dict.fromkeys(f.code for f in sort_findings(relevant))
    return Verdict(
        usable=usable,
        possible=possible,
        optimal=optimal,
        explains_data=not any(
            f.code in _UNEXPLAINED_CODES or (f.code, f.severity) == ("contact", "error")
            for f in findings
        ),
        identifiable=tuple(identifiable),
        reasons=tuple(reasons),
        needs=met,
        quantities={
            quantity: _usability_of(quantity, level, findings)
            for quantity, level in (precision or {}).items()
        },
    )


def findings_requiring_care(
    findings: Iterable[Finding], needs: Iterable[str]
) -> tuple[Finding, ...]:
    """Return the errors, and the other findings that require care and concern a needed quantity.

    Without a need all that require care are returned.
    """
    needed = {quantity for quantity in map(_quantity_of, needs) if quantity}
    return tuple(
        f
        for f in findings
        if f.severity == "error"
        or (f.requires_care and (not needed or any(map(f.concerns, needed))))
    )


def _quantity_of(need: str) -> str:
    """Return the quantity that a need, such as "mass 1%", is of; "" for a need of a file alone."""
    return next((each for each in QUANTITIES if need.lower().startswith(each)), "")


def _usability_of(quantity: str, precision: Usability, findings: Sequence[Finding]) -> Usability:
    """Return the usability of a quantity: that of its precision, and of findings on the log."""
    if precision == "no" or _error_on(quantity, findings):
        return "no"
    doubtful = any(f.requires_care and f.concerns(quantity) for f in _findings_on_log(findings))
    return "with care" if doubtful else precision


def _error_on(quantity: str, findings: Iterable[Finding]) -> bool:
    """Whether an error, besides those of precision, casts doubt on a quantity."""
    on_log = _findings_on_log(findings)
    return any(f.severity == "error" and f.concerns(quantity) for f in on_log)


def _findings_on_log(findings: Iterable[Finding]) -> list[Finding]:
    return [f for f in findings if f.code not in (*PRECISION_CODES, *_OPEN_CODES)]


def default_body_findings(
    decided_by: Mapping[str, str], default_body: str | None
) -> tuple[Finding, ...]:
    """Create the finding on parameters that the data do not identify, if there are any.

    `default_body`: description of the default body, if known.
    """
    remedy = "Use what the data identify alone, or log turns that speed up and slow down."
    if names := [name for name, by in decided_by.items() if by == "nothing"]:
        text = f"not identifiable from the data, and without a number: {', '.join(names)}."
        return (Finding("left_open", "info", text, remedy, _open_evidence("left_open", names)),)
    of = f" ({default_body})" if default_body else ""
    findings = []
    if names := [name for name, by in decided_by.items() if by == "mechanism"]:
        text = f"no motion of this arm shows {', '.join(names)}: a default body stands in{of}."
        remedy_of_arm = (
            "The torques of this arm do not depend on it; for another arm or a simulation take it "
            "from elsewhere, such as `--mass KG`."
        )
        severity: Severity = "warning" if set(names) & set(QUANTITIES["mass"]) else "info"
        evidence = _open_evidence("mechanism", names)
        findings.append(Finding("mechanism", severity, text, remedy_of_arm, evidence))
    if names := [name for name, by in decided_by.items() if by == "default"]:
        are = "is" if len(names) == 1 else "are"
        text = f"{', '.join(names)} {are} not identifiable from the data: a default body stands in"
        evidence = _open_evidence("completed", names)
        findings.append(Finding("completed", "info", f"{text}{of}.", remedy, evidence))
    return tuple(findings)


def _open_evidence(code: str, names: Sequence[str]) -> dict[str, object]:
    """Return the evidence of parameters that the data do not identify."""
    doubted = [quantity for quantity, own in QUANTITIES.items() if set(own) & set(names)]
    return {code: len(names), "doubted": doubted}


def format_findings(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Format the notable findings, most severe first, one per line, as escaped text."""
    names = {"info": "note"}
    relevant = (f for f in sort_findings(findings) if f.requires_care)
    lines = (f"{names.get(f.severity, f.severity)}: {f} [{f.code}]" for f in relevant)
    return tuple(escape_unprintable(" ".join(line.split())) for line in lines)
