"""The motion of a log with a gyro and a wrench alone: its force is an accelerometer.

Less its offset f0 and over the mass m, the force f is the proper acceleration of the centre of
mass C. Segments at rest tell m and f0, as |f − f0| = m g there; all of the log tells where C is:

    t = c × f + I_c α + ω × I_c ω + const

is linear in c and I_c. With an accelerometer that reads (f − f0) / m at c, the log is as any other:
its force says m and m c again, its torque the inertia. The noise of the two is one, so that it is
not counted twice; the errors of m, f0 and c go through the fit, as that of a place does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from identify.arrays import Array, Mat33, Vec3
from identify.errors import LogError
from identify.findings import Finding
from identify.inertia.consistency import MAX_COM_DISTANCE, MAX_DENSITY, density_lower_bound
from identify.logs import Recording
from identify.relevance import FORCE_SHARE_AT_REST, RATE_AT_REST
from identify.signals.imu import BandMoments
from identify.signals.noise import SignalNoise
from identify.signals.prepared import BlockRows, ImuCalibration
from identify.signals.segments import EvenSegment
from identify.significance import (
    CONFIDENCE_QUANTILE,
    DIFFERENT_REST_SIGMA,
    HALF_WIDTH_SIGMA,
    IMPOSSIBLE_BY_TORQUE_SIGMA,
)
from identify.spatial import Pose
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    FORCE_AXES,
    PRODUCT_COLUMNS,
    TORQUE_AXES,
    W,
    within,
    without_constant,
)
from identify.spatial.rotations import hat

FEWEST_ATTITUDES = 6
"""Attitudes at rest that tell the mass: four unknowns, and two more that show how well they fit."""

_WINDOW_SECONDS = 0.2
"""Length of the windows that rest is looked for in; three in a row are rest, but for the outer."""

_APART = np.radians(10.0)
"""Angle between two attitudes that are not the same."""

_SURE_MASS = 0.1
"""Relative standard error of the mass beyond which the attitudes do not tell it."""

_AXES_OF_SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class AtRest(NamedTuple):
    """What segments at rest tell of a body and of its sensor.

    Attributes:
        mass: [kg].
        offset: of the force, in the axes it is read in [N].
        covariance: of the mass, relative, and of the offset, shape (4, 4).
        attitudes: how many different ones there are.
    """

    mass: float
    offset: Vec3
    covariance: Array
    attitudes: int


def at_rest(recording: Recording, segments: Sequence[EvenSegment]) -> AtRest:
    """Mass and offset of the force, by the attitudes in which the body stands still.

    Raises:
        LogError: there are too few, or they lie so near one plane that they do not tell the mass.
    """
    stands = [stand for segment in segments for stand in _stands(segment)]
    forces = np.array([force for force, _ in stands]).reshape(-1, 3)
    variances = np.array([variance for _, variance in stands])
    found = _different(forces, 0.5 * float(np.ptp(forces, axis=0).max()) if stands else 0.0)
    fitted = None
    if found >= FEWEST_ATTITUDES:
        fitted = _sphere(forces, variances)
        found = _different(forces, fitted[0][0])
    if fitted is None or found < FEWEST_ATTITUDES:
        attitudes = f"{found} attitude{'s' * (found != 1)}"
        raise LogError(
            f"{recording.name}: the log has no pose and no accelerometer, and {attitudes} in "
            f"which the body stands still; the mass needs {FEWEST_ATTITUDES} of them, "
            f"{np.degrees(_APART):.0f}° apart and not in one plane, each for over "
            f"{4 * _WINDOW_SECONDS:.1g} s. Add such rests, or give [pose], or [imu] accelerometer; "
            f"if it stood still more often, the gyro reads over {RATE_AT_REST:g} rad/s there: "
            "check angle_unit in [imu] or [twist], and take off the gyro's offset"
        )
    (radius, *offset), covariance = fitted
    if not covariance[0, 0] < (_SURE_MASS * radius) ** 2:
        raise LogError(
            f"{recording.name}: the {found} attitudes in which the body stands still do not tell "
            "its mass: they lie near one plane. Add rests in others, or give [pose], or [imu] "
            "accelerometer"
        )
    relative = np.array([1.0 / radius, 1.0, 1.0, 1.0])
    said = recording.schema.get("world")
    gravity = said.get("gravity_accuracy") if isinstance(said, Mapping) else None
    covariance = covariance * np.outer(relative, relative)
    covariance[0, 0] += float(gravity or 0.0) ** 2
    mass = radius / float(np.linalg.norm(recording.gravity))
    return AtRest(mass, np.array(offset), covariance, found)


def _stands(segment: EvenSegment) -> list[tuple[Vec3, float]]:
    """Mean force of each stretch at rest, and the variance of each component of that mean."""
    rows = max(4, round(_WINDOW_SECONDS * segment.rate_hz))
    count = len(segment) // rows
    rates = segment.signals["gyro" if "gyro" in segment.signals else "angular_velocity"]
    both = rates, segment.signals["force"]
    rates, force = (values[: count * rows].reshape(count, rows, 3) for values in both)
    still = np.sqrt((rates**2).sum(axis=2).mean(axis=1)) < RATE_AT_REST
    edges = np.flatnonzero(np.diff(np.concatenate(([False], still, [False]))))
    found = []
    for start, stop in edges.reshape(-1, 2).tolist():
        inner = force[start + 1 : stop - 1]
        if not len(inner):
            continue
        means, mean = inner.mean(axis=1), inner.mean(axis=(0, 1))
        variance = float(inner.var(axis=1).mean())
        differ = np.linalg.norm(means - mean, axis=1).max()
        noise = DIFFERENT_REST_SIGMA * np.sqrt(variance / rows)
        if differ < noise + FORCE_SHARE_AT_REST * np.linalg.norm(mean):
            found.append((mean, variance / (rows * len(inner))))
    return found


def _different(forces: Array, radius: float) -> int:
    """How many forces are apart on a sphere of a radius."""
    kept: list[Vec3] = []
    for force in forces:
        if all(np.linalg.norm(force - other) > _APART * radius for other in kept):
            kept.append(force)
    return len(kept) if radius > 0.0 else min(1, len(kept))


def _sphere(points: Array, variances: Array) -> tuple[Array, Array]:
    """Radius and centre of the sphere through some points, shape (4,), with their covariance.

    What is left beyond the points' variances is counted with as few degrees of freedom as it has.
    """
    middle = points.mean(axis=0)
    A = np.column_stack((np.ones(len(points)), 2.0 * (points - middle)))
    squares = ((points - middle) ** 2).sum(axis=1)
    power, *centre = np.linalg.lstsq(A, squares, rcond=None)[0]
    x = np.array([np.sqrt(max(power + np.dot(centre, centre), 0.0)), *centre])
    sigma = np.sqrt(variances + 1e-20 * squares.max())
    for _ in range(10):
        J, left = _distances(points - middle, x, sigma)
        x = x + np.linalg.lstsq(J, left, rcond=None)[0]
    J, left = _distances(points - middle, x, sigma)
    x[1:] += middle
    if np.linalg.cond(J) > 1e6:
        return x, np.full((4, 4), np.inf)
    degrees = len(points) - 4
    few = (float(stdtrit(degrees, CONFIDENCE_QUANTILE)) / HALF_WIDTH_SIGMA) ** 2
    return x, max(1.0, few * float(left @ left) / degrees) * np.linalg.inv(J.T @ J)


def _distances(points: Array, x: Array, sigma: Array) -> tuple[Array, Array]:
    """Distances from a sphere in standard errors, and how it moves with radius and centre."""
    away = points - x[1:]
    length = np.linalg.norm(away, axis=1)
    J = np.column_stack((np.ones(len(points)), away / length[:, None]))
    return J / sigma[:, None], (length - x[0]) / sigma


def with_accelerometer(
    recording: Recording, imu: ImuCalibration, segment: EvenSegment
) -> EvenSegment:
    """Add to a segment what an accelerometer at the centre of mass would read, along B."""
    offset, to_unit = _unit(recording, imu)
    read = (segment.signals["force"] - offset) @ to_unit.T
    return replace(segment, signals={**segment.signals, "accelerometer": read})


def with_noise(recording: Recording, imu: ImuCalibration, noise: SignalNoise) -> SignalNoise:
    """Noise of a log with such segments: that of the accelerometer is the force's."""
    width, force = len(noise.covariance), 3 * noise.names.index("force")
    M = np.eye(width + 3, width)
    _, M[width:, force : force + 3] = _unit(recording, imu)
    return SignalNoise((*noise.names, "accelerometer"), M @ noise.covariance @ M.T)


def with_place(
    recording: Recording, imu: ImuCalibration, blocks: Sequence[BlockRows], found: AtRest
) -> ImuCalibration:
    """Calibration of such an accelerometer at the centre of mass, with the errors it has.

    Args:
        recording: the log.
        imu: calibration by the rests alone, with which the rows were made.
        blocks: rows of the motion.
        found: by the rests.

    Raises:
        LogError: the motion does not tell where that is, or wrench or gyro have the other sign.
    """
    moments = BandMoments(blocks)
    fit = moments.solve(*_about_com(moments), np.zeros(9))
    for _ in range(2):  # noise of what c and I_c multiply counts too
        fit = fit and moments.solve(*_about_com(moments), fit[0])
    if fit is None:
        raise LogError(
            f"{recording.name}: without a pose and an accelerometer the motion does not tell the "
            "centre of mass and the inertia; turn faster, about three axes"
        )
    x, covariance = fit
    trace = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    if trace @ x[3:] < -IMPOSSIBLE_BY_TORQUE_SIGMA * np.sqrt(trace @ covariance[3:, 3:] @ trace):
        raise LogError(
            f"{recording.name}: the moments of inertia come out negative: the wrench or the gyro "
            "has the other sign. In the schema, [wrench], change acts_on, or put a minus before "
            "the columns of the gyro"
        )
    errors, moved = np.zeros((7, 7)), -np.eye(4)
    moved[1:, 1:] = -_unit(recording, imu)[1]
    errors[:3, :3] = covariance[:3, :3]
    errors[3:, 3:] = moved @ found.covariance @ moved.T
    shares = (1.0,) * (1 + max(group for block in blocks for group in block.noise))
    at = ", ".join(f"{1e3 * one:.4g}" for one in x[:3])
    sigma = float(np.sqrt(found.covariance[0, 0]))
    text = (
        f"no pose and no accelerometer: the mass is by {found.attitudes} attitudes at rest, "
        f"{found.mass:.5g} kg ± {200.0 * sigma:.2g} %; the centre of mass is by the torque, at "
        f"[{at}] mm. The force tests nothing then: what is left of the torque does."
    )
    finding = Finding("force_motion", "info", text, evidence={"attitudes": found.attitudes})
    odd = _in_another_unit(recording, found.mass, x, covariance)
    return replace(
        imu,
        X_BI=Pose(np.eye(3), x[:3]),
        covariance=tuple(map(tuple, errors.tolist())),
        shares=shares,
        findings=(finding, *odd),
    )


def _in_another_unit(
    recording: Recording, mass: float, x: Array, covariance: Array
) -> Iterator[Finding]:
    """That no body has its mass as far away, or is as small: force or torque has another unit.

    Args:
        recording: the log.
        mass: by the rests [kg].
        x: the centre of mass in B and the moments of inertia about it, by the torque, shape (9,).
        covariance: of that, shape (9, 9).
    """
    origin = np.zeros(3) if recording.X_BS is None else recording.X_BS.position
    away = float(np.linalg.norm(x[:3] - origin))
    error = float(np.sqrt(np.trace(covariance[:3, :3])))
    if away - IMPOSSIBLE_BY_TORQUE_SIGMA * error > MAX_COM_DISTANCE:
        yield Finding(
            "torque_unit",
            "error",
            f"by the torque the centre of mass is {away:.3g} m from the sensor, and the mass is "
            f"{mass:.4g} kg by the force at rest: torque or force is in another unit.",
            'In the schema, [wrench], check torque_unit and force_unit: `torque_unit = "mNm"` if '
            'the torque is in thousandths, `force_unit = "kN"` if the force is in thousands.',
            {"distance": away},
        )
    about_com, errors = np.array([mass, 0.0, 0.0, 0.0, *x[3:]]), np.zeros((10, 10))
    errors[4:, 4:] = covariance[3:, 3:]
    density = density_lower_bound(about_com, errors)
    if density > MAX_DENSITY:
        yield Finding(
            "too_dense",
            "error",
            f"the body is denser than any material: {mass:.4g} kg by the force at rest, with "
            f"moments of inertia by the torque that have {density:.2g} kg/m³ at the least; osmium "
            "has 22 600.",
            'In the schema, [wrench], check force_unit and torque_unit: `force_unit = "mN"` if the '
            'force is in thousandths, and `torque_unit = "mNm"` if the torque is too.',
            {"density": density},
        )


def _unit(recording: Recording, imu: ImuCalibration) -> tuple[Vec3, Mat33]:
    """Offset of the force as it is read, and what makes of the rest an acceleration along B."""
    mass, *offset = imu.at_rest
    R_BS = np.eye(3) if recording.X_BS is None else recording.X_BS.rotation
    return np.array(offset), R_BS / mass


def _about_com(moments: BandMoments) -> tuple[Array, Array]:
    """The torque, and what c and I_c multiply in it, as maps of columns: (3, K) and (3, K, 9)."""
    of_force, of_torque = (within(axes, without_constant(W)) for axes in (FORCE_AXES, TORQUE_AXES))
    force, alpha = moments.pick(of_force.start), moments.pick(ANGULAR_ACCELERATION.start)
    T = np.concatenate([(hat(e) @ force)[..., None] for e in np.eye(3)], axis=2)
    of_inertia = np.zeros((*alpha.shape, 6))
    for p, (r, c) in enumerate(_AXES_OF_SIX):
        E = np.zeros((3, 3))
        E[r, c] = E[c, r] = 1.0
        of_inertia[..., p] = E @ alpha
        for j, e in enumerate(np.eye(3)):  # (ω × E ω) = Σ_jk e_j × E e_k ω_j ω_k
            for k in range(3):
                of_inertia[:, PRODUCT_COLUMNS[j][k], p] += (hat(e) @ E)[:, k]
    return moments.pick(of_torque.start), np.concatenate((T, of_inertia), axis=2)
