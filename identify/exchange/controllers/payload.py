"""A body that a controller may be given: possible, and of a size that an arm can carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Mat33, Vec3
from identify.errors import ModelError
from identify.inertia import InertialParameters
from identify.inertia.consistency import BodyKind
from identify.inertia.verdict import check

HEAVIEST = 3000.0
"""Heaviest mass that is taken for a payload [kg]: the largest arms carry about 2300 kg."""

LIGHTEST = 1e-6
"""Lightest mass that is taken for a payload [kg]: a milligram."""

FARTHEST = 10.0
"""Farthest centre of mass from the flange, and largest radius of gyration, of a payload [m]."""

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Payload:
    """A checked payload.

    Attributes:
        mass: [kg].
        com: centre of mass in the flange's frame [m], shape (3,).
        inertia: about the centre of mass, in axes of the flange [kg m²], shape (3, 3).
    """

    mass: float
    com: Vec3
    inertia: Mat33

    @property
    def product_share(self) -> float:
        """Largest product of inertia over the largest moment, zero where it is rounding."""
        moments = np.diag(self.inertia)
        largest = float(moments.max())
        if largest <= 0.0:
            return 0.0
        share = float(np.abs(self.inertia - np.diag(moments)).max()) / largest
        return share if share > _ROUNDING else 0.0


@dataclass(frozen=True, slots=True)
class Export:
    """A body as text to paste, or to type where a controller has a screen only.

    Attributes:
        text: the text.
        lost: what the text does not say of the body, or says otherwise, a sentence each.
        notes: units, frames and what to see to before it is used.
    """

    text: str
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def checked_payload(body: InertialParameters, *, largest_mass: float = HEAVIEST) -> Payload:
    """The payload of a body about the flange.

    Args:
        body: about the origin of the flange's frame, in its axes.
        largest_mass: what the arm may carry [kg].

    Raises:
        ModelError: an impossible body, no mass, or a size that no arm carries.
    """
    if not largest_mass > 0.0:
        raise ModelError(f"largest mass: expected a positive number [kg], got {largest_mass:g}")
    if not body.mass > 0.0:
        raise ModelError(
            f"payload: a mass of {body.mass:g} kg; a controller needs a positive one: check the "
            f"sign of the measured wrench, or subtract the tool from the tool with its load"
        )
    verdict = check(body.phi)
    if verdict.impossible:
        raise ModelError(
            f"payload: {verdict}; fit it with the physical constraints, or write the nearest "
            f"possible body in its place"
        )
    _require_size(body, largest_mass)
    inertia = np.zeros((3, 3)) if verdict.kind == BodyKind.POINT else body.inertia_about_com
    return Payload(body.mass, body.com, inertia)


def _require_size(body: InertialParameters, largest_mass: float) -> None:
    """Refuse what looks like other units or another frame."""
    if body.mass > largest_mass:
        raise ModelError(
            f"payload: a mass of {body.mass:g} kg; at most {largest_mass:g} kg may be carried: "
            f"check the units, or name the arm's own limit"
        )
    if body.mass < LIGHTEST:
        raise ModelError(
            f"payload: a mass of {body.mass:g} kg; expected {LIGHTEST:g} kg or more: "
            f"check the units"
        )
    distance = float(np.linalg.norm(body.com))
    if distance > FARTHEST:
        raise ModelError(
            f"payload: the centre of mass is {distance:.3g} m from the flange, expected at most "
            f"{FARTHEST:g} m: check the units, and give the body about the flange "
            f"(--frame; in Python, in_frame)"
        )
    gyration = float(np.sqrt(0.5 * max(np.trace(body.inertia_about_com), 0.0) / body.mass))
    if gyration > FARTHEST:
        raise ModelError(
            f"payload: a radius of gyration of {gyration:.3g} m about the centre of mass, expected "
            f"at most {FARTHEST:g} m: check the units of the inertia"
        )
