"""Excitation of a fit's logs, and advice on motions that identify missing parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.estimation.least_squares import LeastSquaresFit
from identify.relevance import MIN_ANGULAR_ACCELERATION, MIN_GRAVITY_ROTATION, MIN_ROTATION_RATE
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    FEATURES,
    PROPER_ACCELERATION,
    RATE_SQUARES,
)

DESIGN_COMMAND = "`identify design --wrist --after OUT/estimate.json`"
"""Command that designs the motion that would help most after a fit into the folder OUT."""


@dataclass(frozen=True, slots=True)
class Excitation:
    """Motion of a body in its logs, and the parameters that it identifies.

    Attributes:
        rms_rates: root mean square of ω in B [rad/s], shape (3,).
        rms_angular_accelerations: root mean square of α in B [rad/s²], shape (3,).
        rms_tilt: root mean square deviation of the proper acceleration's direction [rad].
        identifiable: names of the parameters that the data identify.
        unidentifiable: names of the parameters that the data do not identify.
        advice: sentences on these parameters, the reason, and a motion that identifies them.
    """

    rms_rates: Array
    rms_angular_accelerations: Array
    rms_tilt: float
    identifiable: tuple[str, ...]
    unidentifiable: tuple[str, ...]
    advice: tuple[str, ...]


def excitation(fit: LeastSquaresFit) -> Excitation:
    """Return the excitation of a fit's logs.

    Args:
        fit: least-squares fit of a body's wrench.
    """
    rates, alpha, tilt = _rms_motion(fit)
    names, widths = fit.data.space.names, fit.identifiability.half_widths
    known = np.logical_or(fit.data.fixed, widths < 1.0)
    missing = tuple(name for name, is_known in zip(names, known, strict=True) if not is_known)
    advice = [*_inertia_advice(missing, rates, alpha), *_gravity_advice(missing, tilt)]
    if advice:
        advice.append(f"{DESIGN_COMMAND} designs such a motion for a wrist, within its limits.")
    return Excitation(
        rms_rates=rates,
        rms_angular_accelerations=alpha,
        rms_tilt=tilt,
        identifiable=tuple(name for name in names if name not in missing),
        unidentifiable=missing,
        advice=tuple(advice),
    )


class _RmsMotion(NamedTuple):
    """RMS of the motion of logs.

    Attributes:
        rates: RMS of ω [rad/s], shape (3,).
        angular_accelerations: RMS of α [rad/s²], shape (3,).
        tilt: RMS angle of the proper acceleration to its mean [rad].
    """

    rates: Array
    angular_accelerations: Array
    tilt: float


def _rms_motion(fit: LeastSquaresFit) -> _RmsMotion:
    """Return the RMS of the motion of a fit's logs.

    The products of ω are columns of the statistics; their sums with the constant are Σ ω².
    """
    squares = np.zeros(3)
    steps = np.zeros(3)
    samples = 0.0
    centred, uncentred = np.zeros((3, 3)), np.zeros((3, 3))
    for statistics, _ in fit.data.system.data:
        rows_of_logs = zip(statistics.total_factors, statistics.noise_rows, strict=True)
        for log, (of_log, noise) in enumerate(rows_of_logs):
            total = float(statistics.sum_over_blocks(statistics.samples)[log].sum())
            moment = np.einsum("gki,gkj->ij", of_log, of_log)
            moment -= np.einsum("gki,gkj->ij", noise, noise)
            constant = float(moment[0, 0])
            if not constant > 0.0:
                continue
            psi = moment[FEATURES, FEATURES]
            scale = total / constant  # products sum with the constant of rows, not of samples
            squares += np.maximum(moment[0, FEATURES][RATE_SQUARES], 0.0) * scale
            steps += np.maximum(np.diag(psi)[ANGULAR_ACCELERATION], 0.0)
            mean = moment[0, FEATURES][PROPER_ACCELERATION]
            uncentred += psi[:3, :3]
            centred += psi[:3, :3] - np.outer(mean, mean) / constant
            samples += total
    samples = max(samples, 1.0)
    share = float(np.trace(centred) / max(np.trace(uncentred), 1e-300))
    tilt = float(np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0))))
    return _RmsMotion(np.sqrt(squares / samples), np.sqrt(steps / samples), tilt)


def _inertia_advice(missing: Sequence[str], rates: Array, alpha: Array) -> list[str]:
    if missing and not rates.any() and not alpha.any():
        inertia = [name for name in missing if name.rpartition("_")[2].startswith("I")]
        text = f"Static poses do not show {', '.join(inertia)}. Log a motion for the inertia."
        return [text] if inertia else []
    advice = []
    for number, axis in enumerate("xyz"):
        moments = [name for name in missing if f"I{axis}{axis}" in name]
        is_slow = rates[number] < MIN_ROTATION_RATE or alpha[number] < MIN_ANGULAR_ACCELERATION
        if moments and is_slow:
            advice.append(
                f"Rotation about {axis} has a root mean square of {rates[number]:.2g} rad/s and "
                f"{alpha[number]:.2g} rad/s²: it hardly shows {', '.join(moments)}. Turn about "
                f"{axis}, to and fro."
            )
        elif moments:
            advice.append(
                f"{', '.join(moments)} hardly shows above the noise of this log. Turn faster about "
                f"{axis}, to and fro."
            )
    products = [name for name in missing if any(p in name for p in ("Ixy", "Ixz", "Iyz"))]
    if products and not advice:
        axes = "".join(dict.fromkeys("".join(name[-2:] for name in products)))
        advice.append(
            f"The log hardly shows {', '.join(products)}. Turn about "
            f"{' and '.join(axes)} at once, at different frequencies."
        )
    return advice


def _gravity_advice(missing: Sequence[str], angle: float) -> list[str]:
    moments = [name for name in missing if name.rpartition("_")[2] in ("m", "hx", "hy", "hz")]
    if not moments and angle >= MIN_GRAVITY_ROTATION:
        return []
    if not moments:
        return [
            f"The direction of gravity varies by {np.degrees(angle):.0f}° in body axes: only the "
            "motion separates mass from sensor offset. Log attitudes that differ by 30° or more."
        ]
    return [
        f"{', '.join(moments)} is not identifiable: the direction of gravity varies by "
        f"{np.degrees(angle):.0f}° in body axes. Log attitudes that differ by rotations "
        "about two axes."
    ]
