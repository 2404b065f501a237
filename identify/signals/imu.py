"""Fusion and comparison of an inertial measurement unit with the other motion signals of a log.

Rows by frequency contain a' and α of the unit, and behind the columns of a fit those of the other
signals (the reference), with the angular velocities of both. In each band the two are fused by
their minimum-variance mean. The comparison fits a gain G, a delay τ and a displacement δr,

    ω_unit = G ω + τ α        a'_unit = G a' + (α× + ω×ω×) δr

to the moments of all rows but the constant, less the moments of their noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.errors import LogError
from identify.findings import Finding
from identify.logs import Recording
from identify.logs.schema_fields import negate_column
from identify.logs.units import ACCELERATION_UNITS, ANGLE_UNITS
from identify.relevance import (
    MIN_IMU_AXES_ERROR,
    MIN_IMU_DELAY,
    MIN_IMU_POSITION_ERROR,
    MIN_IMU_SCALE_ERROR,
)
from identify.signals.imu_calibration import ImuCalibration
from identify.signals.prepared_log import BlockRows
from identify.signals.segment_kinematics import REDUNDANT_COLUMNS
from identify.signals.transform import CONSTANT_GROUP
from identify.significance import SIGNIFICANT_SIGMA
from identify.spatial import Pose, log_rotation, quaternion_from_rotation
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    PRODUCT_COLUMNS,
    PROPER_ACCELERATION,
    RATE_SQUARES,
)
from identify.spatial.rotations import hat

_MAX_SCALE_ERROR = 0.2
"""Largest relative scale error with which an IMU is fused with the other signals."""

_MAX_MISALIGNMENT = np.radians(20.0)
"""Largest misalignment of an IMU's axes [rad]; at larger angles the schema names other axes."""

_UNIT_KEYS_AND_FACTORS = {
    "gyro": ("angle_unit", ANGLE_UNITS),
    "accelerometer": ("unit", ACCELERATION_UNITS),
}
"""Schema key of each sensor's unit and factors of the units to SI, the default first."""


def fuse_imu(block: BlockRows) -> BlockRows:
    """Fuse redundant columns of the IMU and of the other signals by their noise in each band.

    The constant of an acceleration is that of the other signals: an accelerometer has an offset.
    """
    width = block.rows.shape[1] - REDUNDANT_COLUMNS
    rows, noise = block.rows[:, :width].copy(), {}
    for group, moment in block.noise.items():
        T = np.eye(width - 1, width - 1 + REDUNDANT_COLUMNS)
        for reading in (PROPER_ACCELERATION, ANGULAR_ACCELERATION):
            reference = slice(width - 1 + reading.start, width - 1 + reading.stop)
            share = _weight_of_other_signals(moment, reading, reference, group)
            T[reading, reading], T[reading, reference] = (
                (1.0 - share) * np.eye(3),
                share * np.eye(3),
            )
        in_group = block.groups == group
        rows[in_group, 1:] = block.rows[in_group, 1:] @ T.T
        noise[group] = T @ moment @ T.T
    return replace(block, rows=rows, noise=noise)


def _weight_of_other_signals(moment: Array, of_imu: slice, of_others: slice, group: int) -> float:
    """Return the weight of the other signals in their minimum-variance mean with the IMU.

    w = (V_ii − V_io) / (V_ii − V_io − V_oi + V_oo), with traces V of the IMU's (i) and others' (o)
    noise.
    """
    if group == CONSTANT_GROUP and of_imu == PROPER_ACCELERATION:  # it has an offset
        return 1.0
    both = (of_imu, of_others)
    V_ii, V_io, V_oi, V_oo = (moment[rows, columns].trace() for rows in both for columns in both)
    difference_variance = V_ii - V_io - V_oi + V_oo
    if difference_variance <= 0.0:
        return 0.0
    return float(np.clip((V_ii - V_io) / difference_variance, 0.0, 1.0))


def accelerometer_weights(blocks: Sequence[BlockRows]) -> tuple[float, ...]:
    """Return the accelerometer's mean weight in the acceleration a' of fused rows, by group."""
    weights: dict[int, list[float]] = {}
    for block in blocks:
        for group, moment in block.noise.items():
            end = len(moment) - REDUNDANT_COLUMNS
            reference = _weight_of_other_signals(
                moment, PROPER_ACCELERATION, slice(end, end + 3), group
            )
            weights.setdefault(group, []).append(1.0 - reference)
    return tuple(float(np.mean(weights.get(group, 0.0))) for group in range(max(weights) + 1))


class _SensorComparison(NamedTuple):
    """Linear fit of an IMU sensor's readings to the other motion signals of a log.

    Attributes:
        gain: G, reading = G · value of the other signals.
        offsets: delay τ [s] of a gyro; displacement δr [m] of an accelerometer.
        errors: one sigma of the entries of G, then of the offsets.
    """

    gain: Array
    offsets: Array
    errors: Array


def consistency_findings(
    recording: Recording, imu: ImuCalibration, blocks: Sequence[BlockRows]
) -> Iterator[Finding]:
    """Return findings of significant differences between an IMU and the other signals of a log.

    Raises `LogError`: the two contradict each other.
    """
    moments = FrequencyBandMoments(blocks)
    yield from _comparison_findings(recording, imu, "gyro", moments.compare_gyro())
    yield from _comparison_findings(
        recording, imu, "accelerometer", moments.compare_accelerometer()
    )


class FrequencyBandMoments:
    """Second moments of rows and of their noise in each frequency band, without the constant.

    Attributes:
        acceleration_selector: selects a' of the IMU, (3, K).
        lever_arm_map: (α× + ω×ω×) e_k, (3, K, 3).
    """

    def __init__(self, blocks: Sequence[BlockRows]) -> None:
        self._bands: dict[int, tuple[Array, Array, int]] = {}
        for block in blocks:
            for group, noise in block.noise.items():
                rows = block.rows[block.groups == group, 1:]
                if group == CONSTANT_GROUP or not len(rows):
                    continue
                S, C, n = self._bands.get(group, (0.0, 0.0, 0))
                S, C = S + rows.T @ rows, C + len(rows) * noise
                self._bands[group] = np.asarray(S), np.asarray(C), n + len(rows)
        self._width = blocks[0].rows.shape[1] - 1
        self.acceleration_selector = self.selector(PROPER_ACCELERATION.start)
        alpha, x = self.selector(ANGULAR_ACCELERATION.start), np.eye(3)
        self.lever_arm_map = np.stack([-hat(e) @ alpha for e in x], axis=-1)
        for i, j in np.ndindex(3, 3):  # (ωωᵀ − |ω|² 1) e_j
            self.lever_arm_map[i, PRODUCT_COLUMNS[i][j], j] += 1.0
            self.lever_arm_map[i, RATE_SQUARES, j] -= float(i == j)

    def compare_gyro(self) -> _SensorComparison | None:
        """Fit ω of the IMU by ω and α of the other signals."""
        end = self._width - REDUNDANT_COLUMNS
        T = np.concatenate((self._gain_map(end + 9), self.selector(end + 3)[:, :, None]), axis=2)
        return self._fit_gain(self.selector(end + 6), T)

    def compare_accelerometer(self) -> _SensorComparison | None:
        """Fit the accelerometer by acceleration from other signals and the IMU's displacement."""
        gain_map = self._gain_map(self._width - REDUNDANT_COLUMNS)
        T = np.concatenate((gain_map, self.lever_arm_map), axis=2)
        return self._fit_gain(self.acceleration_selector, T)

    def fit_accelerometer_position(self) -> tuple[Vec3, Mat33] | None:
        """Fit the displacement of an accelerometer from the position assumed for its rows.

        Its axes and scale are assumed correct. Returns δr along B [m] and its covariance [m²]; None
        where the motion does not determine it.
        """
        reference = self.selector(self._width - REDUNDANT_COLUMNS)
        return self.solve(self.acceleration_selector - reference, self.lever_arm_map, np.zeros(3))

    def solve(self, y: Array, T: Array, x: Array) -> tuple[Array, Array] | None:
        """Estimate x of z y = z T x, with rows z of all bands, by noise-corrected least squares.

        Returns x and its covariance; None where the motion does not determine all of x.
        """
        N, b = np.zeros((len(x), len(x))), np.zeros(len(x))
        total = sum(float(np.einsum("ik,kl,il", y, S, y)) for S, _, _ in self._bands.values())
        weighted = []
        for S, C, n in self._bands.values():
            residual = y - T @ x
            noise = float(np.einsum("ik,kl,il", residual, C, residual)) / (3 * n)
            weight = 1.0 / (noise + 1e-12 * total / max(n, 1) + np.finfo(float).tiny)
            N += weight * np.einsum("ikp,kl,ilq->pq", T, S - C, T)
            b += weight * np.einsum("ikp,kl,il->p", T, S - C, y)
            weighted.append((weight, S, n))
        size = np.sqrt(np.maximum(np.diag(N), 0.0))
        if not size.all() or np.linalg.eigvalsh(N / np.outer(size, size))[0] < 1e-4:
            return None
        solution = np.linalg.solve(N, b)
        residual, score_covariance = y - T @ solution, np.zeros_like(N)
        for weight, S, n in weighted:  # C lacks noise that turning axes spread over bands
            spread = weight * float(np.einsum("ik,kl,il", residual, S, residual)) / (3 * n)
            score_covariance += max(1.0, spread) * weight * np.einsum("ikp,kl,ilq->pq", T, S, T)
        inverse = np.linalg.inv(N)
        return solution, inverse @ score_covariance @ inverse

    def _fit_gain(self, y: Array, T: Array) -> _SensorComparison | None:
        count = T.shape[2]
        fitted = self.solve(y, T, np.append(np.eye(3), np.zeros(count - 9)))
        if fitted is None:
            return None
        x, covariance = fitted
        return _SensorComparison(x[:9].reshape(3, 3), x[9:], np.sqrt(np.diag(covariance)))

    def selector(self, start: int) -> Array:
        """Return the matrix that selects the three columns from a number on, shape (3, K)."""
        return np.eye(3, self._width, start)

    def _gain_map(self, start: int) -> Array:
        """Return T such that rows z give z T vec(G) = G v, v their three columns from `start`."""
        return np.einsum("ij,mk->ikjm", np.eye(3), self.selector(start)).reshape(3, self._width, 9)


def _comparison_findings(
    recording: Recording, imu: ImuCalibration, name: str, comparison: _SensorComparison | None
) -> Iterator[Finding]:
    if comparison is None:
        return
    G, sigma = comparison.gain, float(comparison.errors[:9].max())
    U, singular, Vt = np.linalg.svd(G)
    scale, X_BI = float(singular.mean()), imu.X_BI
    # Too little motion.
    if SIGNIFICANT_SIGMA * sigma > np.sin(_MAX_MISALIGNMENT) * scale:
        return
    R = U @ Vt
    if (remedy := _contradiction_remedy(recording, name, R, scale)) is not None:
        raise LogError(
            f"{recording.name}: the {name} contradicts the other signals of the log: it reads "
            f"{np.round(G, 2).tolist()} times their value. {remedy}"
        )
    turn = log_rotation(quaternion_from_rotation(R))
    if (angle := float(np.linalg.norm(turn))) > max(MIN_IMU_AXES_ERROR, SIGNIFICANT_SIGMA * sigma):
        mount = log_rotation(quaternion_from_rotation(R.T @ X_BI.rotation))
        yield Finding(
            "imu_axes",
            "warning",
            f"the axes of the {name} are rotated by {np.degrees(angle):.3g}° from those in the "
            "schema, according to the other signals of the log.",
            f"In the schema, [imu.mount], set `rotation_vector = {np.round(mount, 5).tolist()}`.",
            {"angle": angle, "sigma": sigma},
        )
    if abs(scale - 1.0) > max(MIN_IMU_SCALE_ERROR, SIGNIFICANT_SIGMA * sigma):
        yield Finding(
            "imu_scale",
            "error" if abs(scale - 1.0) > _MAX_SCALE_ERROR else "warning",
            f"the {name} reads {scale:.4g} times the value of the other signals of the log.",
            "Check its unit and range, those of the pose, and the unit of time.",
            {"scale": scale, "sigma": sigma},
        )
    errors = SIGNIFICANT_SIGMA * comparison.errors[9:]
    delay = -float(comparison.offsets[0])
    if name == "gyro" and abs(delay) > max(MIN_IMU_DELAY, float(errors[0])):
        yield Finding(
            "imu_delay",
            "warning",
            f"the gyro is {1e3 * abs(delay):.3g} ms {'late' if delay > 0.0 else 'early'} compared "
            "with the other signals of the log.",
            f"Add {-delay:.4g} s to its time stamps, or {delay:.4g} s to the others.",
            {"delay": delay, "sigma": float(comparison.errors[9])},
        )
    distance = float(np.linalg.norm(comparison.offsets))
    if name == "accelerometer" and distance > max(
        MIN_IMU_POSITION_ERROR, float(np.linalg.norm(errors))
    ):
        position = np.round(X_BI.position + comparison.offsets, 4).tolist()
        yield Finding(
            "imu_place",
            "warning",
            f"the accelerometer is {1e3 * distance:.3g} mm from its position in the schema, "
            "according to the other signals of the log.",
            f"In the schema, [imu.mount], set `translation = {position}` (in m), or "
            "`fitted = true`.",
            {"distance": distance},
        )


def _contradiction_remedy(recording: Recording, name: str, R: Array, scale: float) -> str | None:
    """Return the remedy for a sensor with another unit or other axes, or None if it has neither."""
    imu = recording.schema.get("imu")
    table = imu if isinstance(imu, Mapping) else {}
    key, units = _UNIT_KEYS_AND_FACTORS[name]
    given = table.get(key, next(iter(units)))
    remedies = [
        f'set `{key} = "{unit}"`'
        for unit, factor in units.items()
        if unit != given and abs(scale * factor / units[given] - 1.0) < 0.1
    ]
    X_BI = Pose.identity() if recording.imu is None else recording.imu.X_BI
    R_unit = X_BI.rotation.T @ R @ X_BI.rotation
    nearest = np.rint(R_unit)
    is_permutation = np.abs(R_unit - nearest).max() < np.sin(_MAX_MISALIGNMENT)
    if is_permutation and (nearest != np.eye(3)).any():
        columns = table.get(name, [f"{name}[{k}]" for k in range(3)])
        new = [columns[int(np.argmax(np.abs(c)))] for c in nearest.T]
        pairs = zip(new, nearest.sum(axis=0), strict=True)
        new = [negate_column(column) if sign < 0.0 else column for column, sign in pairs]
        remedies.append(f"set `{name} = {new}`".replace("'", '"'))
    elif not is_permutation:
        if np.linalg.det(R) > 0.0:
            mount = log_rotation(quaternion_from_rotation(R.T @ X_BI.rotation))
            remedies.append(f"in [imu.mount] set `rotation_vector = {np.round(mount, 4).tolist()}`")
        else:
            remedies.append(f"give the columns of {name} in the order and with the signs they have")
        remedies.append("or check units, order and maps of [pose]")
    return f"In the schema, [imu], {', '.join(remedies)}." if remedies else None
