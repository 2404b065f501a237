"""The numbers of the controllers that take three moments along the flange's axes on a screen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.errors import ModelError
from identify.exchange.controllers.figures import fixed, fixed_all, round_moments
from identify.exchange.controllers.payload import Payload

_TELLING = 0.01


class Screen(NamedTuple):
    """Units and decimals of a payload screen.

    Attributes:
        name: of the controller.
        length: its unit of length in m.
        inertia: its unit of inertia in kg m².
        decimals: of every number.
    """

    name: str
    length: float
    inertia: float
    decimals: int


class ScreenFigures(NamedTuple):
    """Mass, centre of mass and the moments about it along the flange's axes, as text."""

    mass: str
    com: tuple[str, ...]
    moments: tuple[str, ...]
    lost: tuple[str, ...]


def screen_figures(payload: Payload, screen: Screen) -> ScreenFigures:
    """The numbers to type, which are still a possible body.

    Raises:
        ModelError: a mass that the screen shows as zero.
    """
    mass = fixed(payload.mass, screen.decimals)
    if float(mass) == 0.0:
        raise ModelError(
            f"{screen.name}: a mass of {payload.mass:g} kg is zero in {screen.decimals} decimals; "
            f"a load so light needs no setting"
        )
    moments = np.diag(payload.inertia) / screen.inertia
    texts = round_moments(moments, screen.decimals)
    lost: list[str] = []
    if payload.product_share > 0.0:
        lost.append(
            f"products of inertia: there is no place for them; the largest was "
            f"{payload.product_share:.3g} of the largest moment"
        )
    if (moments > 0.0).any():
        errors = np.abs(np.array(texts, dtype=np.float64) - moments)
        share = float(errors.max() / moments.max())
        if share > _TELLING:
            lost.append(
                f"digits: in {screen.decimals} decimals the moments are off by up to "
                f"{100.0 * share:.3g} % of the largest"
            )
    com = fixed_all(payload.com / screen.length, screen.decimals)
    return ScreenFigures(mass, com, texts, tuple(lost))
