"""What the motion excited, beside the noise left in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.arrays import Array
from identify.reporting.canvas import (
    ESTIMATE,
    GRID,
    OTHER,
    Column,
    Panel,
    Place,
    compose,
    decades,
    name_rows,
)
from identify.reporting.rounding import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from identify.pipeline import FitResult

GROUPS = (
    ("acceleration less gravity, a′ [m/s²]", ("a′x", "a′y", "a′z"), slice(0, 3)),
    ("angular acceleration, α [rad/s²]", ("αx", "αy", "αz"), slice(3, 6)),
    (
        "products of the angular velocity, ω ω [rad²/s²]",
        ("ωx²", "ωy²", "ωz²", "ωx ωy", "ωx ωz", "ωy ωz"),
        slice(6, 12),
    ),
)
"""The twelve features: axis label, names and columns."""

_DECADES = 1e-6
"""Least share of a group's largest feature that is drawn."""


def excitation(result: FitResult, *, ax: Place | None = None) -> Any:
    """Root mean square of the twelve features of the motion, and the noise left in each.

    With a sensor offset only what changes within a log tells anything, so the mean is taken off.

    Args:
        result: of a fit.
        ax: axes to draw on in place of a figure of its own, see `identify.plot`.
    """
    return compose(excitation_columns(result), ax=ax)


def excitation_columns(result: FitResult) -> tuple[Column, ...]:
    """The column of `excitation`; groups that do not move at all are left out."""
    motion, noise = excited(result)
    panels = tuple(
        Panel(
            partial(_draw, names=names, motion=motion[columns], noise=noise[columns]),
            xlabel=label,
            height=0.12 + 0.19 * len(names),
        )
        for label, names, columns in GROUPS
        if motion[columns].any()
    )
    return (Column("Motion", "", panels, shared=False),) if panels else ()


def excited(result: FitResult) -> tuple[Array, Array]:
    """RMS of the twelve features over all logs, less their mean beside a sensor offset, and noise.

    Returns:
        Two arrays of shape (12,): the motion, and the standard deviation of the noise left in it.
    """
    features = [log.features for log in result.logs]
    rows = np.array([len(one) for one in features], dtype=np.float64)
    if result.settings.bias == "per_log":
        features = [one - one.mean(axis=0) for one in features]
    together = np.concatenate(features)
    if result.settings.bias == "shared":
        together = together - together.mean(axis=0)
    noise = rows @ np.array([log.noise[:12] for log in result.logs]) / rows.sum()
    return np.sqrt(np.mean(together**2, axis=0)), np.sqrt(noise)


def _draw(axes: Axes, names: tuple[str, ...], motion: Array, noise: Array) -> None:
    least = _DECADES * motion.max()
    shown, noisy = np.maximum(motion, least), noise > least
    floor = np.maximum(noise, least)
    low = min(float(shown.min()), float(noise[noise > least].min(initial=np.inf)))
    axes.set_xlim(low / 2.5, float(shown.max()) * 2.5)
    decades(axes)
    places = name_rows(axes, names, [_above(*pair) for pair in zip(motion, noise, strict=True)])
    axes.hlines(places, floor, shown, color=GRID, lw=5.0)
    axes.plot(shown, places, "o", color=ESTIMATE, ms=5.5, mew=0.0, label="motion, RMS")
    if noisy.any():
        look = {"color": OTHER, "ms": 9.0, "mew": 2.0}
        axes.plot(floor[noisy], places[noisy], "|", label="noise, 1 σ", **look)


def _above(motion: float, noise: float) -> str:
    """How far a motion is above its noise; nothing where no noise is known."""
    if noise <= 0.0:
        return ""
    if motion > noise / _DECADES:
        return "> 10⁶ : 1"
    return f"{significant(motion / noise)} : 1"
