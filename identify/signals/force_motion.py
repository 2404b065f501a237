"""The motion of a log with only a gyro and a wrench: its force serves as an accelerometer.

(f − f0) / m, with the force f, its offset f0 and the mass m, is the proper acceleration of the
centre of mass C. Segments at rest give m and f0, as |f − f0| = m g there; the whole log gives C:

    t = c × f + I_c α + ω × I_c ω + const

is linear in c and I_c. With an accelerometer that reads (f − f0) / m at c, the log is fitted as
any other: its force gives m and m c again, its torque the inertia. Force and accelerometer share
their noise, which is not counted twice; the errors of m, f0 and c are propagated through the fit.
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
from identify.relevance import MAX_FORCE_CHANGE_AT_REST, MAX_RATE_AT_REST
from identify.signals.imu import FrequencyBandMoments
from identify.signals.imu_calibration import ImuCalibration
from identify.signals.prepared_log import BlockRows
from identify.signals.segments import EvenSegment
from identify.signals.white_noise import SignalNoise
from identify.significance import (
    CONFIDENCE_QUANTILE,
    HALF_WIDTH_SIGMA,
    IMPOSSIBLE_INERTIA_SIGMA,
    REST_FORCE_DIFFERENCE_SIGMA,
)
from identify.spatial import Pose
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    FORCE_AXES,
    PRODUCT_COLUMNS,
    TORQUE_AXES,
    WRENCH,
    columns_of_part,
    without_constant,
)
from identify.spatial.rotations import hat

MIN_ATTITUDES = 6
"""Fewest attitudes at rest that give the mass: four unknowns and two degrees of freedom."""

_WINDOW_SECONDS = 0.2
"""Length of a window tested for rest [s]; the first and last of consecutive windows are dropped."""

_MIN_ATTITUDE_ANGLE = np.radians(10.0)
"""Smallest angle between two attitudes that count as different [rad]."""

_MAX_MASS_ERROR = 0.1
"""Largest relative standard error of the mass found from attitudes at rest."""

_INERTIA_AXES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class StaticCalibration(NamedTuple):
    """Mass of the body and offset of the force estimated from segments at rest.

    Attributes:
        mass: [kg].
        force_offset: of the force, in the axes it is read in [N].
        covariance: of the relative mass and the offset, shape (4, 4).
        attitude_count: number of different attitudes at rest.
    """

    mass: float
    force_offset: Vec3
    covariance: Array
    attitude_count: int


def calibrate_at_rest(recording: Recording, segments: Sequence[EvenSegment]) -> StaticCalibration:
    """Estimate the mass and the force offset from the attitudes in which the body is at rest.

    Raises `LogError`: the attitudes are too few, or too near one plane to determine the mass.
    """
    means = [mean for segment in segments for mean in _static_forces(segment)]
    forces = np.array([force for force, _ in means]).reshape(-1, 3)
    variances = np.array([variance for _, variance in means])
    count = _count_distinct(forces, 0.5 * float(np.ptp(forces, axis=0).max()) if means else 0.0)
    fitted = None
    if count >= MIN_ATTITUDES:
        fitted = _fit_sphere(forces, variances)
        count = _count_distinct(forces, fitted[0][0])
    if fitted is None or count < MIN_ATTITUDES:
        attitudes = f"{count} attitude{'s' * (count != 1)}"
        raise LogError(
            f"{recording.name}: the log has no pose and no accelerometer, and {attitudes} at rest; "
            f"the mass needs {MIN_ATTITUDES} of them, "
            f"{np.degrees(_MIN_ATTITUDE_ANGLE):.0f}° apart and not in one plane, each for over "
            f"{4 * _WINDOW_SECONDS:.1g} s. Add such rests, or give [pose], or [imu] accelerometer; "
            f"if the body was at rest more often, the gyro reads over {MAX_RATE_AT_REST:g} rad/s "
            "there: check angle_unit in [imu] or [twist], and subtract the gyro's offset"
        )
    (radius, *offset), covariance = fitted
    if not covariance[0, 0] < (_MAX_MASS_ERROR * radius) ** 2:
        raise LogError(
            f"{recording.name}: the {count} attitudes at rest do not determine the mass: they lie "
            "near one plane. Add rests in other attitudes, or give [pose], or [imu] accelerometer"
        )
    relative = np.array([1.0 / radius, 1.0, 1.0, 1.0])
    world = recording.schema.get("world")
    gravity = world.get("gravity_accuracy") if isinstance(world, Mapping) else None
    covariance = covariance * np.outer(relative, relative)
    covariance[0, 0] += float(gravity or 0.0) ** 2
    mass = radius / float(np.linalg.norm(recording.gravity))
    return StaticCalibration(mass, np.array(offset), covariance, count)


def _static_forces(segment: EvenSegment) -> list[tuple[Vec3, float]]:
    """Return the mean force of each segment at rest and the variance of its components."""
    rows = max(4, round(_WINDOW_SECONDS * segment.rate_hz))
    count = len(segment) // rows
    rates = segment.signals["gyro" if "gyro" in segment.signals else "angular_velocity"]
    both = rates, segment.signals["force"]
    rates, force = (values[: count * rows].reshape(count, rows, 3) for values in both)
    still = np.sqrt((rates**2).sum(axis=2).mean(axis=1)) < MAX_RATE_AT_REST
    edges = np.flatnonzero(np.diff(np.concatenate(([False], still, [False]))))
    static_means = []
    for start, stop in edges.reshape(-1, 2).tolist():
        inner = force[start + 1 : stop - 1]
        if not len(inner):
            continue
        means, mean = inner.mean(axis=1), inner.mean(axis=(0, 1))
        variance = float(inner.var(axis=1).mean())
        differ = np.linalg.norm(means - mean, axis=1).max()
        noise = REST_FORCE_DIFFERENCE_SIGMA * np.sqrt(variance / rows)
        if differ < noise + MAX_FORCE_CHANGE_AT_REST * np.linalg.norm(mean):
            static_means.append((mean, variance / (rows * len(inner))))
    return static_means


def _count_distinct(forces: Array, radius: float) -> int:
    """Count the forces that are different points of a sphere of a radius."""
    distinct: list[Vec3] = []
    for force in forces:
        if all(np.linalg.norm(force - other) > _MIN_ATTITUDE_ANGLE * radius for other in distinct):
            distinct.append(force)
    return len(distinct) if radius > 0.0 else min(1, len(distinct))


def _fit_sphere(points: Array, variances: Array) -> tuple[Array, Array]:
    """Fit a sphere to points and return radius and centre, shape (4,), with their covariance.

    A residual variance beyond that of the points widens the covariance by Student's t quantile.
    """
    middle = points.mean(axis=0)
    A = np.column_stack((np.ones(len(points)), 2.0 * (points - middle)))
    squares = ((points - middle) ** 2).sum(axis=1)
    power, *centre = np.linalg.lstsq(A, squares, rcond=None)[0]
    x = np.array([np.sqrt(max(power + np.dot(centre, centre), 0.0)), *centre])
    sigma = np.sqrt(variances + 1e-20 * squares.max())
    for _ in range(10):
        J, residual = _sphere_residuals(points - middle, x, sigma)
        x = x + np.linalg.lstsq(J, residual, rcond=None)[0]
    J, residual = _sphere_residuals(points - middle, x, sigma)
    x[1:] += middle
    if np.linalg.cond(J) > 1e6:
        return x, np.full((4, 4), np.inf)
    degrees = len(points) - 4
    student = (float(stdtrit(degrees, CONFIDENCE_QUANTILE)) / HALF_WIDTH_SIGMA) ** 2
    return x, max(1.0, student * float(residual @ residual) / degrees) * np.linalg.inv(J.T @ J)


def _sphere_residuals(points: Array, x: Array, sigma: Array) -> tuple[Array, Array]:
    """Return the Jacobian and the distances of points from a sphere, in standard errors."""
    from_centre = points - x[1:]
    length = np.linalg.norm(from_centre, axis=1)
    J = np.column_stack((np.ones(len(points)), from_centre / length[:, None]))
    return J / sigma[:, None], (length - x[0]) / sigma


def with_accelerometer(
    recording: Recording, imu: ImuCalibration, segment: EvenSegment
) -> EvenSegment:
    """Add an accelerometer at the centre of mass, f / m along B, to a segment."""
    offset, to_acceleration = _force_to_acceleration(recording, imu)
    acceleration = (segment.signals["force"] - offset) @ to_acceleration.T
    return replace(segment, signals={**segment.signals, "accelerometer": acceleration})


def with_noise(recording: Recording, imu: ImuCalibration, noise: SignalNoise) -> SignalNoise:
    """Add the noise of the force-derived accelerometer, that of f / m, to the noise of a log."""
    width, force = len(noise.covariance), 3 * noise.names.index("force")
    M = np.eye(width + 3, width)
    _, M[width:, force : force + 3] = _force_to_acceleration(recording, imu)
    return SignalNoise((*noise.names, "accelerometer"), M @ noise.covariance @ M.T)


def with_com_position(
    recording: Recording,
    imu: ImuCalibration,
    blocks: Sequence[BlockRows],
    static: StaticCalibration,
) -> ImuCalibration:
    """Calibrate the accelerometer f / m of the force: its position, the centre of mass, and errors.

    Raises `LogError`: the motion does not determine the centre of mass, or wrench or gyro have the
    opposite sign.
    """
    moments = FrequencyBandMoments(blocks)
    fit = moments.solve(*_torque_regressor(moments), np.zeros(9))
    for _ in range(2):  # the noise of the regressor depends on the solution
        fit = fit and moments.solve(*_torque_regressor(moments), fit[0])
    if fit is None:
        raise LogError(
            f"{recording.name}: without a pose and an accelerometer, this motion does not "
            "determine the centre of mass and the inertia; turn faster, about three axes"
        )
    x, covariance = fit
    trace = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    if trace @ x[3:] < -IMPOSSIBLE_INERTIA_SIGMA * np.sqrt(trace @ covariance[3:, 3:] @ trace):
        raise LogError(
            f"{recording.name}: the moments of inertia are negative: the wrench or the gyro has "
            "the opposite sign. In the schema, [wrench], change acts_on, or put a minus before "
            "the columns of the gyro"
        )
    errors, to_errors = np.zeros((7, 7)), -np.eye(4)
    to_errors[1:, 1:] = -_force_to_acceleration(recording, imu)[1]
    errors[:3, :3] = covariance[:3, :3]
    errors[3:, 3:] = to_errors @ static.covariance @ to_errors.T
    shares = (1.0,) * (1 + max(group for block in blocks for group in block.noise))
    com_mm = ", ".join(f"{1e3 * coordinate:.4g}" for coordinate in x[:3])
    sigma = float(np.sqrt(static.covariance[0, 0]))
    text = (
        f"no pose and no accelerometer: the mass is from {static.attitude_count} attitudes at "
        f"rest, {static.mass:.5g} kg ± {200.0 * sigma:.2g} %; the centre of mass is from the "
        f"torque, at [{com_mm}] mm. The residual of the force is therefore no test of the fit; "
        "that of the torque is."
    )
    finding = Finding("force_motion", "info", text, evidence={"attitudes": static.attitude_count})
    unit_findings = _wrong_unit_findings(recording, static.mass, x, covariance)
    return replace(
        imu,
        X_BI=Pose(np.eye(3), x[:3]),
        covariance=tuple(map(tuple, errors.tolist())),
        accelerometer_weights=shares,
        findings=(finding, *unit_findings),
    )


def _wrong_unit_findings(
    recording: Recording, mass: float, x: Array, covariance: Array
) -> Iterator[Finding]:
    """Return findings of a wrong unit: an implausible distance of the centre of mass or density.

    `x` is the centre of mass in B and the inertia about it, from the torque, shape (9,).
    """
    origin = np.zeros(3) if recording.X_BS is None else recording.X_BS.position
    distance = float(np.linalg.norm(x[:3] - origin))
    error = float(np.sqrt(np.trace(covariance[:3, :3])))
    if distance - IMPOSSIBLE_INERTIA_SIGMA * error > MAX_COM_DISTANCE:
        yield Finding(
            "torque_unit",
            "error",
            f"the torque puts the centre of mass {distance:.3g} m from the sensor, and the force "
            f"at rest gives a mass of {mass:.4g} kg: torque or force is in another unit.",
            'In the schema, [wrench], check torque_unit and force_unit: `torque_unit = "mNm"` if '
            'the torque is in thousandths, `force_unit = "kN"` if the force is in thousands.',
            {"distance": distance},
        )
    about_com, errors = np.array([mass, 0.0, 0.0, 0.0, *x[3:]]), np.zeros((10, 10))
    errors[4:, 4:] = covariance[3:, 3:]
    density = density_lower_bound(about_com, errors)
    if density > MAX_DENSITY:
        yield Finding(
            "too_dense",
            "error",
            f"the body is denser than any material: the force at rest gives {mass:.4g} kg and the "
            f"torque moments of inertia of at least {density:.2g} kg/m³; osmium has 22 600.",
            'In the schema, [wrench], check force_unit and torque_unit: `force_unit = "mN"` if the '
            'force is in thousandths, and `torque_unit = "mNm"` if the torque is too.',
            {"density": density},
        )


def _force_to_acceleration(recording: Recording, imu: ImuCalibration) -> tuple[Vec3, Mat33]:
    """Return the offset of the force and the map from force to acceleration along B."""
    mass, *offset = imu.static_calibration
    R_BS = np.eye(3) if recording.X_BS is None else recording.X_BS.rotation
    return np.array(offset), R_BS / mass


def _torque_regressor(moments: FrequencyBandMoments) -> tuple[Array, Array]:
    """Return maps from columns to the torque and to its regressor for CoM and inertia."""
    of_force, of_torque = (
        columns_of_part(axes, without_constant(WRENCH)) for axes in (FORCE_AXES, TORQUE_AXES)
    )
    force, alpha = moments.selector(of_force.start), moments.selector(ANGULAR_ACCELERATION.start)
    T = np.concatenate([(hat(e) @ force)[..., None] for e in np.eye(3)], axis=2)
    of_inertia = np.zeros((*alpha.shape, 6))
    for p, (r, c) in enumerate(_INERTIA_AXES):
        E = np.zeros((3, 3))
        E[r, c] = E[c, r] = 1.0
        of_inertia[..., p] = E @ alpha
        for j, e in enumerate(np.eye(3)):  # (ω × E ω) = Σ_jk e_j × E e_k ω_j ω_k
            for k in range(3):
                of_inertia[:, PRODUCT_COLUMNS[j][k], p] += (hat(e) @ E)[:, k]
    return moments.selector(of_torque.start), np.concatenate((T, of_inertia), axis=2)
