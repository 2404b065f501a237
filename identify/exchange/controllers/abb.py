"""ABB: `loaddata` of RAPID."""

from __future__ import annotations

from identify.errors import ModelError
from identify.exchange.controllers.figures import (
    SINGLE,
    decimals_for,
    fixed,
    fixed_all,
    round_moments,
)
from identify.exchange.controllers.payload import Payload
from identify.exchange.controllers.principal_axes import nearest_principal_frame
from identify.exchange.controllers.setting import PayloadSetting
from identify.inertia.conventions.axes import wxyz_from_rotation

SMALLEST_MASS = 0.001
"""Mass of RAPID's own `load0` [kg], the smallest load that is written."""

_QUATERNION_DECIMALS = 7


def abb(payload: Payload) -> PayloadSetting:
    """`[mass, cog, aom, ix, iy, iz]`, the moments along the axes of moment at the cog.

    Raises:
        ModelError: a mass below `SMALLEST_MASS`.
    """
    if payload.mass < SMALLEST_MASS:
        raise ModelError(
            f"abb: a mass of {payload.mass:g} kg; expected {SMALLEST_MASS:g} kg (that of load0) or "
            f"more: use load0 in its place"
        )
    moments, rotation = nearest_principal_frame(payload.inertia)
    cog_mm = 1e3 * payload.com
    cog = fixed_all(cog_mm, decimals_for(cog_mm, SINGLE, 3))
    aom = fixed_all(wxyz_from_rotation(rotation), _QUATERNION_DECIMALS)
    inertia = round_moments(moments, decimals_for(moments, SINGLE, 4))
    mass = fixed(payload.mass, decimals_for(payload.mass, SINGLE, 3))
    text = (
        "! mass kg; cog mm; aom q1..q4 (q1 the scalar), the principal axes at cog;\n"
        "! ix, iy, iz kgm^2 about the axes of aom\n"
        f"PERS loaddata payload := [{mass},[{','.join(cog)}],[{','.join(aom)}],"
        f"{','.join(inertia)}];\n"
    )
    lost = (f"digits: a num of RAPID is of single precision, so numbers have {SINGLE} digits",)
    if payload.product_share > 0.0:
        lost += (
            "products of inertia, as such: they are in aom, whose axes are the principal ones "
            "nearest to the frame's (their order and directions are free)",
        )
    notes = (
        "a payload (GripLoad) is given in the tool frame; the load of a tool (tload of tooldata) "
        "in the wrist frame, tool0: change the body's frame accordingly",
        "the arm's load diagram is not checked",
    )
    if not payload.inertia.any():
        notes += ("ix, iy and iz of zero: the controller takes the load for a point mass",)
    if not any(float(number) for number in cog):
        notes += ("a cog of [0, 0, 0]: load0 itself has 0.001 mm, and so may yours",)
    return PayloadSetting("abb", text, lost, notes)
