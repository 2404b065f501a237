"""Required precision of an estimate, such as "mass 1%, com 2mm, inertia 10%", and its check.

A need is met if no 95 % half-width is larger: of the mass; of each coordinate of the centre of
mass; of each entry of the inertia about it. Percentages of the mass refer to the estimate, those of
the inertia to its largest principal moment (entries may be zero). The needed precision of the
centre of mass is a length: a share of its distance would depend on the origin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from identify.diagnosis.motion import DESIGN_COMMAND
from identify.errors import SchemaError
from identify.estimation import Estimate
from identify.estimation.intervals import (
    ESTIMATED_QUANTITIES,
    interval_jacobian,
    principal_uncertainty,
)
from identify.findings import UNIDENTIFIED_SOURCES, Finding
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

_REQUIREMENT_PATTERN = re.compile(
    r"(?P<quantity>[a-z]+)\s*(?P<number>[0-9.]+(?:e[+-]?[0-9]+)?)\s*(?P<unit>.+)"
)
"""Pattern of one requirement: quantity, number and unit."""
_GRAMMAR_HELP = (
    'expected for example "mass 1%, com 2mm, inertia 10%": commas between needs, each a quantity, '
    "a positive number and a unit: mass in %, kg or g; com in m, cm or mm; inertia in % (of the "
    "largest principal moment), kg m², kg cm² or g mm²"
)
"""Description of the syntax of required precision, for messages."""


HalfWidth: TypeAlias = Callable[[Estimate, str], float]
"""Function that returns the 95 % half-width of a named quantity of an estimate; may be infinite."""


@dataclass(frozen=True, slots=True)
class RequiredPrecision:
    """Required precision of a quantity: the largest acceptable half-width of its 95 % intervals.

    Attributes:
        text: as it was given.
        quantity: "mass", "com" or "inertia".
        limit: in the unit, or in % of the estimate's.
        unit: "%", or one of the quantity, as it was written.
    """

    text: str
    quantity: str
    limit: float
    unit: str

    def widest_half_width(
        self, estimate: Estimate, half_width: HalfWidth | None = None
    ) -> float | None:
        """Return the quantity's widest half-width in the required unit; None without interval.

        Args:
            estimate: with its intervals.
            half_width: of a quantity by its name; that of its full interval where not given.
        """
        half_width = half_width or _half_width
        widths = (half_width(estimate, name) for name in INTERVAL_NAMES[self.quantity])
        return self.widest_in_unit(widths, estimate.parameters)

    def widest_in_unit(
        self, half_widths: Iterable[float], body: InertialParameters
    ) -> float | None:
        """Convert the widest of given half-widths from SI to the required unit.

        Args:
            half_widths: of the quantity's entries.
            body: to which relative needs refer.

        Returns:
            None if a half-width is infinite.
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

    def is_met(self, estimate: Estimate) -> bool:
        """Whether the intervals of an estimate are as narrow as required."""
        reached = self.widest_half_width(estimate)
        return reached is not None and reached <= self.limit


def parse_required_precision(text: str) -> tuple[RequiredPrecision, ...]:
    """Parse required precision from text such as "mass 1%, com 2mm"; an empty text gives none.

    Raises:
        SchemaError: the text is invalid; the message has the grammar.
    """
    if not isinstance(text, str):
        raise SchemaError(f"needs: {_GRAMMAR_HELP}; got {text!r}")
    return tuple(_parse_requirement(part) for part in text.split(",")) if text else ()


def _parse_requirement(part: str) -> RequiredPrecision:
    match = _REQUIREMENT_PATTERN.fullmatch(part.strip().lower())
    if match is None or match["quantity"] not in _UNITS_OF_QUANTITY:
        raise SchemaError(f"needs: {part.strip()!r} is not a need; {_GRAMMAR_HELP}")
    units = _UNITS_OF_QUANTITY[match["quantity"]]
    try:
        number = float(match["number"])
    except ValueError:
        number = 0.0
    if _normalise_unit(match["unit"]) not in units or not (np.isfinite(number) and number > 0.0):
        raise SchemaError(f"needs: {part.strip()!r} is not a need; {_GRAMMAR_HELP}")
    return RequiredPrecision(" ".join(part.split()), match["quantity"], number, match["unit"])


def _normalise_unit(unit: str) -> str:
    return re.sub(r"[\s*·^]", "", unit.replace("²", "2"))


def required_precision_met(text: str, estimate: Estimate) -> dict[str, bool]:
    """Return, by requirement such as "mass 1%", whether an estimate's intervals meet it."""
    return {need.text: need.is_met(estimate) for need in parse_required_precision(text)}


@dataclass(frozen=True, slots=True)
class PrecisionLimits:
    """Default half-widths up to which an estimate is usable, if the user requires no precision.

    Attributes:
        usable_half_widths, unusable_half_widths: half-widths of the mass, relative to it, and of a
            coordinate of the centre of mass [m]: up to the first an estimate is usable, beyond the
            second it is not.
        scale_remedy: remedy where the scale of the sensor is the limit.
        design_command: command that designs the motion that would help most.
    """

    usable_half_widths: tuple[float, float]
    unusable_half_widths: tuple[float, float]
    scale_remedy: str
    design_command: str


WRENCH_LIMITS = PrecisionLimits(
    GOOD_PRECISION,
    POOR_PRECISION,
    "The sensor's scale sets the limit, and a longer log does not narrow it: calibrate the sensor "
    "and give `gain_accuracy` in [wrench], weigh the body and give --mass, or relax the need.",
    DESIGN_COMMAND,
)
"""Default precision limits of a body identified by a force-torque sensor."""

ARM_LIMITS = PrecisionLimits(
    GOOD_ARM_PRECISION,
    POOR_ARM_PRECISION,
    "The torque scale of the joints sets the limit, and a longer log does not narrow it: give "
    "--torque-scale if it is better known, take it from a load of known mass (--known-load), or "
    "relax the need.",
    "`identify design --robot arm.urdf --payload-at FRAME --after OUT/estimate.json`",
)
"""Default precision limits of a payload identified by joint torques."""


def precision_findings(
    estimate: Estimate, needs: str, limits: PrecisionLimits = WRENCH_LIMITS
) -> Iterator[Finding]:
    """Yield findings of an estimate that is less precise than the user needs.

    Given needs refer to the full intervals. Without needs, the repeatability of mass and centre of
    mass is compared with the usual needs of controllers.

    Args:
        estimate: with its intervals and its needs as they are met.
        needs: as they were given.
        limits: of an estimate without needs.
    """
    for need in parse_required_precision(needs):
        reached = need.widest_half_width(estimate)
        if need.is_met(estimate):
            continue
        between_logs = need.widest_half_width(estimate, _repeatability_half_width)
        of_scale = between_logs is not None and between_logs <= need.limit
        has = "has no interval" if reached is None else f"is known to ± {reached:.2g} {need.unit}"
        yield Finding(
            "need_unmet",
            "error",
            f"the need {need.text} is not met: the {QUANTITY_NAMES[need.quantity]} {has} (95 %).",
            limits.scale_remedy
            if of_scale
            else "Log longer, with more and faster turns about all axes; or relax the need. "
            f"{limits.design_command} designs the motion.",
            {} if reached is None else {"half_width": reached, "needed": need.limit},
        )
    if needs:
        return
    for body in estimate.bodies:
        mass, com = repeatability(body)
        sources = {body.decided_by[name] for name in PHI[:4]}
        if not np.isfinite(mass + com) and sources & UNIDENTIFIED_SOURCES:
            continue  # a default body stands in, as another finding says
        shares = mass / body.mass, com
        worst = max(
            share / good for share, good in zip(shares, limits.usable_half_widths, strict=True)
        )
        if worst <= 1.0:
            continue
        poor = any(
            share > most for share, most in zip(shares, limits.unusable_half_widths, strict=True)
        )
        mass_percent, com_mm = (float(f"{x:.2g}") for x in (100.0 * shares[0], 1e3 * com))
        of_mass, of_com = limits.unusable_half_widths if poor else limits.usable_half_widths
        yield Finding(
            "imprecise",
            "error" if poor else "warning",
            f"the mass{body.body_suffix} is known to ± {mass_percent:g} % and its centre of mass "
            f"to ± {com_mm:g} mm (95 %, repeatability), beyond {100.0 * of_mass:.0f} % or "
            f"{1e3 * of_com:.0f} mm.",
            "Log longer, with larger turns about all axes; or give the needed precision (--need). "
            f"{limits.design_command} designs the motion.",
            {"mass": shares[0], "com": com},
        )


def repeatability(estimate: Estimate) -> tuple[float, float]:
    """Return 95 % half-widths of mass [kg] and centre of mass [m] without the sensor's scale error.

    The intervals of an estimate also include the error of the sensor's scale, common to its logs.
    """
    mass, *com = (_repeatability_half_width(estimate, name) for name in ("m", "cx", "cy", "cz"))
    return mass, max(com)


def _half_width(estimate: Estimate, name: str) -> float:
    interval = estimate.intervals[name]
    return np.inf if interval is None else 0.5 * (interval[1] - interval[0])


def _repeatability_half_width(estimate: Estimate, name: str) -> float:
    """Return the 95 % half-width of a quantity without the sensor's scale error."""
    phi, k = estimate.parameters.phi, ESTIMATED_QUANTITIES.index(name)
    jacobian = interval_jacobian(phi, principal_uncertainty(phi, estimate.covariance))[k]
    covariances = estimate.covariance, estimate.repeatability
    total, repeatable = (max(float(jacobian @ C @ jacobian), 0.0) for C in covariances)
    width = _half_width(estimate, name)
    return width * float(np.sqrt(repeatable / total)) if total > 0.0 else width
