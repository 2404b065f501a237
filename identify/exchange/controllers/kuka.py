"""KUKA: `LOAD_DATA` of KRL."""

from __future__ import annotations

import numpy as np

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
from identify.inertia.conventions import rpy_from_rotation

_ANGLE_DECIMALS = 4


def kuka(payload: Payload) -> PayloadSetting:
    """`LOAD_DATA[1]={M, CM {X, Y, Z, A, B, C}, J {X, Y, Z}}`, J along the principal axes.

    R = Rz(A) Ry(B) Rx(C) are the principal axes in the flange's frame.
    """
    moments, rotation = nearest_principal_frame(payload.inertia)
    com_mm = 1e3 * payload.com
    mass = fixed(payload.mass, decimals_for(payload.mass, SINGLE, 3))
    x, y, z = fixed_all(com_mm, decimals_for(com_mm, SINGLE, 3))
    c, b, a = fixed_all(np.degrees(rpy_from_rotation(rotation)), _ANGLE_DECIMALS)
    jx, jy, jz = round_moments(moments, decimals_for(moments, SINGLE, 4))
    text = (
        "; M kg; CM mm and deg, in the FLANGE frame; J kg m^2 at the centre of mass,\n"
        "; along the principal axes, which A (Z), B (Y'), C (X'') turn from FLANGE\n"
        f"LOAD_DATA[1]={{M {mass},CM {{X {x},Y {y},Z {z},A {a},B {b},C {c}}},"
        f"J {{X {jx},Y {jy},Z {jz}}}}}\n"
    )
    lost = (
        f"digits: a REAL of KRL is of single precision, so numbers have {SINGLE} digits, "
        f"angles {_ANGLE_DECIMALS} decimals",
    )
    if payload.product_share > 0.0:
        lost += (
            "products of inertia, as such: they are in A, B and C, whose principal axes are those "
            "nearest to the flange's (their order and directions are free)",
        )
    notes = (
        "LOAD_DATA[n] belongs to tool n: change the number; $LOAD is the payload in use",
        "the arm's payload diagram is not checked (KUKA.Load does)",
    )
    return PayloadSetting("kuka", text, lost, notes)
