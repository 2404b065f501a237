"""Required precision of an estimate, such as "mass 1%, com 2mm, inertia 10%", and its check.

A need is met if no 95 % half-width is larger: of the mass; of each coordinate of the centre of
mass; of each entry of the inertia about it. Percentages of the mass refer to the estimate, those of
the inertia to its largest principal moment (entries may be zero). The needed precision of the
centre of mass is a length: a share of its distance would depend on the origin.

Half-widths are those that log and body decide, without the error of the sensor's scale, which no
log narrows. A need of the "total" half-width includes that error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from identify.diagnosis.motion import DESIGN_COMMAND
from identify.errors import SchemaError, did_you_mean
from identify.estimation import Estimate
from identify.estimation.intervals import (
    ESTIMATED_QUANTITIES,
    identified_quantities,
    interval_jacobian,
    principal_uncertainty,
)
from identify.inertia import PHI, InertialParameters
from identify.relevance import (
    GOOD_ARM_PRECISION,
    GOOD_PRECISION,
    POOR_ARM_PRECISION,
    POOR_PRECISION,
)

_LENGTH_UNITS: Mapping[str, float] = MappingProxyType({"m": 1.0, "cm": 1e-2, "mm": 1e-3})
"""SI value of each unit of length."""
_MASS_UNITS: Mapping[str, float] = MappingProxyType({"kg": 1.0, "g": 1e-3})
"""SI value of each unit of mass."""
_RELATIVE_UNITS: Mapping[str, float] = MappingProxyType({"%": 1e-2})
"""Value of each unit of a relative width."""
_UNITS_OF_QUANTITY: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "mass": {**_RELATIVE_UNITS, **_MASS_UNITS},
        "com": _LENGTH_UNITS,
        "inertia": {
            **_RELATIVE_UNITS,
            **{
                f"{m}{u}2": a * b**2
                for m, a in _MASS_UNITS.items()
                for u, b in _LENGTH_UNITS.items()
            },
        },
    }
)
"""SI value of each unit of each quantity; units are spelled without spaces and product signs."""

INTERVAL_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mass": ("m",),
        "com": ("cx", "cy", "cz"),
        "inertia": ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz"),
    }
)
"""Names of the parameters whose intervals belong to each quantity: mass, com and inertia."""

QUANTITY_NAMES: Mapping[str, str] = MappingProxyType(
    {"mass": "mass", "com": "centre of mass", "inertia": "inertia about the centre of mass"}
)
"""Name of each quantity in messages."""

_TOTAL = "total"
"""Word of a need of the half-width with the error of the sensor's scale."""

_REQUIREMENT_PATTERN = re.compile(
    rf"(?P<quantity>[a-z]+)\s*(?P<number>[0-9.]+(?:e[+-]?[0-9]+)?)\s*(?P<unit>.+?)"
    rf"(?P<total>\s+{_TOTAL})?"
)
"""Pattern of one requirement: quantity, number, unit, and whether the scale's error is included."""


@dataclass(frozen=True, slots=True)
class RequiredPrecision:
    """Required precision of a quantity: the largest acceptable half-width of its 95 % intervals.

    Attributes:
        text: as it was given.
        quantity: "mass", "com" or "inertia".
        limit: in the unit, or in % of the estimate's.
        unit: "%", or one of the quantity, as it was written.
        total: whether half-widths include the error of the sensor's scale.
    """

    text: str
    quantity: str
    limit: float
    unit: str
    total: bool = False

    def half_width(self, estimate: Estimate, *, total: bool) -> float | None:
        """Return the quantity's widest half-width in the required unit; None without interval.

        That of the centre of mass is at least the doubt about the place of the flange. Parameters
        that no motion of the mechanism shows do not count beside others.
        """
        names = shown_names(estimate, self.quantity) or INTERVAL_NAMES[self.quantity]
        widths = [half_width(estimate, name, total) for name in names]
        if self.quantity == "com":
            widths.append(estimate.flange_displacement)
        return self.widest_in_unit(widths, estimate.parameters)

    def widest_in_unit(
        self, half_widths: Iterable[float], body: InertialParameters
    ) -> float | None:
        """Convert the widest of given half-widths from SI to the required unit.

        `body`: to which relative needs refer.
        Returns None if a half-width is infinite.
        """
        width = max(half_widths)
        if not np.isfinite(width):
            return None
        whole = 1.0
        if self.unit == "%" and self.quantity == "mass":
            whole = float(body.mass)
        elif self.unit == "%":
            whole = float(np.linalg.eigvalsh(body.inertia_about_com)[-1])
        return width / whole / _UNITS_OF_QUANTITY[self.quantity][_normalise_unit(self.unit)]

    def allows(self, reached: float | None) -> bool:
        """Whether a half-width in the required unit is as narrow as required."""
        return reached is not None and reached <= self.limit

    def format_beyond(self, reached: float) -> str:
        """Format a half-width beyond the limit with its unit, in digits that show the difference.

        There are two significant digits, or as many as it takes.
        """
        texts = (f"{float(f'{reached:.{digits}g}'):.15g}" for digits in range(2, 16))
        shown = next((text for text in texts if float(text) > self.limit), repr(reached))
        return f"{shown} {self.unit}"

    def is_met(self, estimate: Estimate) -> bool:
        """Whether the intervals of an estimate are as narrow as required."""
        return self.allows(self.half_width(estimate, total=self.total))

    def relaxed(self, estimate: Estimate, poor: RequiredPrecision) -> RequiredPrecision:
        """Return the need of one digit that an estimate just meets, at most the poorest usual one.

        `poor`: a need of the same quantity that the estimate meets.
        """
        reached = self.half_width(estimate, total=self.total)
        assert reached is not None
        digit = 10.0 ** np.floor(np.log10(reached))
        limit = float(f"{np.ceil(reached / digit) * digit:.1g}")
        if self.unit == poor.unit and not self.total and limit > poor.limit:
            return poor
        total = f" {_TOTAL}" if self.total else ""
        text = f"{self.quantity} {limit:g}{self.unit}{total}"
        return replace(self, text=text, limit=limit)

    def is_scale_limited(self, estimate: Estimate) -> bool:
        """Whether the error of the sensor's scale alone makes the intervals too wide."""
        if estimate.calibration is None:
            return False
        between_logs, total = (self.half_width(estimate, total=total) for total in (False, True))
        return self.allows(between_logs) and not self.allows(total)

    def is_flange_limited(self, estimate: Estimate) -> bool:
        """Whether doubt about the place of the flange alone makes the quantity too uncertain."""
        displacement = estimate.flange_displacement
        return self.quantity == "com" and not self.allows(
            self.widest_in_unit([displacement], estimate.parameters)
        )


@dataclass(frozen=True, slots=True)
class PrecisionLimits:
    """Half-widths up to which an estimate is usable where the user requires no precision.

    Attributes:
        good: up to which a quantity is good enough for most uses, by quantity.
        poor: above which it is too poor for any use, by quantity.
        scale_remedy: remedy where the scale of the sensor is the limit.
        motion_remedy: what to log where mass or centre of mass are too wide.
        design_command: command that designs the motion for the inertia.
    """

    good: Mapping[str, RequiredPrecision]
    poor: Mapping[str, RequiredPrecision]
    scale_remedy: str
    motion_remedy: str
    design_command: str


def _limits(half_widths: Mapping[str, float]) -> Mapping[str, RequiredPrecision]:
    """Return limits in SI, or relative, as requirements."""
    shown = (
        (quantity, 1e3 * limit if quantity == "com" else 100.0 * limit)
        for quantity, limit in half_widths.items()
    )
    units = {"com": "mm"}
    return MappingProxyType(
        {
            quantity: RequiredPrecision(
                f"{quantity} {limit:g}{units.get(quantity, '%')}",
                quantity,
                float(f"{limit:g}"),
                units.get(quantity, "%"),
            )
            for quantity, limit in shown
        }
    )


WRENCH_LIMITS = PrecisionLimits(
    _limits(GOOD_PRECISION),
    _limits(POOR_PRECISION),
    "Weigh the body and give --mass KG, or calibrate the sensor and give `gain_accuracy` in "
    "[wrench].",
    f"Log longer, with larger turns about all axes. {DESIGN_COMMAND} designs the motion.",
    DESIGN_COMMAND,
)
"""Precision limits of a body identified by a force-torque sensor."""

STATIC_LIMITS = replace(
    WRENCH_LIMITS,
    motion_remedy="Log more poses, with attitudes that differ more. `identify design --wrist "
    "--poses 20` designs them.",
)
"""Precision limits of a body identified by a force-torque sensor in static poses."""

_ARM_DESIGN_COMMAND = (
    "`identify design --robot arm.urdf --payload-at FRAME --after OUT/estimate.json`"
)

ARM_LIMITS = PrecisionLimits(
    _limits(GOOD_ARM_PRECISION),
    _limits(POOR_ARM_PRECISION),
    "Weigh the load and give --mass KG, give --torque-scale if it is better known, or take it from "
    "a load of known mass (--known-load).",
    f"Log longer, all joints further and faster. {_ARM_DESIGN_COMMAND} designs the motion.",
    _ARM_DESIGN_COMMAND,
)
"""Precision limits of a payload identified by joint torques."""

USES: Mapping[str, Callable[[PrecisionLimits], tuple[RequiredPrecision, ...]]] = MappingProxyType(
    {
        "compensation": lambda limits: (limits.good["mass"], limits.good["com"]),
        "controller": lambda limits: (
            *(limits.good["mass"], limits.good["com"]),
            limits.poor["inertia"],
        ),
        "simulation": lambda limits: tuple(limits.good.values()),
    }
)
"""Requirements of a use of the estimate, by its name: compensation of the load's weight in a
wrench, the payload of a robot's controller, and simulation."""

_GRAMMAR_HELP = (
    'expected for example "mass 1%, com 2mm, inertia 10%": commas between needs, each a quantity '
    "(mass, com or inertia), which alone has its usual limit, or with a positive number and a "
    "unit: mass in %, kg or g; com in m, cm or mm; inertia in % (of the largest principal moment), "
    f'kg m², kg cm² or g mm²; then "{_TOTAL}" if the error of the sensor\'s scale counts; or one '
    f"of the uses {', '.join(USES)}"
)
"""Description of the syntax of required precision, for messages."""


def parse_required_precision(
    text: str, limits: PrecisionLimits = WRENCH_LIMITS
) -> tuple[RequiredPrecision, ...]:
    """Parse required precision from text such as "mass 1%, com 2mm"; an empty text gives none.

    Raises `SchemaError`: the text is invalid; the message has the grammar.
    """
    if not isinstance(text, str):
        raise SchemaError(f"needs: {_GRAMMAR_HELP}; got {text!r}")
    needs = (need for part in text.split(",") for need in _parse_requirement(part, limits))
    return tuple(dict.fromkeys(needs)) if text else ()


def _parse_requirement(part: str, limits: PrecisionLimits) -> Iterator[RequiredPrecision]:
    words = part.strip().lower()
    if words in USES:
        yield from USES[words](limits)
        return
    if words in limits.good:
        yield limits.good[words]
        return
    match = _REQUIREMENT_PATTERN.fullmatch(words)
    if match is None or match["quantity"] not in _UNITS_OF_QUANTITY:
        hint = did_you_mean(words, (*limits.good, *USES))
        raise SchemaError(f"needs: {part.strip()!r} is not a need{hint}; {_GRAMMAR_HELP}")
    units = _UNITS_OF_QUANTITY[match["quantity"]]
    try:
        number = float(match["number"])
    except ValueError:
        number = 0.0
    if _normalise_unit(match["unit"]) not in units or not (np.isfinite(number) and number > 0.0):
        raise SchemaError(f"needs: {part.strip()!r} is not a need; {_GRAMMAR_HELP}")
    yield RequiredPrecision(
        " ".join(part.split()), match["quantity"], number, match["unit"], bool(match["total"])
    )


def _normalise_unit(unit: str) -> str:
    return re.sub(r"[\s*·^]", "", unit.replace("²", "2"))


def required_precision_met(
    text: str, estimate: Estimate, limits: PrecisionLimits = WRENCH_LIMITS
) -> dict[str, bool]:
    """Return, by requirement such as "mass 1%", whether an estimate's intervals meet it."""
    return {need.text: need.is_met(estimate) for need in parse_required_precision(text, limits)}


def shown_names(estimate: Estimate, quantity: str) -> tuple[str, ...]:
    """Return the names of a quantity's parameters that motions of the mechanism show."""
    hidden = {name for name, by in estimate.decided_by.items() if by == "mechanism"}
    if not hidden:
        return INTERVAL_NAMES[quantity]
    sources = {name: "default" if name in hidden else "data" for name in PHI}
    shown = identified_quantities(sources)
    return tuple(name for name in INTERVAL_NAMES[quantity] if shown[name])


def half_width(estimate: Estimate, name: str, total: bool) -> float:
    """Return the 95 % half-width of a quantity; infinite without an interval."""
    interval = estimate.intervals[name]
    width = np.inf if interval is None else 0.5 * (interval[1] - interval[0])
    if total or estimate.calibration is None or not 0.0 < width < np.inf:
        return width
    phi, k = estimate.parameters.phi, ESTIMATED_QUANTITIES.index(name)
    jacobian = interval_jacobian(phi, principal_uncertainty(phi, estimate.covariance))[k]
    covariances = estimate.covariance, estimate.repeatability
    whole, repeatable = (max(float(jacobian @ C @ jacobian), 0.0) for C in covariances)
    return width * float(np.sqrt(repeatable / whole)) if whole > 0.0 else width
