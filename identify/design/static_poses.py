"""Static poses within a tilt, D-optimal for mass and centre of mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from identify.arrays import Array, Vec3
from identify.design.d_optimal import d_optimality
from identify.design.plan import SUPERVISION
from identify.design.wrist import WrenchNoise, require_tilt
from identify.errors import ProblemError
from identify.inertia.conventions import rpy_from_rotation
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.spatial.columns import PROPER_ACCELERATION
from identify.spatial.rotations import exp_rotation, rotation_from_unit_quaternion

FEWEST_POSES = 3
"""Fewest poses: with two, the first moment along their change of gravity equals an offset."""

_RANDOM_STARTS = 20
"""Random sets of poses from which the search starts."""


@dataclass(frozen=True, slots=True)
class StaticPoses:
    """Attitudes of static poses, relative to a start.

    Attributes:
        rotation_vectors: R_BP of each pose from the body's attitude at the start, shape (n, 3)
            [rad].
        directions: unit vectors of gravity in axes of the body at each pose, shape (n, 3).
        criterion: logarithm of the geometric mean of the standard errors of mass and first moments.
        random_criterion: that of random poses within the same tilt, median.
    """

    rotation_vectors: Vec3
    directions: Vec3
    criterion: float
    random_criterion: float

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences for the head of the file: supervision, angles, and what was not checked."""
        return (
            SUPERVISION,
            "Angles are in degrees: R = Rz Ry Rx from the attitude at the start. The direction of "
            "gravity is in axes of the tool at the pose.",
            "Not checked: collisions, reach and limits of the robot.",
        )

    def csv(self) -> str:
        """Return a table of angles about z, y, x from the start [deg] and directions of gravity."""
        head = *(f"# {remark}" for remark in self.remarks), "pose,rz_deg,ry_deg,rx_deg,gx,gy,gz"
        rotation = rotation_from_unit_quaternion(exp_rotation(self.rotation_vectors))
        angles = np.degrees(rpy_from_rotation(rotation))[:, ::-1]
        rows = np.hstack((angles, self.directions))
        lines = [
            f"{number}," + ",".join(f"{value:.6f}" for value in row)
            for number, row in enumerate(rows, start=1)
        ]
        return "\n".join((*head, *lines)) + "\n"

    def regressor(self, gravity: float, noise: WrenchNoise) -> Array:
        """Return rows [Y of mass and first moments, 1] / σ of one sample of each pose."""
        return _pose_rows(-gravity * self.directions, noise)


def design_static_poses(
    count: int, tilt: float, gravity: Vec3, noise: WrenchNoise, rng: np.random.Generator
) -> StaticPoses:
    """Design static poses in which gravity stays within a tilt of its direction at the start.

    Args:
        count: number of poses.
        tilt: largest angle between gravity in the body and its direction at the start [rad].
        gravity: g in axes of the body at the start [m/s²].
        noise: of the sensor; only the ratio of force and torque matters.
        rng: for the starts of the search.

    Raises:
        ProblemError: fewer than three poses, or a tilt that is not within 0 and π, or too small.
    """
    if count < FEWEST_POSES:
        raise ProblemError(
            f"poses: expected at least {FEWEST_POSES}, got {count}: with two, the centre of "
            "mass along the change of gravity cannot be told from the offset of the sensor"
        )
    require_tilt(tilt)
    strength = float(np.linalg.norm(gravity))
    down = np.asarray(gravity) / strength
    across = np.linalg.svd(down[None])[2][1:]

    tensor = _whitened_tensor(noise)

    def directions(angles: Array) -> tuple[Vec3, Vec3, Vec3]:
        """Return directions of gravity, and their derivatives in the polar angle and around."""
        polar, around = angles.reshape(2, count, 1)
        radial = np.cos(around) * across[0] + np.sin(around) * across[1]
        tangent = np.cos(around) * across[1] - np.sin(around) * across[0]
        cosine, sine = np.cos(polar), np.sin(polar)
        return cosine * down + sine * radial, cosine * radial - sine * down, sine * tangent

    def cost(angles: Array) -> tuple[float, Array]:
        direction, *slopes = directions(angles)
        value, gradient = d_optimality(_pose_rows(-strength * direction, noise), 4)
        of_direction = -strength * np.einsum("trp,arp->ta", gradient[..., :4], tensor)
        return value, np.concatenate([np.sum(of_direction * slope, axis=1) for slope in slopes])

    starts = [
        np.append(
            np.arccos(rng.uniform(np.cos(tilt), 1.0, count)), rng.uniform(0.0, 2.0 * np.pi, count)
        )
        for _ in range(_RANDOM_STARTS)
    ]
    bounds = [(0.0, tilt)] * count + [(None, None)] * count
    solutions = [minimize(cost, x, jac=True, method="L-BFGS-B", bounds=bounds) for x in starts]
    best = min(solutions, key=lambda solution: float(solution.fun))
    if not np.isfinite(best.fun):
        raise ProblemError(
            f"tilt: poses within {np.degrees(tilt):g} degrees do not identify the centre of mass; "
            "expected more, such as 30 degrees"
        )
    polar, around = best.x.reshape(2, count)
    direction, of_polar, _ = directions(best.x)
    order = np.lexsort((polar, np.mod(around, 2.0 * np.pi)))
    # R_BP takes gravity's direction in the pose to that in the body at the start.
    vectors = polar[:, None] * np.cross(of_polar, direction)
    random = float(np.median([cost(x)[0] for x in starts]))
    return StaticPoses(vectors[order], direction[order], float(best.fun), random)


def _whitened_tensor(noise: WrenchNoise) -> Array:
    """Return ∂Y/∂a of mass and first moments divided by the noise, shape (3, 6, 4)."""
    return FEATURE_TENSOR[PROPER_ACCELERATION, :, :4] / noise.sigma[:, None]


def _pose_rows(a: Vec3, noise: WrenchNoise) -> Array:
    """Return rows [Y of mass and first moments, 1] / σ of static poses, shape (n, 6, 10)."""
    rows = np.zeros((len(a), 6, 10))
    rows[..., :4] = np.tensordot(a, _whitened_tensor(noise), axes=1)
    rows[..., 4:] = np.diag(1.0 / noise.sigma)
    return rows
