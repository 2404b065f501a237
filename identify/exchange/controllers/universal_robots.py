"""Universal Robots: `set_target_payload` of URScript."""

from __future__ import annotations

import numpy as np

from identify.errors import ModelError
from identify.exchange.controllers.payload import Payload
from identify.exchange.controllers.setting import PayloadSetting
from identify.exchange.controllers.tensor import tensor_figures

LARGEST_INERTIA = 133.0
"""Largest magnitude of each entry of the inertia matrix [kg m²]; beyond it the script stops."""


def universal_robots(payload: Payload) -> PayloadSetting:
    """`set_target_payload(m, cog, inertia)`; inertia at the CoG, along the flange's axes.

    Raises:
        ModelError: an inertia above what the function takes.
    """
    largest = float(np.abs(payload.inertia).max())
    if largest > LARGEST_INERTIA:
        raise ModelError(
            f"ur: an inertia of {largest:.4g} kg m² about the centre of mass; "
            f"set_target_payload takes at most {LARGEST_INERTIA:g}: check the units"
        )
    figures = tensor_figures(payload)
    xx, xy, xz, yy, yz, zz = figures.six
    text = (
        "# kg; m from the tool flange; kg m^2 [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] at the CoG,\n"
        "# axes of the tool flange\n"
        f"set_target_payload({figures.mass}, [{', '.join(figures.com)}], "
        f"[{', '.join((xx, yy, zz, xy, xz, yz))}])\n"
    )
    notes = (
        "give the body in the tool flange's frame, not the TCP's",
        "the force and torque readings are zeroed when the payload is set",
        "the arm's rated payload is not checked unless you name it",
    )
    return PayloadSetting("ur", text, figures.lost, notes)
