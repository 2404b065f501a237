"""The parameters of an estimate as rows that every table shows: terminal, report, figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.exchange.estimate_views import MOMENTS
from identify.findings import NOT_IDENTIFIED
from identify.inertia import PHI, UNITS, InertialParameters
from identify.inertia.matrices import six_from_symmetric
from identify.reporting.rounding import (
    MOST_DIGITS,
    Unit,
    decimals_for,
    fixed,
    plus_minus,
    scaled,
    significant,
    unit_of_length,
    unit_of_mass,
)
from identify.texts import printable

if TYPE_CHECKING:
    from rich.table import Table

    from identify.exchange import SavedEstimate

Group: TypeAlias = Literal[
    "mass", "com", "inertia_about_com", "first_moment", "inertia_about_origin", "principal"
]


class _Quantity(NamedTuple):
    """The parameters of a group: their keys in estimate.json, and what of phi decides each, if one.

    `values` are those of a body, shape (n,); `shown_in` gives the unit that suits the largest.
    """

    names: tuple[str, ...]
    deciding: tuple[str, ...]
    unit: str
    values: Callable[[InertialParameters], Array]
    shown_in: Callable[[float], Unit]


_COM, _INERTIA_ABOUT_COM = ("cx", "cy", "cz"), tuple(f"Ic{name[1:]}" for name in PHI[4:])
_SCALED_MOMENT, _SCALED_INERTIA = partial(scaled, UNITS[1]), partial(scaled, UNITS[4])
_QUANTITIES: dict[Group, _Quantity] = {
    "mass": _Quantity(PHI[:1], PHI[:1], UNITS[0], lambda body: body.phi[:1], unit_of_mass),
    "com": _Quantity(_COM, PHI[1:4], "m", lambda body: body.com, unit_of_length),
    "inertia_about_com": _Quantity(
        _INERTIA_ABOUT_COM,
        PHI[4:],
        UNITS[4],
        lambda body: six_from_symmetric(body.inertia_about_com),
        _SCALED_INERTIA,
    ),
    "first_moment": _Quantity(
        PHI[1:4], PHI[1:4], UNITS[1], lambda body: body.phi[1:4], _SCALED_MOMENT
    ),
    "inertia_about_origin": _Quantity(
        PHI[4:], PHI[4:], UNITS[4], lambda body: body.phi[4:], _SCALED_INERTIA
    ),
    "principal": _Quantity(
        MOMENTS, ("",) * 3, UNITS[4], lambda body: body.principal_moments, _SCALED_INERTIA
    ),
}

PRINCIPAL: tuple[Group, ...] = ("principal",)
"""Principal moments of inertia about the centre of mass, ascending."""

GROUPS: tuple[Group, ...] = tuple(name for name in _QUANTITIES if name not in PRINCIPAL)
"""All other groups, in the order of the tables."""

ABOUT_COM: tuple[Group, ...] = GROUPS[:3]
"""Mass, centre of mass and inertia about it: ten parameters as a person knows them."""

ABOUT_ORIGIN: tuple[Group, ...] = ("mass", "first_moment", "inertia_about_origin")
"""The ten of phi, about the origin of the body frame."""

_SYMMETRIC_INTERVAL = 1e-6
"""Relative distance of an interval's middle from the value up to which it is shown as ±."""


def unit_of(group: Group, largest: float) -> Unit:
    """The unit that suits the largest value of a group, which is in SI."""
    return _QUANTITIES[group].shown_in(largest)


@dataclass(frozen=True, slots=True)
class Shown:
    """A row's numbers as text, rounded to what the interval supports, in a unit that suits them."""

    unit: str
    value: str
    interval: str
    truth: str
    error: str


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter, in SI, and as it is shown.

    Attributes:
        name: key as in estimate.json: m, cx, Icxx, hx, Ixx.
        group: of parameters of one kind.
        unit: SI unit.
        value: the estimate.
        interval: its 95 % interval, or None where it has none.
        decided_by: "data", "prior", "constraint", "given", "default" or "nothing"; empty where it
            is not known.
        truth: the true value, or None.
        shown: the same as text.
    """

    name: str
    group: Group
    unit: str
    value: float
    interval: tuple[float, float] | None
    decided_by: str
    truth: float | None
    shown: Shown

    @property
    def error(self) -> float | None:
        """Estimate less truth, where that is known."""
        return None if self.truth is None else self.value - self.truth

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, where it has one."""
        return None if self.interval is None else 0.5 * (self.interval[1] - self.interval[0])

    @property
    def measured(self) -> bool:
        """Whether the value came from the data, and not from the default body."""
        return self.decided_by not in NOT_IDENTIFIED

    @property
    def outside(self) -> bool:
        """Whether the truth is known and outside the interval."""
        if self.truth is None or self.interval is None or self.decided_by == "given":
            return False
        return not self.interval[0] <= self.truth <= self.interval[1]


def parameter_rows(
    estimate: SavedEstimate,
    truth: InertialParameters | None = None,
    groups: Sequence[Group] = GROUPS,
) -> tuple[ParameterRow, ...]:
    """The parameters of an estimate, or of one read from its file.

    Args:
        estimate: the estimate.
        truth: the true body, about the same origin and in the same axes, if it is known.
        groups: which parameters, in which order: `ABOUT_COM`, `ABOUT_ORIGIN` or all.
    """
    return tuple(row for group in groups for row in _rows(estimate, truth, group))


def _rows(
    estimate: SavedEstimate, truth: InertialParameters | None, group: Group
) -> Iterator[ParameterRow]:
    quantity = _QUANTITIES[group]
    values = quantity.values(estimate.parameters)
    truths = [None] * len(values) if truth is None else quantity.values(truth).tolist()
    largest = float(np.abs(values).max())
    widths = [high - low for low, high in filter(None, map(estimate.intervals.get, quantity.names))]
    known = [abs(true) for true in truths if true is not None]
    unit = quantity.shown_in(max(largest, 0.5 * min(widths, default=0.0), *known))
    named = zip(quantity.names, quantity.deciding, values.tolist(), truths, strict=True)
    for name, deciding, value, true in named:
        interval, decided = estimate.intervals.get(name), estimate.decided_by
        decided_by = decided.get(name, decided.get(deciding, ""))
        yield ParameterRow(
            name=name,
            group=group,
            unit=quantity.unit,
            value=float("nan") if decided_by == "nothing" else value,
            interval=interval,
            decided_by=decided_by,
            truth=true,
            shown=_shown(value, interval, decided_by, true, unit, largest),
        )


def _shown(
    value: float,
    interval: tuple[float, float] | None,
    decided_by: str,
    truth: float | None,
    unit: Unit,
    largest: float,
) -> Shown:
    value, largest = unit.of(value), unit.of(largest)
    half = None if interval is None else 0.5 * unit.of(interval[1] - interval[0])
    if decided_by == "given":
        decimals = len(f"{value:.{MOST_DIGITS}g}".partition("e")[0].partition(".")[2])
    else:  # a default is no measurement: two digits are plenty
        decimals = decimals_for(0.5 * largest if decided_by == "default" else half, largest)
    error = ""
    if truth is not None:
        off = value - unit.of(truth)
        # In digits of its own where those of an exact value are all zero.
        exact = half is not None and not _digits(fixed(half, decimals)) and decided_by != "given"
        error = significant(off) if exact else fixed(off, decimals)
        error = f"+{error}" if off > 0.0 and _digits(error) else error
    spread = _WITHOUT_INTERVAL.get(decided_by, "")
    if not spread and interval is not None:
        spread = _interval(value, interval, unit, decimals)
    unknown = decided_by == "nothing"
    return Shown(
        unit=unit.name,
        value="–" if unknown else fixed(value, decimals),
        interval=spread,
        truth="" if truth is None else fixed(unit.of(truth), decimals),
        error="" if unknown else error,
    )


_PRIOR_SHARE_SHOWN = 0.5
"""Share of a prior that is shown [%]."""

_WITHOUT_INTERVAL = {
    "given": "given",
    "default": "unidentifiable",
    "nothing": "not identifiable",
}


def _interval(value: float, interval: tuple[float, float], unit: Unit, decimals: int) -> str:
    low, high = map(unit.of, interval)
    half = 0.5 * (high - low)
    if abs(0.5 * (low + high) - value) <= _SYMMETRIC_INTERVAL * max(abs(value), half):
        return plus_minus(half, decimals)
    return f"{fixed(low, decimals)} … {fixed(high, decimals)}"


def _digits(text: str) -> str:
    """A number without its zeros; empty for a zero."""
    return text.strip("0.")


def parameter_rich_table(
    estimate: SavedEstimate,
    truth: InertialParameters | None = None,
    groups: Sequence[Group] = ABOUT_COM,
    title: str | None = None,
) -> Table:
    """The parameters with, where known, their intervals, what decided each, truth and error.

    It fits a terminal of 80 columns. What is not identifiable is dim and says so; a truth outside
    its interval is marked by a star.

    Args:
        estimate: the estimate, or one read from its file.
        truth: the true body, if it is known.
        groups: which parameters: `ABOUT_COM` (where not given), `ABOUT_ORIGIN`, or others.
        title: what stands above.
    """
    from rich import box
    from rich.table import Table

    rows = parameter_rows(estimate, truth, groups)
    caption = [f"± {estimate.interval_kind}"] if estimate.interval_kind else []
    about_origin = "c, h and I are" if set(ABOUT_ORIGIN[1:]) & set(groups) else "c is"
    caption.append(
        f"{estimate.frame_description}: {about_origin} about its origin, Ic about the centre of "
        "mass, all in its axes"
    )
    if estimate.default_body and not all(row.measured for row in rows):
        caption.append(f"default: not identifiable from this log; {estimate.default_body}")
    share = {name: 100.0 * of for name, of in estimate.prior_share.items()}
    if "prior" in estimate.decided_by.values():
        said = ", ".join(
            f"{name} {of:.0f} %" for name, of in share.items() if of >= _PRIOR_SHARE_SHOWN
        )
        caption.append(f"prior's share of what is known: {said}")
    if any(row.outside for row in rows):
        caption.append("* truth outside the interval")
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        caption=printable("\n".join(caption)) or None,
        caption_justify="left",
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    known = any(row.shown.interval or row.decided_by for row in rows)
    heads = ["", "unit", "estimate", *["95 %", "decided by"] * known]
    heads += ["truth", "error"] * (truth is not None)
    for head in heads:
        numbers = head not in ("", "unit", "decided by")
        table.add_column(head, justify="right" if numbers else "left", no_wrap=True)
    for index, row in enumerate(rows):
        shown = row.shown
        cells = [row.name, shown.unit, shown.value, *[shown.interval, row.decided_by] * known]
        if truth is not None:
            cells += [shown.truth, shown.error + ("*" if row.outside else " ")]
        last = index + 1 == len(rows) or rows[index + 1].group != row.group
        style = None if row.measured else "dim"
        table.add_row(*cells, style=style, end_section=last and len(groups) > 3)
    return table
