"""What an inertial measurement unit and the rest of a log both tell: put together, and compared.

Rows by frequency have a' and α of the unit, and behind the columns of a fit those of the rest of
the log, with the angular velocities of both. Each band takes the mean of the two whose noise is
least. Where they are compared, the unit reads G times what the rest says, in its place, late:

    ω_unit = G ω + τ α        a'_unit = G a' + (α× + ω×ω×) δr

fitted to the moments of all rows but the constant, less those of their noise.
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
from identify.logs.schema_fields import negated
from identify.logs.units import ACCELERATION, ANGLE
from identify.relevance import IMU_ANGLE, IMU_DELAY, IMU_DISTANCE, IMU_SCALE
from identify.signals.kinematics import TWICE
from identify.signals.prepared import BlockRows, ImuCalibration
from identify.signals.transform import CONSTANT
from identify.significance import SIGNIFICANT_SIGMA
from identify.spatial import Pose, log_rotation, quaternion_from_rotation
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    PRODUCT_COLUMNS,
    PROPER_ACCELERATION,
    SQUARES,
)
from identify.spatial.rotations import hat

_FAR_SCALED = 0.2
"""Share by which a scale may be off for the two to be put together."""

_FARTHEST_TURNED = np.radians(20.0)
"""Angle between axes that are meant to be the same, beyond which they are others."""

_UNITS = {"gyro": ("angle_unit", ANGLE), "accelerometer": ("unit", ACCELERATION)}
"""The key of each sensor's unit, and factors of units to SI, the default first."""


def merged(block: BlockRows) -> BlockRows:
    """Rows with what is told twice put together, weighed by its noise in each band.

    The constant of an acceleration is that of the rest of the log: an accelerometer has an offset.
    """
    width = block.rows.shape[1] - TWICE
    rows, noise = block.rows[:, :width].copy(), {}
    for group, moment in block.noise.items():
        T = np.eye(width - 1, width - 1 + TWICE)
        for own in (PROPER_ACCELERATION, ANGULAR_ACCELERATION):
            other = slice(width - 1 + own.start, width - 1 + own.stop)
            share = _share_of_rest(moment, own, other, group)
            T[own, own], T[own, other] = (1.0 - share) * np.eye(3), share * np.eye(3)
        of_group = block.groups == group
        rows[of_group, 1:] = block.rows[of_group, 1:] @ T.T
        noise[group] = T @ moment @ T.T
    return replace(block, rows=rows, noise=noise)


def _share_of_rest(moment: Array, own: slice, other: slice, group: int) -> float:
    """The weight of the rest of the log in the mean of least noise with what the unit tells."""
    if group == CONSTANT and own.start == 0:
        return 1.0
    variances = [moment[one, two].trace() for one in (own, other) for two in (own, other)]
    of_difference = variances[0] - variances[1] - variances[2] + variances[3]
    if of_difference <= 0.0:
        return 0.0
    return float(np.clip((variances[0] - variances[1]) / of_difference, 0.0, 1.0))


def accelerometer_shares(blocks: Sequence[BlockRows]) -> tuple[float, ...]:
    """What of a' is the accelerometer's in `merged` rows, by group, on average over the blocks."""
    found: dict[int, list[float]] = {}
    for block in blocks:
        for group, moment in block.noise.items():
            end = len(moment) - TWICE
            rest = _share_of_rest(moment, PROPER_ACCELERATION, slice(end, end + 3), group)
            found.setdefault(group, []).append(1.0 - rest)
    return tuple(float(np.mean(found.get(group, 0.0))) for group in range(max(found) + 1))


class _Likened(NamedTuple):
    """What a sensor reads by what the rest of the log says.

    Attributes:
        gain: G.
        beside: τ [s] of a gyro; δr [m] of an accelerometer.
        errors: one sigma of the entries of G and of those, one after the other.
    """

    gain: Array
    beside: Array
    errors: Array


def fitted_place(blocks: Sequence[BlockRows]) -> tuple[Vec3, Mat33] | None:
    """Where an accelerometer is by what it reads, from the place it was read for.

    Returns:
        δr along B [m] and its covariance [m²]; None where the log does not tell.
    """
    return BandMoments(blocks).place()


def compared(
    recording: Recording, imu: ImuCalibration, blocks: Sequence[BlockRows]
) -> Iterator[Finding]:
    """Findings on how an inertial measurement unit differs from the rest of the log, beyond noise.

    Args:
        recording: the log.
        imu: calibration with which the rows were made.
        blocks: its rows, with what is told twice.

    Raises:
        LogError: so far that both cannot be of one body.
    """
    moments = BandMoments(blocks)  # what is told once is alike in both
    yield from _of_sensor(recording, imu, "gyro", moments.gyro())
    yield from _of_sensor(recording, imu, "accelerometer", moments.accelerometer())


class BandMoments:
    """Moments of the rows of each band and of their noise; maps of columns behind the constant.

    Attributes:
        own: picks a' of the unit, (3, K).
        carried: (α× + ω×ω×) e_k, (3, K, 3).
    """

    def __init__(self, blocks: Sequence[BlockRows]) -> None:
        self._bands: dict[int, tuple[Array, Array, int]] = {}
        for block in blocks:
            for group, noise in block.noise.items():
                rows = block.rows[block.groups == group, 1:]
                if group == CONSTANT or not len(rows):
                    continue
                S, C, n = self._bands.get(group, (0.0, 0.0, 0))
                S, C = S + rows.T @ rows, C + len(rows) * noise
                self._bands[group] = np.asarray(S), np.asarray(C), n + len(rows)
        self._width = blocks[0].rows.shape[1] - 1
        self.own = self.pick(PROPER_ACCELERATION.start)
        alpha, x = self.pick(ANGULAR_ACCELERATION.start), np.eye(3)
        self.carried = np.stack([-hat(e) @ alpha for e in x], axis=-1)
        for i, j in np.ndindex(3, 3):  # (ωωᵀ − |ω|² 1) e_j
            self.carried[i, PRODUCT_COLUMNS[i][j], j] += 1.0
            self.carried[i, SQUARES, j] -= float(i == j)

    def gyro(self) -> _Likened | None:
        """ω of the unit by ω and α of the rest."""
        end = self._width - TWICE
        T = np.concatenate((self._gains(end + 9), self.pick(end + 3)[:, :, None]), axis=2)
        return self._likened(self.pick(end + 6), T)

    def accelerometer(self) -> _Likened | None:
        """a' of the unit by that of the rest and the place of the unit."""
        T = np.concatenate((self._gains(self._width - TWICE), self.carried), axis=2)
        return self._likened(self.own, T)

    def place(self) -> tuple[Vec3, Mat33] | None:
        """The place of the unit, its axes and its unit taken for right."""
        rest = self.pick(self._width - TWICE)
        return self.solve(self.own - rest, self.carried, np.zeros(3))

    def solve(self, y: Array, T: Array, x: Array) -> tuple[Array, Array] | None:
        """Least squares of z y = z T x over all bands, from about x; x and its covariance.

        None where the motion does not tell them all.
        """
        N, b = np.zeros((len(x), len(x))), np.zeros(len(x))
        total = sum(float(np.einsum("ik,kl,il", y, S, y)) for S, _, _ in self._bands.values())
        weighed = []
        for S, C, n in self._bands.values():
            left = y - T @ x
            noise = float(np.einsum("ik,kl,il", left, C, left)) / (3 * n)
            weight = 1.0 / (noise + 1e-12 * total / max(n, 1) + np.finfo(float).tiny)
            N += weight * np.einsum("ikp,kl,ilq->pq", T, S - C, T)
            b += weight * np.einsum("ikp,kl,il->p", T, S - C, y)
            weighed.append((weight, S, n))
        size = np.sqrt(np.maximum(np.diag(N), 0.0))
        if not size.all() or np.linalg.eigvalsh(N / np.outer(size, size))[0] < 1e-4:
            return None
        found = np.linalg.solve(N, b)
        left, scatter = y - T @ found, np.zeros_like(N)
        for weight, S, n in weighed:  # noise that turning axes spread over bands is in none of C
            spread = weight * float(np.einsum("ik,kl,il", left, S, left)) / (3 * n)
            scatter += max(1.0, spread) * weight * np.einsum("ikp,kl,ilq->pq", T, S, T)
        inverse = np.linalg.inv(N)
        return found, inverse @ scatter @ inverse

    def _likened(self, y: Array, T: Array) -> _Likened | None:
        count = T.shape[2]
        found = self.solve(y, T, np.append(np.eye(3), np.zeros(count - 9)))
        if found is None:
            return None
        errors = np.sqrt(np.diag(found[1]))
        return _Likened(found[0][:9].reshape(3, 3), found[0][9:], errors)

    def pick(self, start: int) -> Array:
        """The map of three columns, from that number behind the constant, shape (3, K)."""
        return np.eye(3, self._width, start)

    def _gains(self, start: int) -> Array:
        """z T vec(G) = G v for the v that stands at some columns, shape (3, K, 9)."""
        return np.einsum("ij,mk->ikjm", np.eye(3), self.pick(start)).reshape(3, self._width, 9)


def _of_sensor(
    recording: Recording, imu: ImuCalibration, name: str, found: _Likened | None
) -> Iterator[Finding]:
    if found is None:
        return
    G, sigma = found.gain, float(found.errors[:9].max())
    U, singular, Vt = np.linalg.svd(G)
    scale, X_BI = float(singular.mean()), imu.X_BI
    # Too little motion tells nothing.
    if SIGNIFICANT_SIGMA * sigma > np.sin(_FARTHEST_TURNED) * scale:
        return
    R = U @ Vt
    if (remedy := _contradiction(recording, name, R, scale)) is not None:
        raise LogError(
            f"{recording.name}: the {name} contradicts the rest of the log: it reads "
            f"{np.round(G, 2).tolist()} times what that says. {remedy}"
        )
    turn = log_rotation(quaternion_from_rotation(R))
    if (angle := float(np.linalg.norm(turn))) > max(IMU_ANGLE, SIGNIFICANT_SIGMA * sigma):
        mount = log_rotation(quaternion_from_rotation(R.T @ X_BI.rotation))
        yield Finding(
            "imu_axes",
            "warning",
            f"the axes of the {name} are turned by {np.degrees(angle):.3g}° from where the schema "
            "has them, by the rest of the log.",
            f"In the schema, [imu.mount], set `rotation_vector = {np.round(mount, 5).tolist()}`.",
            {"angle": angle, "sigma": sigma},
        )
    if abs(scale - 1.0) > max(IMU_SCALE, SIGNIFICANT_SIGMA * sigma):
        yield Finding(
            "imu_scale",
            "error" if abs(scale - 1.0) > _FAR_SCALED else "warning",
            f"the {name} reads {scale:.4g} times what the rest of the log says.",
            "Check its unit and range, those of the pose, and the unit of time.",
            {"scale": scale, "sigma": sigma},
        )
    errors = SIGNIFICANT_SIGMA * found.errors[9:]
    if name == "gyro" and abs(late := -float(found.beside[0])) > max(IMU_DELAY, float(errors[0])):
        yield Finding(
            "imu_delay",
            "warning",
            f"the gyro is {1e3 * abs(late):.3g} ms {'late' if late > 0.0 else 'early'} by the rest "
            "of the log.",
            f"Add {-late:.4g} s to its time stamps, or {late:.4g} s to the others.",
            {"delay": late, "sigma": float(found.errors[9])},
        )
    away = found.beside
    if name == "accelerometer" and np.linalg.norm(away) > max(IMU_DISTANCE, np.linalg.norm(errors)):
        place = np.round(X_BI.position + away, 4).tolist()
        yield Finding(
            "imu_place",
            "warning",
            f"the accelerometer is {1e3 * np.linalg.norm(away):.3g} mm from where the schema has "
            "it, by the rest of the log.",
            f"In the schema, [imu.mount], set `translation = {place}` (in m), or `fitted = true`.",
            {"distance": float(np.linalg.norm(away))},
        )


def _contradiction(recording: Recording, name: str, R: Array, scale: float) -> str | None:
    """What to do where a sensor reads in another unit, or along other axes; None where it does not.

    Args:
        recording: whose it is.
        name: of the sensor.
        R: nearest orthogonal matrix to its gain.
        scale: mean size of its gain.
    """
    table = recording.schema.get("imu")
    said = table if isinstance(table, Mapping) else {}
    key, units = _UNITS[name]
    now = said.get(key, next(iter(units)))
    remedies = [
        f'set `{key} = "{unit}"`'
        for unit, factor in units.items()
        if unit != now and abs(scale * factor / units[now] - 1.0) < 0.1
    ]
    X_BI = Pose.identity() if recording.imu is None else recording.imu.X_BI
    own = X_BI.rotation.T @ R @ X_BI.rotation
    nearest = np.rint(own)
    near = np.abs(own - nearest).max() < np.sin(_FARTHEST_TURNED)
    if near and (nearest != np.eye(3)).any():
        columns = said.get(name, [f"{name}[{k}]" for k in range(3)])
        new = [_negated_if(columns[int(np.argmax(np.abs(c)))], c.sum()) for c in nearest.T]
        remedies.append(f"set `{name} = {new}`".replace("'", '"'))
    elif not near:
        if np.linalg.det(R) > 0.0:
            mount = log_rotation(quaternion_from_rotation(R.T @ X_BI.rotation))
            remedies.append(f"in [imu.mount] set `rotation_vector = {np.round(mount, 4).tolist()}`")
        else:
            remedies.append(f"give the columns of {name} in the order and with the signs they have")
        remedies.append("or check units, order and maps of [pose]")
    return f"In the schema, [imu], {', '.join(remedies)}." if remedies else None


def _negated_if(column: str | int, sign: float) -> str | int:
    return negated(column) if sign < 0.0 else column
