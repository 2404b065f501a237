"""Rows of the parameters of an estimate, for terminal, report and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.exchange.estimate_views import PRINCIPAL_MOMENT_NAMES
from identify.findings import UNIDENTIFIED_SOURCES
from identify.inertia import PHI, UNITS, InertialParameters
from identify.inertia.consistency import is_consistent
from identify.inertia.matrices import entries_from_symmetric, symmetric_from_entries
from identify.reporting.rounding import (
    MAX_DIGITS,
    Unit,
    decimals_for,
    format_fixed,
    format_half_width,
    format_significant,
    unit_of_length,
    unit_of_mass,
    with_power_of_ten,
)
from identify.texts import escape_unprintable

if TYPE_CHECKING:
    from rich.table import Table

    from identify.exchange import SavedEstimate

ParameterGroup: TypeAlias = Literal[
    "mass", "com", "inertia_about_com", "first_moment", "inertia_about_origin", "principal"
]


class _GroupDefinition(NamedTuple):
    """Definition of a group of parameters, such as the inertia: names, units and values.

    Attributes:
        names: their keys in estimate.json.
        decided_by_names: for each the entry of φ whose `decided_by` applies; may be empty.
        unit: SI unit.
        values: gives the parameters of a body, shape (n,).
        display_unit: gives the unit that suits the largest value, which is in SI.
    """

    names: tuple[str, ...]
    decided_by_names: tuple[str, ...]
    unit: str
    values: Callable[[InertialParameters], Array]
    display_unit: Callable[[float], Unit]


_COM, _INERTIA_ABOUT_COM = ("cx", "cy", "cz"), tuple(f"Ic{name[1:]}" for name in PHI[4:])
_SCALED_MOMENT = partial(with_power_of_ten, UNITS[1])
_SCALED_INERTIA = partial(with_power_of_ten, UNITS[4])
_GROUP_DEFINITIONS: dict[ParameterGroup, _GroupDefinition] = {
    "mass": _GroupDefinition(PHI[:1], PHI[:1], UNITS[0], lambda body: body.phi[:1], unit_of_mass),
    "com": _GroupDefinition(_COM, PHI[1:4], "m", lambda body: body.com, unit_of_length),
    "inertia_about_com": _GroupDefinition(
        _INERTIA_ABOUT_COM,
        PHI[4:],
        UNITS[4],
        lambda body: entries_from_symmetric(body.inertia_about_com),
        _SCALED_INERTIA,
    ),
    "first_moment": _GroupDefinition(
        PHI[1:4], PHI[1:4], UNITS[1], lambda body: body.phi[1:4], _SCALED_MOMENT
    ),
    "inertia_about_origin": _GroupDefinition(
        PHI[4:], PHI[4:], UNITS[4], lambda body: body.phi[4:], _SCALED_INERTIA
    ),
    "principal": _GroupDefinition(
        PRINCIPAL_MOMENT_NAMES,
        ("",) * 3,
        UNITS[4],
        lambda body: body.principal_moments,
        _SCALED_INERTIA,
    ),
}

PRINCIPAL_MOMENTS: tuple[ParameterGroup, ...] = ("principal",)
"""Names of the principal moments of inertia about the centre of mass, ascending."""

TABLE_GROUPS: tuple[ParameterGroup, ...] = tuple(
    name for name in _GROUP_DEFINITIONS if name not in PRINCIPAL_MOMENTS
)
"""Names of the parameter groups in the order of the tables, without principal moments."""

GROUPS_ABOUT_COM: tuple[ParameterGroup, ...] = TABLE_GROUPS[:3]
"""Names of the parameter groups about the centre of mass: mass, centre of mass, inertia."""

GROUPS_ABOUT_ORIGIN: tuple[ParameterGroup, ...] = ("mass", "first_moment", "inertia_about_origin")
"""Names of the parameter groups about the body frame's origin: mass, first moment, inertia."""

_SYMMETRY_TOLERANCE = 1e-6
"""Maximum distance of an interval's middle from the value, relative to its half-width, to write
±."""


def display_unit(group: ParameterGroup, largest: float) -> Unit:
    """Return the unit that suits the largest value of a group, which is in SI."""
    return _GROUP_DEFINITIONS[group].display_unit(largest)


@dataclass(frozen=True, slots=True)
class FormattedRow:
    """Numbers of a parameter as text, with the digits that its interval supports.

    `step` is the value in SI of one in the last digit.
    """

    unit: str
    value: str
    interval: str
    truth: str
    error: str
    step: float


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """Parameter with its interval, in SI and as text.

    Attributes:
        name: key as in estimate.json: m, cx, Icxx, hx, Ixx.
        group: the group it belongs to.
        unit: SI unit.
        value: the estimate.
        interval: its 95 % interval, or None if it has none.
        decided_by: "data", "prior", "constraint", "given", "default", "mechanism" or "nothing";
            empty if it is not known.
        truth: the reference value, or None.
        formatted: its numbers as text.
    """

    name: str
    group: ParameterGroup
    unit: str
    value: float
    interval: tuple[float, float] | None
    decided_by: str
    truth: float | None
    formatted: FormattedRow

    @property
    def error(self) -> float | None:
        """Estimate minus reference value; None without a reference value."""
        return None if self.truth is None else self.value - self.truth

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None without an interval."""
        return None if self.interval is None else 0.5 * (self.interval[1] - self.interval[0])

    @property
    def from_data(self) -> bool:
        """Whether the data identify the parameter, so that the default body does not supply it."""
        return self.decided_by not in UNIDENTIFIED_SOURCES

    @property
    def truth_outside_interval(self) -> bool:
        """Whether a reference value is given and outside the interval."""
        if self.truth is None or self.interval is None or self.decided_by == "given":
            return False
        return not self.interval[0] <= self.truth <= self.interval[1]


def parameter_rows(
    estimate: SavedEstimate,
    truth: InertialParameters | None = None,
    groups: Sequence[ParameterGroup] = TABLE_GROUPS,
) -> tuple[ParameterRow, ...]:
    """Return the rows of the parameters of an estimate.

    Args:
        estimate: of a fit, or read from its file.
        truth: the reference body, about the same origin and in the same axes, if there is one.
        groups: which parameters, in which order: `ABOUT_COM`, `ABOUT_ORIGIN` or all.
    """
    return tuple(row for group in groups for row in _rows(estimate, truth, group))


_MAX_EXTRA_DIGITS = 8
"""Maximum number of digits added to those of the table to keep an inertia consistent."""


def rounded_parameters(estimate: SavedEstimate) -> InertialParameters:
    """Return the body with the digits of its mass, centre of mass and inertia about it in tables.

    Digits are added to the inertia until the rounded body is physically consistent.
    """
    rows = parameter_rows(estimate, None, GROUPS_ABOUT_COM)
    values, steps = np.array([(row.value, row.formatted.step) for row in rows]).T
    mass, *com = (np.round(values / steps) * steps)[:4].tolist()
    for digits in range(_MAX_EXTRA_DIGITS):
        rounded = np.round(values / steps * 10.0**digits) * steps / 10.0**digits
        if mass > 0.0:
            inertia = symmetric_from_entries(rounded[4:])
            body = InertialParameters.from_com(mass, np.array(com), inertia)
            if is_consistent(body.phi):
                return body
    return estimate.parameters


def _rows(
    estimate: SavedEstimate, truth: InertialParameters | None, group: ParameterGroup
) -> Iterator[ParameterRow]:
    quantity = _GROUP_DEFINITIONS[group]
    values = quantity.values(estimate.parameters)
    truths = [None] * len(values) if truth is None else quantity.values(truth).tolist()
    largest = float(np.abs(values).max())
    widths = [high - low for low, high in filter(None, map(estimate.intervals.get, quantity.names))]
    known = [abs(true) for true in truths if true is not None]
    unit = quantity.display_unit(max(largest, 0.5 * min(widths, default=0.0), *known))
    named = zip(quantity.names, quantity.decided_by_names, values.tolist(), truths, strict=True)
    for name, deciding, value, true in named:
        interval, decided = estimate.intervals.get(name), estimate.decided_by
        decided_by = decided.get(name, decided.get(deciding, ""))
        if interval is None and decided_by == "data" and "mechanism" in decided.values():
            decided_by = "mechanism"  # of a mass or centre that is not shown
        yield ParameterRow(
            name=name,
            group=group,
            unit=quantity.unit,
            value=float("nan") if decided_by == "nothing" else value,
            interval=interval,
            decided_by=decided_by,
            truth=true,
            formatted=_format_row(value, interval, decided_by, true, unit, largest),
        )


def _format_row(
    value: float,
    interval: tuple[float, float] | None,
    decided_by: str,
    truth: float | None,
    unit: Unit,
    largest: float,
) -> FormattedRow:
    value, largest = unit.of(value), unit.of(largest)
    half = None if interval is None else 0.5 * unit.of(interval[1] - interval[0])
    if decided_by == "given":
        decimals = len(f"{value:.{MAX_DIGITS}g}".partition("e")[0].partition(".")[2])
    else:  # a value of the default body was not measured: two digits suffice
        is_known = decided_by not in UNIDENTIFIED_SOURCES
        size = largest if is_known else max(largest, _SMALLEST_DEFAULT)
        decimals = decimals_for(half if is_known else 0.5 * size, size)
    error = truth_text = ""
    if truth is not None:
        truth_text = format_fixed(unit.of(truth), decimals)
        difference = value - unit.of(truth)
        # The error of an exact value has more digits than the value, which would show zeros only.
        exact = half is not None and not _without_zeros(format_fixed(half, decimals))
        error = format_significant(difference) if exact else format_fixed(difference, decimals)
        if decided_by == "given":  # exact, but for its last bits
            truth_text = f"{unit.of(truth):.{MAX_DIGITS}g}"
            error = f"{round(difference, decimals_for(None, largest)):g}"
        error = f"+{error}" if difference > 0.0 and _without_zeros(error) else error
    interval_text = _MISSING_INTERVAL_TEXTS.get(decided_by, "")
    if not interval_text and interval is not None:
        interval_text = _format_interval(value, interval, unit, decimals)
    unknown = decided_by == "nothing"
    return FormattedRow(
        unit=unit.name,
        value="–" if unknown else format_fixed(value, decimals),
        interval=interval_text,
        truth=truth_text,
        error="" if unknown else error,
        step=unit.factor * 10.0**-decimals,
    )


_MIN_PRIOR_PERCENT = 0.5
"""Minimum contribution of a prior to a parameter's information that is stated in a caption [%]."""

_SMALLEST_DEFAULT = 0.1
"""Size that values of a default body are rounded for, in the unit of their table, if all are
smaller."""

MECHANISM_MEANING = "no motion of this arm shows it"
"""Meaning of the source "mechanism" of a parameter."""

_MISSING_INTERVAL_TEXTS = {
    "given": "given",
    "default": "unidentifiable",
    "mechanism": "unidentifiable",
    "nothing": "not identifiable",
}
"""Text in place of a missing interval, by the source that determines the parameter."""


def _format_interval(value: float, interval: tuple[float, float], unit: Unit, decimals: int) -> str:
    low, high = map(unit.of, interval)
    half = 0.5 * (high - low)
    if abs(0.5 * (low + high) - value) <= _SYMMETRY_TOLERANCE * max(abs(value), half):
        return format_half_width(half, decimals)
    return f"{format_fixed(low, decimals)} … {format_fixed(high, decimals)}"


def _without_zeros(text: str) -> str:
    return text.strip("0.")


def parameter_rich_table(
    estimate: SavedEstimate,
    truth: InertialParameters | None = None,
    groups: Sequence[ParameterGroup] = GROUPS_ABOUT_COM,
    title: str | None = None,
) -> Table:
    """Return a terminal table of the parameters with intervals, and with errors if known.

    It fits a terminal of 80 columns. Unidentifiable parameters are dim and marked as such; a
    reference value outside its interval is marked by a star.

    Args:
        estimate: of a fit, or read from its file.
        truth: the reference body, if there is one.
        groups: which parameters: `ABOUT_COM` by default, `ABOUT_ORIGIN`, or others.
        title: of the table.
    """
    from rich import box
    from rich.table import Table

    rows = parameter_rows(estimate, truth, groups)
    caption = [f"± {estimate.interval_kind}"] if estimate.interval_kind else []
    about_origin = "c, h and I are" if set(GROUPS_ABOUT_ORIGIN[1:]) & set(groups) else "c is"
    caption.append(
        f"{estimate.frame_description}: {about_origin} about its origin, Ic about the centre of "
        "mass, all in its axes"
    )
    if estimate.default_body and not all(row.from_data for row in rows):
        present = set(estimate.decided_by.values())
        reasons = {"default": "not identifiable from this log", "mechanism": MECHANISM_MEANING}
        caption += [
            f"{source}: {reason}; {estimate.default_body}"
            for source, reason in reasons.items()
            if source in present
        ]
    if "prior" in estimate.decided_by.values():
        percentages = {name: 100.0 * share for name, share in estimate.prior_share.items()}
        shares = ", ".join(
            f"{name} {percentage:.0f} %"
            for name, percentage in percentages.items()
            if percentage >= _MIN_PRIOR_PERCENT
        )
        caption.append(f"share of the prior in the information: {shares}")
    if any(row.truth_outside_interval for row in rows):
        caption.append("* truth outside the interval")
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        caption=escape_unprintable("\n".join(caption)) or None,
        caption_justify="left",
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    has_intervals = any(row.formatted.interval or row.decided_by for row in rows)
    heads = ["", "unit", "estimate", *["95 %", "decided by"] * has_intervals]
    heads += ["truth", "error"] * (truth is not None)
    for head in heads:
        numeric = head not in ("", "unit", "decided by")
        table.add_column(head, justify="right" if numeric else "left", no_wrap=True)
    for index, row in enumerate(rows):
        texts = row.formatted
        cells = [row.name, texts.unit, texts.value]
        cells += [texts.interval, row.decided_by] * has_intervals
        if truth is not None:
            cells += [texts.truth, texts.error + ("*" if row.truth_outside_interval else " ")]
        last = index + 1 == len(rows) or rows[index + 1].group != row.group
        style = None if row.from_data else "dim"
        table.add_row(*cells, style=style, end_section=last and len(groups) > 3)
    return table
