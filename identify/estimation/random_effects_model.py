"""Random-effects model of small sensor faults, such as delay, gain and crosstalk.

Each type of fault is a linear map M(η) of a log's wide columns, M(0) = 1, or an offset that drifts.
Its parameters η (the effects) are shared by all logs of a sensor; drift is of each log.
`random_effects_fit` estimates them with the body, `variance_components` their variances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from identify.arrays import Array, Indices, Phi, Vec3
from identify.estimation.scale_accuracy import gain_accuracy, gain_deviations, gravity_error
from identify.estimation.variance_components import VarianceComponent
from identify.logs import Recording
from identify.logs.effect_keys import FaultSizeSetting
from identify.logs.log_properties import LogProperties, share_between_similar_logs
from identify.logs.sensors import effect_sizes, require_same_sensor, sensor_key
from identify.regressors import SCAN_LAYOUT, WIDE_LAYOUT, Statistics
from identify.regressors.log_corrections import (
    cable_map,
    clock_rate_map,
    delay_map,
    extend_to_derivatives,
    gravity_map,
    gravity_tilt,
    logged_wrench_only,
    misalignment_map,
    point_offset_map,
    sensor_gain_map,
)
from identify.spatial.columns import ATTITUDE, POSITION, WRENCH, WRENCH_NAMES, WRENCH_SECOND_RATE
from identify.spatial.vectors import STANDARD_GRAVITY

MIN_LEVER_ARM = 0.03
"""Smallest lever (distance of the centre of mass) for scaling crosstalk and torque drift [m]."""

CABLE_SLACK_RADIUS = 0.3
"""Typical distance from the centre of the motion at which a cable is slack [m], which converts a
typical stiffness to a typical pull."""

_DEGREE = float(np.radians(1.0))
"""One degree [rad]."""

_DIFFERENCE_STEP = 1e-6
"""Step of a fault's parameter in central differences of its column map [SI]."""


@dataclass(frozen=True, slots=True)
class BodyScale:
    """Weight and lever arm of a body, which scale drift and crosstalk.

    Attributes:
        weight: weight of the body on Earth [N].
        lever: distance of the centre of mass from the origin, at least `MIN_LEVER_ARM` [m].
    """

    weight: float
    lever: float

    @classmethod
    def of(cls, phi: Phi) -> BodyScale:
        """Compute weight and lever arm of a body of positive mass."""
        lever = float(np.linalg.norm(phi[1:4]) / phi[0])
        return cls(float(phi[0]) * STANDARD_GRAVITY, max(lever, MIN_LEVER_ARM))


@dataclass(frozen=True, slots=True)
class SensorFaultType:
    """Type of small sensor fault, such as crosstalk: its parameters and its map of log columns.

    Attributes:
        name: key in `[effects]`, unless `key` gives another.
        code: code of its finding.
        columns: names of its columns.
        map_at: function that returns the map M(η) for the columns that a fit uses, (43, 19).
        applies: function that returns whether a log can have the fault.
        units: function that returns SI units of the columns for a body, shape (k,).
        exponent: exponent of the key's size in the columns' sizes.
        key: key in `[effects]` if it differs from the name.
        tied: columns whose size is that of the others, without being estimated from them.
        message: what a finding says of it.
        unit, unit_si: of its size in messages, and what that is in SI.
        large: name of the fault of any size in `diagnosis.faults` whose schema line corrects it.
        ranked_if_large: whether that fault is compared only where this one is too large to be
            small.
        remedy: action where no line of the schema corrects it.
    """

    name: str
    code: str
    columns: tuple[str, ...]
    map_at: Callable[[LogProperties, Array], Array]
    applies: Callable[[LogProperties], bool] = lambda setup: True
    units: Callable[[BodyScale], Array] | None = None
    exponent: int = 1
    key: str = ""
    tied: tuple[int, ...] = ()
    message: str = ""
    unit: str = ""
    unit_si: float = 1.0
    large: str = ""
    ranked_if_large: bool = True
    remedy: str = "Calibrate the sensor again for narrower intervals."


_PULL_DIRECTIONS = ("first horizontal", "second horizontal", "vertical")
_CABLE_PARAMETERS = (
    "stiffness in N/m",
    *(f"{way} pull in N" for way in _PULL_DIRECTIONS),
    *(f"moment of the stiffness about {axis} in N" for axis in "xyz"),
    *(f"moment of {arm} and {way} pull in N m" for arm in "xyz" for way in _PULL_DIRECTIONS),
)
_VERTICAL_PULL_COLUMNS = (3, 9, 12, 15)
"""Indices of the cable parameters that are a constant vertical pull: as it resembles weight, their
standard deviation is that of the other cable parameters."""

_CROSSTALK_ENTRIES = [(i, j) for i in range(6) for j in range(6) if i != j]


def _filter_map(setup: LogProperties, eta: Array) -> Array:
    M = sensor_gain_map(np.eye(6))
    M[WRENCH_SECOND_RATE, WRENCH] = float(eta[0]) * np.eye(6)
    return M


def _gain_map(setup: LogProperties, eta: Array) -> Array:
    return sensor_gain_map(np.eye(6) + np.diag(eta), setup.X_BS)


def _crosstalk_map(setup: LogProperties, eta: Array) -> Array:
    G = np.eye(6)
    for (i, j), value in zip(_CROSSTALK_ENTRIES, eta, strict=True):
        G[i, j] = value
    return sensor_gain_map(G, setup.X_BS)


def _crosstalk_units(scale: BodyScale) -> Array:
    units = np.ones((2, 2))
    units[0, 1], units[1, 0] = 1.0 / scale.lever, scale.lever
    return np.array([units[i // 3, j // 3] for i, j in _CROSSTALK_ENTRIES])


def _cable_map(setup: LogProperties, eta: Array) -> Array:
    along = _level_axes(setup.gravity)
    moments = eta[7:16].reshape(3, 3) @ along
    return cable_map(float(eta[0]), eta[1:4] @ along, eta[4:7], moments, setup.mean_position)


def _level_axes(gravity: Vec3) -> Array:
    """Return two horizontal axes and the upward axis in W as rows; W's own if z is up, (3, 3)."""
    size = float(np.linalg.norm(gravity))
    up = -gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    first = np.eye(3)[int(np.argmin(np.abs(up)))]
    first = first - (first @ up) * up
    first = first / float(np.linalg.norm(first))
    return np.array([first, np.cross(up, first), up])


def _cable_units(scale: BodyScale) -> Array:
    by_lever = np.repeat([1.0, CABLE_SLACK_RADIUS], [1, 3])
    of_forces = np.concatenate(
        (by_lever, [scale.lever] * 3, [scale.lever * CABLE_SLACK_RADIUS] * 9)
    )
    return scale.weight * of_forces


def _has_motion(setup: LogProperties) -> bool:
    return not setup.static_poses


def _has_positions(setup: LogProperties) -> bool:
    return setup.has_attitude and "position" in setup.signals


def _adds_gravity(setup: LogProperties) -> bool:
    return setup.has_attitude and setup.gravity_added


SENSOR_FAULT_TYPES: tuple[SensorFaultType, ...] = (
    SensorFaultType(
        "delay_s",
        "delay",
        ("delay",),
        lambda setup, eta: delay_map(float(eta[0])),
        _has_motion,
        message="the wrench is late",
        unit="ms",
        unit_si=1e-3,
        large="delay",
        ranked_if_large=False,  # delays are compared by correlation, whatever their size
    ),
    SensorFaultType(
        "filter_s",
        "sensor_lag",
        ("filter",),
        _filter_map,
        _has_motion,
        exponent=2,
        message="the wrench is filtered",
        unit="ms²",
        unit_si=1e-6,
        large="sensor_lag",
    ),
    SensorFaultType(
        "gain",
        "gain",
        WRENCH_NAMES,
        _gain_map,
        message="gains of the sensor have errors",
        unit="%",
        unit_si=1e-2,
    ),
    SensorFaultType(
        "common_gain",
        "gain",
        ("force", "torque"),
        lambda setup, eta: _gain_map(setup, np.repeat(eta, 3)),
        key="gain",
        message="all forces or all torques are too large or too small",
        unit="%",
        unit_si=1e-2,
    ),
    SensorFaultType(
        "crosstalk",
        "wrench_calibration",
        tuple(f"{WRENCH_NAMES[i]} from {WRENCH_NAMES[j]}" for i, j in _CROSSTALK_ENTRIES),
        _crosstalk_map,
        units=_crosstalk_units,
        message="the axes of the sensor have crosstalk",
    ),
    SensorFaultType(
        "misalignment_deg",
        "wrench_misaligned",
        ("about x", "about y", "about z"),
        lambda setup, eta: misalignment_map(eta, setup.X_BS),
        message="the sensor is rotated relative to the body",
        unit="deg",
        unit_si=_DEGREE,
        large="wrench_misaligned",
        ranked_if_large=False,  # turns of any size are compared
    ),
    SensorFaultType(
        "tilt_deg",
        "gravity_tilted",
        ("about first axis", "about second axis"),
        lambda setup, eta: gravity_map(gravity_tilt(eta, setup.gravity), setup.compensated_weight),
        _adds_gravity,
        message="the vertical axis of the world frame is tilted relative to gravity",
        unit="deg",
        unit_si=_DEGREE,
        large="gravity_tilted",
    ),
    SensorFaultType(
        "gravity",
        "gravity_magnitude",
        ("size",),
        lambda setup, eta: gravity_map(float(eta[0]) * setup.gravity, setup.compensated_weight),
        _adds_gravity,
        message="the magnitude of gravity differs from the given one",
        unit="%",
        unit_si=1e-2,
        remedy="Give the local gravity in [world].",
    ),
    SensorFaultType(
        "clock",
        "clock_rate",
        ("rate",),
        lambda setup, eta: clock_rate_map(float(eta[0]), setup.gravity),
        lambda setup: setup.rates_from_pose,
        message="the clock of the log runs at a wrong rate",
        unit="%",
        unit_si=1e-2,
        large="clock_rate",
    ),
    SensorFaultType(
        "cable",
        "cable",
        _CABLE_PARAMETERS,
        _cable_map,
        _has_positions,
        units=_cable_units,
        tied=_VERTICAL_PULL_COLUMNS,
        message="something pulls the body like a cable or a hose",
        remedy="Route the cable so that it does not pull, or log without it.",
    ),
    SensorFaultType(
        "point_m",
        "kinematic_offset",
        ("x", "y", "z"),
        lambda setup, eta: point_offset_map(eta),
        _has_motion,
        message="the point of the pose is displaced from the point of the wrench",
        unit="mm",
        unit_si=1e-3,
        large="kinematic_offset",
    ),
)
"""All types of small sensor faults except drift, in the order in which they act on a log."""

DRIFT_FAULTS = ("force_drift", "torque_drift")
"""Names of the types of offset drift: of force and of torque."""

SCALE_FAULTS = ("gain", "common_gain", "wrench_scale", "gravity")
"""Names of the fault types that are scale errors of the sensor or of gravity."""


@dataclass(frozen=True, slots=True)
class EffectBlock:
    """Parameters (columns) of one type of fault of one sensor.

    Attributes:
        fault: type of fault.
        sensor: index of the sensor.
        start: first column.
        deviations: standard deviation of each column if a schema gives it.
        setting: size of the prior, and cap; None if the standard deviation is one unit.
    """

    fault: SensorFaultType
    sensor: int
    start: int
    deviations: Array | None
    setting: FaultSizeSetting | None

    @property
    def columns(self) -> slice:
        """Slice of the block's columns among all columns of the model."""
        return slice(self.start, self.start + len(self.fault.columns))


@dataclass(frozen=True)
class EffectModel:
    """Small sensor faults that the logs of a fit may have.

    Attributes:
        setups: measurement setup of each log; logs that were measured alike share one object.
        sensors: index of the sensor of each log.
        blocks: columns of the maps.
        drift: settings of the drift of force and of torque; None if it is excluded.
    """

    setups: tuple[LogProperties, ...]
    sensors: tuple[int, ...]
    blocks: tuple[EffectBlock, ...]
    drift: tuple[FaultSizeSetting | None, FaultSizeSetting | None]

    @classmethod
    def of(
        cls,
        recordings: Sequence[Recording],
        statistics: Sequence[Statistics] = (),
        extra_types: Sequence[SensorFaultType] = (),
    ) -> EffectModel:
        """Collect the small faults that the schemas of logs allow.

        `extra_types`: types besides those of the table, with standard deviations of one unit.
        Raises `SchemaError`: a schema has invalid effects.
        """
        setups = tuple(
            share_between_similar_logs(
                list(map(LogProperties.of, recordings)), lambda of_log: of_log
            )
        )
        require_same_sensor(recordings)
        keys = [sensor_key(recording) for recording in recordings]
        distinct = list(dict.fromkeys(keys))
        sensors = tuple(distinct.index(key) for key in keys)
        setups = _with_mean_positions(setups, sensors, statistics)
        blocks, start = list[EffectBlock](), 0
        for sensor in range(len(distinct)):
            first = sensors.index(sensor)
            settings = effect_sizes(recordings[first])
            given = _given_deviations(recordings[first])
            sensor_setups = [f for f, k in zip(setups, sensors, strict=True) if k == sensor]
            for fault in SENSOR_FAULT_TYPES:
                deviations, setting = given.get(fault.name), settings.get(fault.key or fault.name)
                if (deviations is None and setting is None) or not any(
                    map(fault.applies, sensor_setups)
                ):
                    continue
                blocks.append(EffectBlock(fault, sensor, start, deviations, setting))
                start += len(fault.columns)
            for fault in extra_types:
                blocks.append(EffectBlock(fault, sensor, start, None, None))
                start += len(fault.columns)
        settings = effect_sizes(recordings[0])
        force, torque = (settings.get(name) for name in DRIFT_FAULTS)
        return cls(setups, sensors, tuple(blocks), (force, torque))

    def without_fault(self, name: str) -> EffectModel:
        """Return the model without the type of fault with a name."""
        return self._with_blocks([block for block in self.blocks if block.fault.name != name])

    @property
    def given_alone(self) -> EffectModel:
        """The model of the errors whose standard deviations the schemas give, without others."""
        given = [block for block in self.blocks if block.deviations is not None]
        return replace(self._with_blocks(given), drift=(None, None))

    def with_gain_for_point_offset(self, setting: FaultSizeSetting) -> EffectModel:
        """Replace an offset of the tracked point by common gains, whatever schemas say of them."""
        blocks = self.without_fault("point_m").blocks
        return self._with_blocks(
            replace(block, deviations=None, setting=setting)
            if block.fault.name == "common_gain"
            else block
            for block in blocks
        )

    def with_scale_from_logs(self, setting: FaultSizeSetting) -> EffectModel:
        """Return the model whose gains and crosstalk have a size that the logs tell alone."""
        names = ("gain", "common_gain", "crosstalk")
        return self._with_blocks(
            replace(block, deviations=None, setting=setting) if block.fault.name in names else block
            for block in self.blocks
        )

    def with_gain_accuracy(self, accuracy: float) -> EffectModel:
        """Return the model with another accuracy of all gains, common ones and single ones."""
        return self._with_blocks(
            replace(block, deviations=np.full(len(block.fault.columns), accuracy))
            if block.fault.name in ("gain", "common_gain")
            else block
            for block in self.blocks
        )

    @property
    def gain_accuracy(self) -> float | None:
        """Largest standard deviation of a gain that the schemas give; None if they give none."""
        given = [
            float(block.deviations.max())
            for block in self.blocks
            if block.fault.name == "gain" and block.deviations is not None
        ]
        return max(given, default=None)

    def _with_blocks(self, blocks: Iterable[EffectBlock]) -> EffectModel:
        """Return the model with other blocks, their columns numbered consecutively."""
        placed, start = list[EffectBlock](), 0
        for block in blocks:
            placed.append(replace(block, start=start))
            start = placed[-1].columns.stop
        return replace(self, blocks=tuple(placed))

    @property
    def effect_count(self) -> int:
        """Number of fault parameters (columns of the equations)."""
        return self.blocks[-1].columns.stop if self.blocks else 0

    def maps(self, eta: Array) -> Array:
        """Compute each log's column map for given fault parameters, shape (logs, 43, 43)."""
        return np.array(self._of_each_log(partial(self._map, eta=eta)))

    def _of_each_log(self, compute: Callable[[LogProperties, int], Array]) -> list[Array]:
        """Return an array of each log, computed once for logs of one setup and sensor."""
        pairs = list(zip(self.setups, self.sensors, strict=True))
        distinct = {(id(setup), sensor): (setup, sensor) for setup, sensor in pairs}
        by_key = {key: compute(*pair) for key, pair in distinct.items()}
        return [by_key[id(setup), sensor] for setup, sensor in pairs]

    def _map(self, setup: LogProperties, sensor: int, eta: Array) -> Array:
        product = extend_to_derivatives(sensor_gain_map(np.eye(6)))
        for block in self.blocks:
            if block.sensor == sensor and block.fault.applies(setup):
                product = product @ _fault_map(block.fault, setup, eta[block.columns])
        return product

    @cached_property
    def tangents(self) -> tuple[Array, ...]:
        """Derivative at zero of each log's column map by the fault parameters, (43, 19, q) each."""
        return tuple(self._of_each_log(self._map_derivative))

    def _map_derivative(self, setup: LogProperties, sensor: int) -> Array:
        fit = len(SCAN_LAYOUT.columns)
        tangent = np.zeros((len(WIDE_LAYOUT.columns), fit, self.effect_count))
        for block in self.blocks:
            if block.sensor != sensor or not block.fault.applies(setup):
                continue
            for k in range(len(block.fault.columns)):
                step = np.zeros(len(block.fault.columns))
                step[k] = _DIFFERENCE_STEP
                ends = [_fault_map(block.fault, setup, end)[:, :fit] for end in (step, -step)]
                tangent[..., block.start + k] = (ends[0] - ends[1]) / (2.0 * _DIFFERENCE_STEP)
        return tangent

    def units(self, scale: BodyScale) -> Array:
        """Return a typical size of each fault parameter for a body [SI], shape (q,)."""
        units = np.ones(self.effect_count)
        for block in self.blocks:
            if block.deviations is not None:
                units[block.columns] = block.deviations
            elif block.fault.units is not None:
                units[block.columns] = block.fault.units(scale)
        return units

    def variance_components(self, eta: Array | None = None) -> list[tuple[str, VarianceComponent]]:
        """Return a variance component for each key of `[effects]`, with its fault type's name.

        `eta`: current effects, if any. A wrench delay of τ can be a pure delay or a low-pass filter
        of that time constant: the filter's columns are uncertain by ½ τ².
        """
        components: list[tuple[str, VarianceComponent]] = []
        blocks_by_setting: dict[tuple[str, FaultSizeSetting], list[EffectBlock]] = {}
        for block in self.blocks:
            if block.deviations is not None or block.setting is None:
                components.append(
                    (
                        block.fault.name,
                        VarianceComponent(_column_indices([block]), size_is_fixed=True),
                    )
                )
            else:
                blocks_by_setting.setdefault(
                    (block.fault.key or block.fault.name, block.setting), []
                ).append(block)
        for (_, setting), blocks in blocks_by_setting.items():
            fault = blocks[0].fault
            scale, cap = setting.prior_size**fault.exponent, setting.max_size**fault.exponent
            least = 0.0
            if fault.name == "filter_s" and eta is not None:
                delays = [eta[b.columns] for b in self.blocks if b.fault.name == "delay_s"]
                least = 0.5 * float(np.max(np.square(delays), initial=0.0))
            columns, tied = _column_indices(blocks), _column_indices(blocks, tied=True)
            components.append((fault.name, VarianceComponent(columns, scale, cap, least, tied)))
        return components

    @property
    def scale_columns(self) -> Indices:
        """Indices of the parameters that are scale errors of the sensor or of gravity."""
        blocks = [
            block
            for block in self.blocks
            if block.fault.name in SCALE_FAULTS or block.deviations is not None
        ]
        return _column_indices(blocks)


def _with_mean_positions(
    setups: Sequence[LogProperties], sensors: Sequence[int], statistics: Sequence[Statistics]
) -> tuple[LogProperties, ...]:
    """Add to the measurement setups of logs the mean position over all logs of their sensor.

    By least squares over a sensor's logs, Rᵀp = Rᵀ p̄.
    """
    by_key: dict[tuple[int, int], LogProperties] = {}
    for log_setup, sensor in zip(setups, sensors, strict=True) if statistics else ():
        if not _has_positions(log_setup) or (id(log_setup), sensor) in by_key:
            continue
        factors = [s.factors for s, k in zip(statistics, sensors, strict=True) if k == sensor]
        A = np.concatenate([f[..., ATTITUDE].reshape(-1, 3) for f in factors])
        b = np.concatenate([f[..., POSITION].reshape(-1) for f in factors])
        centre = np.linalg.lstsq(A.T @ A, A.T @ b, rcond=None)[0]
        by_key[id(log_setup), sensor] = replace(log_setup, mean_position=tuple(centre.tolist()))
    return tuple(by_key.get((id(f), k), f) for f, k in zip(setups, sensors, strict=True))


def _column_indices(blocks: Sequence[EffectBlock], *, tied: bool = False) -> Indices:
    """Return the column indices of blocks, only of the tied or only of the other columns."""
    numbers = [
        np.array(
            [block.start + k for k in range(width) if (k in block.fault.tied) == tied],
            dtype=np.intp,
        )
        for block in blocks
        for width in [len(block.fault.columns)]
    ]
    return np.concatenate([np.zeros(0, dtype=np.intp), *numbers])


def _fault_map(fault: SensorFaultType, setup: LogProperties, eta: Array) -> Array:
    """Compute the map of all columns by one type of fault, acting on the wrench as logged."""
    M = fault.map_at(setup, eta)
    return extend_to_derivatives(logged_wrench_only(M, setup.compensated_weight, setup.gravity))


def _given_deviations(recording: Recording) -> Mapping[str, Array]:
    """Return the standard deviations of fault parameters that a schema gives, by fault type."""
    given: dict[str, Array] = {}
    if (accuracy := gain_accuracy(recording)) is not None:
        gains, crosstalk = gain_deviations(accuracy)
        given["gain"], given["common_gain"] = gains[:6], gains[6:]
        if crosstalk is not None:
            given["crosstalk"] = np.array([crosstalk[i, j] for i, j in _CROSSTALK_ENTRIES])
    error = gravity_error(recording)
    if error > 0.0:
        given["gravity"] = np.array([error])
    return given
