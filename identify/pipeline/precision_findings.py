"""Findings on the precision of an estimate, and its verdict by quantity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from identify.estimation import Estimate
from identify.estimation.scale_accuracy import least_mass_error
from identify.findings import (
    INDISPENSABLE_QUANTITIES,
    QUANTITIES,
    UNIDENTIFIED_SOURCES,
    Finding,
    Severity,
    Usability,
)
from identify.logs import Recording
from identify.logs.sensors import sensor_key
from identify.pipeline.required_precision import (
    QUANTITY_NAMES,
    WRENCH_LIMITS,
    PrecisionLimits,
    RequiredPrecision,
    half_width,
    parse_required_precision,
    shown_names,
)
from identify.pipeline.settings import FitSettings
from identify.significance import HALF_WIDTH_SIGMA

_LEVELS: tuple[Usability, ...] = ("no", "with care", "yes")
"""Answers to the question whether a quantity may be used, the worst first."""


def precision_levels(
    estimate: Estimate, needs: str, limits: PrecisionLimits = WRENCH_LIMITS
) -> Mapping[str, Usability]:
    """Return, by quantity, whether its intervals are narrow enough for use, by the worst need.

    That is "no" if log and body decide the quantity too poorly, "with care" also if only the error
    of the sensor's scale makes its intervals too wide.
    """
    return {
        quantity: _LEVELS[min(_LEVELS.index(_level(estimate, *pair)) for pair in pairs)]
        for quantity, pairs in _limits_by_quantity(needs, limits).items()
    }


def _limits_by_quantity(
    needs: str, limits: PrecisionLimits
) -> Mapping[str, list[tuple[RequiredPrecision, RequiredPrecision]]]:
    """Return the good and the poor half-widths that apply to each quantity."""
    given = parse_required_precision(needs, limits)
    return {
        quantity: [(need, need) for need in given if need.quantity == quantity]
        or [(limits.good[quantity], limits.poor[quantity])]
        for quantity in QUANTITIES
    }


def _level(estimate: Estimate, good: RequiredPrecision, poor: RequiredPrecision) -> Usability:
    if not shown_names(estimate, good.quantity):
        return "with care"  # the torques of the arm do not depend on it
    if good.allows(good.half_width(estimate, total=True)):
        return "yes"
    return "with care" if good.is_met(estimate) or poor.is_met(estimate) else "no"


def precision_findings(
    estimate: Estimate, needs: str, limits: PrecisionLimits = WRENCH_LIMITS
) -> Iterator[Finding]:
    """Yield findings of an estimate that is less precise than the user needs.

    Without needs, the limits of every quantity of every body apply. The first error names the needs
    that a fit of the same logs meets.

    `needs`: as they were given, of the first body.
    """
    yield from _prior_findings(estimate)
    given = parse_required_precision(needs, limits)
    advised = any(finding.severity == "error" for finding in estimate.findings)
    for finding in _findings_on_widths(estimate, given, limits):
        if finding.severity == "error" and not advised:
            advice = _advice_on_needs(_needs_met(estimate, given, limits))
            finding, advised = replace(finding, remedy=finding.remedy + advice), True
        yield finding


def _advice_on_needs(needs: Mapping[str, str]) -> str:
    """Return the sentence on the needs, by quantity, that the same logs meet; "" without any."""
    if not needs:
        return ""
    text = f' To use what is precise enough, fit again with --need "{", ".join(needs.values())}"'
    missing = [QUANTITY_NAMES[each] for each in INDISPENSABLE_QUANTITIES if each not in needs]
    refused = f"; exports, which need the {' and the '.join(missing)}, stay refused"
    return f"{text}{refused if missing else ''}."


def _needs_met(
    estimate: Estimate, given: Sequence[RequiredPrecision], limits: PrecisionLimits
) -> dict[str, str]:
    """Return for each quantity the need, if any, that an estimate meets.

    It is one of those given, the usual one, or the half-width itself, rounded up.
    """
    needs_met = {}
    for quantity in QUANTITIES:
        good, poor = limits.good[quantity], limits.poor[quantity]
        needs = [need for need in given if need.quantity == quantity]
        met = next((need for need in needs if need.is_met(estimate)), None)
        if met is not None:
            needs_met[quantity] = met.text
        elif not needs and good.is_met(estimate):
            needs_met[quantity] = quantity
        elif poor.is_met(estimate):
            relaxed = (needs[-1] if needs else good).relaxed(estimate, poor)
            needs_met[quantity] = relaxed.text
    return needs_met


def _findings_on_widths(
    estimate: Estimate, given: Sequence[RequiredPrecision], limits: PrecisionLimits
) -> Iterator[Finding]:
    """Yield findings on needs, or else on usual limits, that intervals are too wide for."""
    for need in given:
        if need.is_met(estimate):
            if need.is_scale_limited(estimate):
                yield _scale_finding(estimate, need, limits)
            continue
        reached = need.half_width(estimate, total=need.total)
        has = (
            "has no interval" if reached is None else f"is known to ± {need.format_beyond(reached)}"
        )
        yield Finding(
            "need_unmet",
            "error",
            f"the need {need.text} is not met: the {QUANTITY_NAMES[need.quantity]} {has} (95 %).",
            _remedy(estimate, need, limits),
            {} if reached is None else {"half_width": reached, "needed": need.limit},
        )
    if given:
        return
    for body in estimate.bodies:
        for quantity in QUANTITIES:
            yield from _limit_findings(body, quantity, limits)


def _limit_findings(body: Estimate, quantity: str, limits: PrecisionLimits) -> Iterator[Finding]:
    """Yield the finding on a quantity whose intervals are wider than its usual limit."""
    good, poor = limits.good[quantity], limits.poor[quantity]
    # Of the repeatability; the scale's error has its own finding.
    reached = good.half_width(body, total=False)
    sources = {body.decided_by[name] for name in QUANTITIES[quantity]}
    if reached is None and sources & UNIDENTIFIED_SOURCES:
        return  # a default body stands in, as another finding says
    if good.allows(reached):
        if good.is_scale_limited(body):
            yield _scale_finding(body, good, limits)
        return
    too_poor = not poor.allows(reached)
    severity: Severity = "error" if too_poor else "warning"
    if quantity == "inertia":
        severity = "info"  # no defect of the log: it decides mass and centre of mass
    beyond = poor if too_poor else good
    width = "is not known" if reached is None else f"is known to ± {beyond.format_beyond(reached)}"
    of_whole = " of its largest principal moment" if quantity == "inertia" else ""
    text = (
        f"the {QUANTITY_NAMES[quantity]}{body.body_suffix} {width}{of_whole} (95 %, "
        f"repeatability), beyond {beyond.limit:g} {beyond.unit}."
    )
    if good.is_flange_limited(body):
        text = (
            f"the {QUANTITY_NAMES[quantity]}{body.body_suffix} about the flange {width}, beyond "
            f"{beyond.limit:g} {beyond.unit}: by the schema, pose and wrench are of one point, but "
            "in the logs of two, so that the flange may not be where the schema places it."
        )
    yield Finding(
        "imprecise",
        severity,
        text,
        _remedy(body, good, limits),
        {
            "doubted": [quantity],
            "limit": beyond.limit,
            **({} if reached is None else {"half_width": reached}),
        },
    )


def _scale_finding(body: Estimate, need: RequiredPrecision, limits: PrecisionLimits) -> Finding:
    """Return the finding on a quantity that only the error of the sensor's scale makes too wide."""
    between_logs, total = (need.half_width(body, total=total) for total in (False, True))
    assert total is not None  # the intervals without the scale's error are finite
    name = f"{QUANTITY_NAMES[need.quantity]}{body.body_suffix}"
    return Finding(
        "scale_limit",
        "info",
        f"the scale limits the {name} to ± {need.format_beyond(total)} (95 %), beyond "
        f"{need.limit:g} {need.unit}; the log decides it to ± {between_logs:.2g} {need.unit}.",
        limits.scale_remedy,
        {
            "doubted": [need.quantity],
            "limit": need.limit,
            "half_width": total,
            "repeatability": between_logs,
        },
    )


def _remedy(body: Estimate, need: RequiredPrecision, limits: PrecisionLimits) -> str:
    """Return what narrows the intervals of a quantity to those needed."""
    if not shown_names(body, need.quantity):
        return "No motion of this arm shows it: weigh the load (--mass), or log it on another arm."
    if need.is_flange_limited(body):
        return (
            "Correct the place of the flange, tool point or sensor in the schema, as the finding "
            "`kinematic_offset` says."
        )
    if need.is_scale_limited(body):
        return limits.scale_remedy
    if need.quantity != "inertia":
        return limits.motion_remedy
    return f"{_motion_for_inertia(body, need)} {limits.design_command} designs the motion."


def _motion_for_inertia(body: Estimate, need: RequiredPrecision) -> str:
    """Return what motion narrows the intervals of the inertia."""
    widths = {
        name: need.widest_in_unit((half_width(body, name, False),), body.parameters)
        for name in shown_names(body, "inertia")
    }
    wide = "".join(name[2:] for name, reached in widths.items() if not need.allows(reached))
    axes = [axis for axis in "xyz" if axis in wide] or list("xyz")
    about = " and ".join(filter(None, (", ".join(axes[:-1]), axes[-1])))
    return f"Turn to and fro about {about}, faster and further, for longer."


def _prior_findings(estimate: Estimate) -> Iterator[Finding]:
    """Yield the finding on quantities that a prior decides rather than the log."""
    for body in estimate.bodies:
        by_prior = [
            quantity
            for quantity, names in QUANTITIES.items()
            if any(body.decided_by[name] == "prior" for name in names)
        ]
        if not by_prior:
            continue
        names = " and the ".join(QUANTITY_NAMES[quantity] for quantity in by_prior)
        described = f" ({body.prior['is']})" if body.prior else ""
        yield Finding(
            "by_prior",
            "info",
            f"the prior{described} decides the {names}{body.body_suffix}, at least in part, more "
            "than the log.",
            "Check that the body is as the prior says.",
            {"doubted": by_prior},
        )


def unreachable_needs(logs: Sequence[Recording], settings: FitSettings) -> Iterator[str]:
    """Yield a warning for each need of the mass that no log of the sensor can meet.

    Logs of several sensors, whose errors are independent, are not judged before the fit.
    """
    if settings.mass_known or len({sensor_key(log) for log in logs}) > 1:
        return
    percent = 100.0 * HALF_WIDTH_SIGMA * least_mass_error(logs[0])
    for need in parse_required_precision(settings.needs):
        if (need.quantity, need.unit) == ("mass", "%") and need.limit < percent:
            yield (
                f"need {need.text}: by its `gain_accuracy` the sensor gives no mass to better than "
                f"± {percent:.2g} % (95 %), however long the log."
            )
