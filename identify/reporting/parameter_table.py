"""The parameters of an estimate as rows that every table shows: terminal, report, figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from identify.inertia import PHI, UNITS, InertialParameters
from identify.inertia.matrices import six_from_symmetric
from identify.reporting.rounding import (
    MOST_DIGITS,
    Unit,
    decimals_for,
    fixed,
    scaled,
    significant,
    unit_of_length,
    unit_of_mass,
)

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.exchange import SavedEstimate

Group: TypeAlias = Literal[
    "mass", "com", "inertia_about_com", "first_moment", "inertia_about_origin"
]

GROUPS: tuple[Group, ...] = (
    "mass",
    "com",
    "inertia_about_com",
    "first_moment",
    "inertia_about_origin",
)
"""All groups, in the order of the tables."""

ABOUT_COM: tuple[Group, ...] = GROUPS[:3]
"""Mass, centre of mass and inertia about it: ten parameters as a person knows them."""

ABOUT_ORIGIN: tuple[Group, ...] = ("mass", "first_moment", "inertia_about_origin")
"""The ten of phi, about the origin of the body frame."""

_ENTRIES = ("xx", "xy", "xz", "yy", "yz", "zz")
_NAMES: dict[Group, tuple[str, ...]] = {
    "mass": PHI[:1],
    "com": ("cx", "cy", "cz"),
    "inertia_about_com": tuple(f"Ic{entry}" for entry in _ENTRIES),
    "first_moment": PHI[1:4],
    "inertia_about_origin": PHI[4:],
}
_UNITS: dict[Group, str] = {
    "mass": UNITS[0],
    "com": "m",
    "inertia_about_com": UNITS[4],
    "first_moment": UNITS[1],
    "inertia_about_origin": UNITS[4],
}
_SYMMETRIC = 1e-6


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
        decided_by: "data", "constraint", "given" or "default"; empty where it is not known.
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
        return self.decided_by != "default"

    @property
    def outside(self) -> bool:
        """Whether the truth is known and outside the interval."""
        if self.truth is None or self.interval is None or self.decided_by == "given":
            return False
        return not self.interval[0] <= self.truth <= self.interval[1]


def parameter_rows(
    estimate: Estimate | SavedEstimate,
    truth: InertialParameters | None = None,
    groups: Sequence[Group] = GROUPS,
) -> tuple[ParameterRow, ...]:
    """The parameters of an estimate, or of one read from its file.

    Args:
        estimate: the estimate.
        truth: the true body, about the same origin and in the same axes, if it is known.
        groups: which parameters, in which order: `ABOUT_COM`, `ABOUT_ORIGIN` or all.
    """
    return tuple(row for group in groups for row in _group_rows(estimate, truth, group))


def _group_rows(
    estimate: Estimate | SavedEstimate, truth: InertialParameters | None, group: Group
) -> Iterable[ParameterRow]:
    values = _values(estimate.parameters, group)
    truths = [None] * len(values) if truth is None else list(_values(truth, group))
    largest = float(np.abs(values).max())
    beside = 0.0 if truth is None else float(np.abs(_values(truth, group)).max())
    unit = _shown_unit(group, max(largest, beside))
    for name, value, true in zip(_NAMES[group], values, truths, strict=True):
        interval = estimate.intervals.get(name)
        decided_by = estimate.decided_by.get(_deciding(name), "")
        yield ParameterRow(
            name=name,
            group=group,
            unit=_UNITS[group],
            value=float(value),
            interval=interval,
            decided_by=decided_by,
            truth=None if true is None else float(true),
            shown=_shown(float(value), interval, decided_by, true, unit, largest),
        )


def _deciding(name: str) -> str:
    """Which of the ten a parameter stands and falls with."""
    if name in PHI:
        return name
    return f"h{name[1]}" if len(name) == 2 else f"I{name[2:]}"


def _values(body: InertialParameters, group: Group) -> np.ndarray:
    if group == "mass":
        return body.phi[:1]
    if group == "com":
        return body.com
    if group == "first_moment":
        return body.first_moment
    if group == "inertia_about_com":
        return six_from_symmetric(body.inertia_about_com)
    return body.phi[4:]


def _shown_unit(group: Group, largest: float) -> Unit:
    if group == "mass":
        return unit_of_mass(largest)
    return unit_of_length(largest) if group == "com" else scaled(_UNITS[group], largest)


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
    decimals = _decimals(value, half, decided_by, largest)
    error = ""
    if truth is not None:
        exact = half is not None and not fixed(half, decimals).strip("0.")
        error = _signed(value - unit.of(truth), decimals, exact and decided_by != "given")
    return Shown(
        unit=unit.name,
        value=fixed(value, decimals),
        interval=_interval(value, interval, decided_by, unit, decimals),
        truth="" if truth is None else fixed(unit.of(truth), decimals),
        error=error,
    )


def _decimals(value: float, half: float | None, decided_by: str, largest: float) -> int:
    if decided_by == "given":
        return len(f"{value:.{MOST_DIGITS}g}".partition("e")[0].partition(".")[2])
    # A default is no measurement: two digits are plenty.
    return decimals_for(0.5 * largest if decided_by == "default" else half, largest)


def _interval(
    value: float,
    interval: tuple[float, float] | None,
    decided_by: str,
    unit: Unit,
    decimals: int,
) -> str:
    if decided_by == "given":
        return "given"
    if decided_by == "default":
        return "unidentifiable"
    if interval is None:
        return ""
    low, high = unit.of(interval[0]), unit.of(interval[1])
    half = 0.5 * (high - low)
    if abs(0.5 * (low + high) - value) <= _SYMMETRIC * max(abs(value), half):
        text = fixed(half, decimals)
        return f"± {text if text.strip('0.') else significant(half)}"
    return f"{fixed(low, decimals)} … {fixed(high, decimals)}"


def _signed(error: float, decimals: int, exact: bool) -> str:
    """An error in the decimals of its value, or in digits of its own where those are all zero."""
    text = significant(error) if exact else fixed(error, decimals)
    return f"+{text}" if error > 0.0 and text.strip("0.") else text
