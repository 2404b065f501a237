"""FANUC: a payload schedule (MOTION / PAYLOAD SET)."""

from __future__ import annotations

from identify.exchange.controllers.payload import Payload
from identify.exchange.controllers.screen import Screen, screen_figures
from identify.exchange.controllers.setting import PayloadSetting
from identify.spatial.vectors import STANDARD_GRAVITY

KGF_CM_S2 = STANDARD_GRAVITY * 0.01
"""One kgf cm s² in kg m²: 1 kg m² is 10.197 kgf cm s²."""

_SCREEN = Screen("fanuc", length=0.01, inertia=KGF_CM_S2, decimals=2)


def fanuc(payload: Payload) -> PayloadSetting:
    """The lines of the screen: kg, cm and kgf cm s², moments about the payload's centre."""
    figures = screen_figures(payload, _SCREEN)
    lines = [f"PAYLOAD                  [kg] {figures.mass}"]
    for axis, number in zip("XYZ", figures.com, strict=True):
        lines.append(f"PAYLOAD CENTER {axis}         [cm] {number}")
    for axis, number in zip("XYZ", figures.moments, strict=True):
        lines.append(f"PAYLOAD INERTIA {axis} [kgfcms^2] {number}")
    notes = (
        "typed in a schedule of MOTION / PAYLOAD SET and chosen by PAYLOAD[n] in a program",
        "centre and axes are those of the faceplate; moments are about the payload's centre",
        "the arm's rated payload and wrist inertias are not checked (Payload Checker does)",
    )
    return PayloadSetting("fanuc", "\n".join(lines) + "\n", figures.lost, notes)
