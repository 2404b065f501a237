"""A body that a controller may be given: possible, and of a size that an arm can carry."""

from __future__ import annotations

from typing import NamedTuple

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


class Payload(NamedTuple):
    """A checked payload.

    Attributes:
        mass: [kg].
        com: centre of mass in the flange's frame [m], shape (3,).
        inertia: about the centre of mass, in axes of the flange [kg m²], shape (3, 3).
    """

    mass: float
    com: Vec3
    inertia: Mat33


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
    inertia = np.zeros((3, 3)) if verdict.kind == BodyKind.POINT else body.inertia_about_com
    return Payload(body.mass, body.com, inertia)
