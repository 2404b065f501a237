"""Faults of gravity: its direction and size, whether it is in the wrench or the acceleration."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from identify.arrays import Array
from identify.diagnosis.fault import Fault, FaultParameters, discrete_fault, rounded_for_schema
from identify.diagnosis.faults.wrench import DEGREE
from identify.inertia.consistency import MAX_COM_DISTANCE
from identify.logs.log_properties import LogProperties
from identify.logs.patch import Patch
from identify.logs.schema_fields import negate_column
from identify.logs.schema_tables import compensated_keys
from identify.regressors.log_corrections import gravity_map, gravity_tilt, weight_map
from identify.relevance import FAULT_AXES_ANGLE, FAULT_MISSING_MASS, FAULT_SCALE
from identify.spatial.vectors import STANDARD_GRAVITY, is_usual_gravity

_MIN_TILT_COSINE = 0.95
"""Cosine of the angle to another direction of gravity above which it counts as a tilt."""

_SCALE_EVIDENCE = 1e3
"""Evidence of a wrong accelerometer scale if its readings differ from gravity, as twice a
log-likelihood: more than any other interpretation of such a log gains."""

_GYRO_UNIT_TEXT = "angular rates are in the other unit, of degrees and radians"

_WORLD_DIRECTIONS = {"+x": (1, 0, 0), "-x": (-1, 0, 0), "+y": (0, 1, 0), "-y": (0, -1, 0)}
_WORLD_DIRECTIONS |= {"+z": (0, 0, 1), "-z": (0, 0, -1)}


def gravity_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of gravity; none for a log without an attitude."""
    if not setup.has_attitude:
        return
    yield from _gravity_direction_faults(setup)
    if setup.gravity_added:
        yield _gravity_tilt_fault(setup)
        # On Earth, gravity is known better than from a log.
        if not setup.static_poses and not is_usual_gravity(float(np.linalg.norm(setup.gravity))):
            yield _gravity_magnitude_fault(setup)
        yield from _compensated_weight_faults(setup)


def imu_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of sign, scale and units of an inertial measurement unit without a pose."""
    if setup.has_attitude or setup.schema is None:
        return
    imu = setup.schema.imu
    given = setup.schema.acceleration
    twist = setup.schema.twist
    degrees: dict[str, object] = {}
    for name, table, key in (("imu", imu, "gyro"), ("twist", twist, "angular")):
        if table is not None and getattr(table, key) is not None:
            degrees[f"{name}.angle_unit"] = "rad" if table.angle_unit == "deg" else "deg"
    if degrees:
        yield discrete_fault(setup, "angle_unit", _GYRO_UNIT_TEXT, degrees)
    for key, columns in (
        ("imu.accelerometer", None if imu is None else imu.accelerometer),
        ("acceleration.linear", None if given is None else given.linear),
    ):
        if columns is None:
            continue
        patch = {key: [negate_column(column) for column in columns]}
        text = "the proper acceleration has the other sign: at rest it points up"
        yield discrete_fault(setup, "imu_sign", text, patch)
        if setup.imu_scale == 1.0:
            continue
        from identify.signals.imu_scale import scale_patch  # few logs need it

        scale = scale_patch(setup.schema_tables, key.partition(".")[0], setup.imu_scale)
        if scale is None:
            continue
        text = "the accelerometer does not read gravity: it is in another unit or scale"
        yield discrete_fault(setup, "imu_scale", text, scale, raw_evidence=_SCALE_EVIDENCE)
        if degrees:
            text, both = f"{text}, and {_GYRO_UNIT_TEXT}", {**scale, **degrees}
            yield discrete_fault(
                setup, "imu_scale", text, both, mistake_count=2, raw_evidence=_SCALE_EVIDENCE
            )


def _gravity_direction_faults(setup: LogProperties) -> Iterator[Fault]:
    g = setup.gravity
    size = float(np.linalg.norm(g))
    if size == 0.0:
        if setup.acceleration_kind != "proper":
            for name, axis in _WORLD_DIRECTIONS.items():
                text = f"gravity is missing: it points along {name} of the world's axes"
                yield _other_gravity_fault(
                    setup, text, STANDARD_GRAVITY * np.array(axis, dtype=float)
                )
        return
    if not setup.gravity_added:
        text = "the acceleration is the classical one, gravity not in it"
        yield discrete_fault(setup, "acceleration_kind", text, {"acceleration.kind": "classical"})
        return
    for name, axis in _WORLD_DIRECTIONS.items():
        other = size * np.array(axis, dtype=float)
        if other @ g < _MIN_TILT_COSINE * size**2:
            text = f"gravity points along {name} of the world's axes"
            yield _other_gravity_fault(setup, text, other, "gravity_direction")
    # A magnitude unlike that on Earth is the likeliest fault, although others fit as well.
    if not is_usual_gravity(size):
        scale = STANDARD_GRAVITY / size
        yield _other_gravity_fault(setup, f"gravity is {scale * size:.4g} m/s²", scale * g)
    if "linear_acceleration" in setup.signals:
        text = "the acceleration is as an accelerometer reads it, less gravity"
        yield discrete_fault(setup, "acceleration_kind", text, {"acceleration.kind": "proper"})
    else:
        yield discrete_fault(
            setup,
            "already_compensated",
            "the weight is not in the wrench: the controller has subtracted it",
            {"world.gravity": [0.0, 0.0, 0.0]},
            action="Log the wrench without gravity compensation, or set [world] "
            "`gravity = [0, 0, 0]`.",
        )


def _other_gravity_fault(
    setup: LogProperties, text: str, gravity: Array, code: str = "gravity_magnitude"
) -> Fault:
    patch = {"world.gravity": rounded_for_schema(gravity)}
    change = gravity_map(gravity - setup.gravity, setup.compensated_weight)
    return discrete_fault(setup, code, text, patch, linear_map=change)


def _gravity_tilt_fault(setup: LogProperties) -> Fault:
    def patch(size: Array) -> Patch:
        return {
            "world.gravity": rounded_for_schema(setup.gravity + gravity_tilt(size, setup.gravity))
        }

    return Fault(
        "gravity_tilted",
        "gravity_tilted",
        "gravity tilted",
        patch,
        lambda size: gravity_map(gravity_tilt(size, setup.gravity), setup.compensated_weight),
        setup=setup,
        parameters=FaultParameters(
            ("first axis", "second axis"),
            *("deg", DEGREE, FAULT_AXES_ANGLE),
        ),
    )


def _gravity_magnitude_fault(setup: LogProperties) -> Fault:
    return Fault(
        "gravity_magnitude",
        "gravity_magnitude",
        "gravity magnitude",
        lambda size: {"world.gravity": rounded_for_schema((1.0 + float(size[0])) * setup.gravity)},
        lambda size: gravity_map(float(size[0]) * setup.gravity, setup.compensated_weight),
        setup=setup,
        parameters=FaultParameters(
            *(("share",), "%", 1e-2, FAULT_SCALE),
        ),
    )


def _compensated_weight_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of a compensated weight: one that is missing, or one added by mistake."""
    before = np.array(setup.compensated_weight or (0.0,) * 4)
    if setup.compensated_weight:
        text = (
            f"the wrench has its whole weight already: that of the {before[0]:.4g} kg of "
            "[wrench.compensated] was never subtracted"
        )
        none = {"wrench.compensated": None}
        restored = weight_map(-before, setup.gravity)
        yield discrete_fault(setup, "partly_compensated", text, none, linear_map=restored)

    def patch(size: Array) -> Patch:
        if not before[0] + size[0] > 0.0:
            return {"wrench.compensated": None}
        keys = compensated_keys((before + size).tolist())
        return {f"wrench.compensated.{key}": value for key, value in keys.items()}

    def describe(size: Array, half: Array) -> str:
        m, com = (before + size)[0], (before + size)[1:] / (before + size)[0]
        errors = np.hypot(half[1:], com * half[0]) / abs(m)
        shown = ", ".join(
            f"{1e3 * c:.4g} ± {1e3 * e:.2g}" for c, e in zip(com, errors, strict=True)
        )
        return (
            f"the weight of a body of {m:.4g} ± {half[0]:.2g} kg, its centre of mass at [{shown}] "
            "mm in the body frame, is not in the wrench: the controller subtracts it"
        )

    yield Fault(
        "partly_compensated",
        "partly_compensated",
        "partly compensated",
        patch if setup.schema is not None else None,
        lambda size: weight_map(size, setup.gravity),
        lambda size: (
            "In the schema, give in [wrench.compensated] the mass and the centre of mass that the "
            "pendant shows, or log without gravity compensation."
        ),
        setup,
        FaultParameters(
            *(("mass", "moment x", "moment y", "moment z"), "kg, kg m", 1.0, FAULT_MISSING_MASS),
            search_radius=np.inf,
            usable_range=(-0.1, 0.1),
            scales_with_mass=True,
        ),
        describe=describe,
        is_possible=lambda size: _plausible_payload(before + size, before[0]),
    )


def _plausible_payload(weight: Array, before: float) -> bool:
    """Return whether mass and first moment are plausible for a payload set in a controller."""
    is_near = np.linalg.norm(weight[1:]) <= MAX_COM_DISTANCE * abs(weight[0])
    return bool(is_near and weight[0] + 0.1 * before > 0.0)
