"""What the intervals are made of: noise of wrench and motion, the rest, completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.estimation.variance import SOURCES
from identify.reporting.content import Head, Pictures, Row, Section, Table, numbers, row
from identify.reporting.figures.sources import SOURCE_NAMES, source_columns
from identify.reporting.parameter_table import ABOUT_COM, PRINCIPAL, parameter_rows
from identify.reporting.rounding import fixed

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

_CAPTION = (
    "How much of the variance of each estimate comes from where, in shares that sum to one; the "
    "width of an interval goes with its root. Wrench noise and motion noise: what was read off the "
    "signals, or given, carried to the estimate. Drift, model: what residuals, or blocks of time, "
    "differ by beyond both, from drift, vibration, or equations that do not hold. Completion: what "
    "the data leave open."
)
_ADVICE = (
    "Against wrench noise help a longer log or faster motion; against motion noise a better pose "
    "or slower, larger motion; against drift a sensor that is warm or zeroed, or what "
    "the findings above advise."
)


def uncertainty(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """Shares of the variances of all bodies; None where no noise of the signals was found."""
    columns = source_columns(result)
    if not columns:
        return None
    rows = [line for body in result.estimate.bodies for line in _rows(body)]
    head = (Head("Parameter"), *numbers(*(f"{SOURCE_NAMES[source]} [%]" for source in SOURCES)))
    table = Table(head, tuple(rows), _ADVICE)
    return Section("uncertainty", "What makes the intervals", (Pictures(columns, _CAPTION), table))


def _rows(estimate: Estimate) -> list[Row]:
    names = [one.name for one in parameter_rows(estimate, None, (*ABOUT_COM, *PRINCIPAL))]
    shares = [(name, estimate.variance_shares.get(name)) for name in names]
    return [
        row(
            name,
            *(fixed(100.0 * of[source], 0) for source in SOURCES),
            heading=estimate.of_body.strip() if number == 0 else "",
        )
        for number, (name, of) in enumerate(shares)
        if of is not None
    ]
