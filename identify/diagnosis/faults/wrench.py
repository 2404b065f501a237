"""Faults of the wrench: its signs, axes, units and frame; a turned sensor, gains, crosstalk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from identify.arrays import Array
from identify.diagnosis.fault import (
    Fault,
    FaultParameters,
    discrete_fault,
    rounded_for_schema,
    wrench_map_of_patch,
)
from identify.diagnosis.faults.rotation import SIGNED_ORDERS, describe_axes, reordered
from identify.logs.log_properties import LogProperties
from identify.logs.patch import Patch
from identify.logs.schema_fields import negate_column
from identify.logs.units import FORCE_UNITS, TORQUE_UNITS
from identify.regressors.log_corrections import misalignment_map, torque_gain_map
from identify.relevance import FAULT_AXES_ANGLE, FAULT_TORQUE_GAIN
from identify.spatial.rotations import (
    exp_rotation,
    log_rotation,
    quaternion_from_rotation,
    quaternion_product,
)

DEGREE = float(np.radians(1.0))

_TORQUE_UNITS = tuple({factor: unit for unit, factor in TORQUE_UNITS.items()}.values())
"""Units of torque with different factors."""

_MAX_GAIN_RATIO = 1.5
"""Largest ratio of the scales of force and torque that a calibration error can cause."""

_MIN_LOG_RATIO = np.log(3.0)
"""Smallest log-ratio of the scales of force and torque for which raw counts are assumed."""

LOG_RATIO_STARTS = tuple(np.outer((-1.0, 1.0), np.arange(1.2, 7.0, 0.4)).reshape(-1, 1))
"""Starting values of the log-ratio of the scales of force and torque: it has many maxima."""


def sign_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield wrong signs of wrench, force and torque."""
    if setup.schema is None:
        return
    wrench = setup.schema.wrench
    other = "body" if wrench.acts_on == "sensor" else "sensor"
    yield discrete_fault(
        setup, "wrench_sign", "the wrench has the other sign", {"wrench.acts_on": other}
    )
    for key in ("force", "torque"):
        patch = {f"wrench.{key}": [negate_column(column) for column in getattr(wrench, key)]}
        yield discrete_fault(setup, f"{key}_sign", f"the {key} alone has the other sign", patch)


def wrench_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of the wrench other than signs of whole vectors."""
    if setup.schema is not None:
        yield from _axis_sign_faults(setup)
        yield from _axes_faults(setup)
        # Static poses identify mass and centre of mass, no ratio of units.
        if not setup.static_poses:
            yield from _unit_faults(setup)
        yield from _frame_faults(setup)
    yield _misalignment_fault(setup)
    yield _torque_gain_fault(setup)
    if not setup.static_poses:
        yield _raw_counts_fault(setup)


def _axis_sign_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield wrong signs of single axes of force or torque."""
    assert setup.schema is not None
    for key, axis in product(("force", "torque"), range(3)):
        columns = list(getattr(setup.schema.wrench, key))
        columns[axis] = negate_column(columns[axis])
        text = f"{'xyz'[axis]} of the {key} alone has the other sign"
        yield discrete_fault(setup, f"{key}_sign", text, {f"wrench.{key}": columns})


def _axes_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield permuted or mirrored axes of force, torque or both, and force and torque swapped."""
    assert setup.schema is not None
    wrench = setup.schema.wrench
    for order in SIGNED_ORDERS:
        by_key = {key: reordered(getattr(wrench, key), order) for key in ("force", "torque")}
        both = {f"wrench.{key}": columns for key, columns in by_key.items()}
        yield discrete_fault(setup, "wrench_axes", f"the wrench's {describe_axes(order)}", both)
        if sum(k != axis or sign < 0 for axis, (sign, k) in enumerate(order)) > 1:
            for key, columns in by_key.items():
                text = f"the {key}'s {describe_axes(order)}"
                yield discrete_fault(setup, "wrench_axes", text, {f"wrench.{key}": columns})
    swapped = {"wrench.force": list(wrench.torque), "wrench.torque": list(wrench.force or ())}
    yield discrete_fault(
        setup, "wrench_axes", "the columns of force and torque are swapped", swapped
    )


def _unit_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield wrong units of force, of torque and of both.

    A log identifies only their ratio: a common factor is another body of the same shape. Two wrong
    units are assumed to be of one system, such as pounds and inch pounds.
    """
    assert setup.schema is not None
    wrench = setup.schema.wrench
    present = wrench.force_unit, wrench.torque_unit
    keys = "force_unit", "torque_unit"
    for units in product(FORCE_UNITS, _TORQUE_UNITS):
        ratios = (
            FORCE_UNITS[units[0]] / FORCE_UNITS[present[0]],
            TORQUE_UNITS[units[1]] / TORQUE_UNITS[present[1]],
        )
        changed = [k for k in (0, 1) if abs(ratios[k] - 1.0) > 1e-9]
        if not changed or abs(ratios[0] / ratios[1] - 1.0) < 1e-9:
            continue
        texts = [f"the {keys[k][:-5]} is in {units[k]}, not in {present[k]}" for k in changed]
        patch = {f"wrench.{keys[k]}": units[k] for k in changed}
        if len(changed) == 1 or units[1].startswith(units[0]):
            yield discrete_fault(setup, keys[changed[-1]], " and ".join(texts), patch)


def _frame_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield a wrong frame of the wrench."""
    if setup.wrench_frame == "sensor" or not setup.has_attitude:
        return
    other = "body" if setup.wrench_frame == "world" else "world"
    patch: dict[str, object] = {"wrench.frame": other}
    # [wrench] point is a key of world axes only.
    if setup.schema is not None and setup.schema.wrench.point is not None and other == "body":
        patch["wrench.point"] = None
    yield discrete_fault(setup, "wrench_frame", f"the wrench is in {other} axes", patch)


def _misalignment_fault(setup: LogProperties) -> Fault:
    def patch(size: Array) -> Patch:
        turn = exp_rotation(size)
        if setup.X_BS is not None:
            turn = quaternion_product(quaternion_from_rotation(setup.X_BS.rotation), turn)
        lines = {"wrench.mount.quaternion": rounded_for_schema(turn)}
        mount = None if setup.schema is None else setup.schema.wrench.mount
        if mount is not None and mount.rotation_vector is not None:
            lines["wrench.mount.rotation_vector"] = None  # type: ignore[assignment]
        return lines if setup.wrench_frame == "sensor" else {"wrench.frame": "sensor", **lines}

    return Fault(
        "wrench_misaligned",
        "wrench_misaligned",
        "wrench misaligned",
        None if setup.wrench_frame == "world" else patch,
        lambda size: misalignment_map(size, setup.X_BS),
        (lambda size: "Turn the sensor's axes where the wrench is logged")
        if setup.wrench_frame == "world"
        else None,
        setup,
        FaultParameters(
            ("about x", "about y", "about z"),
            *("deg", DEGREE, FAULT_AXES_ANGLE),
            usable_range=(-10.0 * DEGREE, 10.0 * DEGREE),
        ),
    )


def axes_rotation(fault: Fault, setup: LogProperties) -> Array | None:
    """Return the rotation vector of a fault that rotates force and torque axes; None for others."""
    if fault.code != "wrench_axes" or fault.patch is None or setup.schema is None:
        return None
    G = wrench_map_of_patch(fault.patch(np.zeros(0)), setup.schema)
    if np.linalg.det(G[:3, :3]) < 0.5:  # mirrored, or force and torque swapped
        return None
    return log_rotation(quaternion_from_rotation(G[:3, :3]))


def rotation_starts(turn: Array) -> list[Array]:
    """Return start values of a search: a rotation vector, and it after 45° about each axis."""
    q, half = exp_rotation(turn), 0.25 * np.pi * np.eye(3)
    near = [log_rotation(quaternion_product(exp_rotation(v), q)) for v in (*half, *-half)]
    return [turn, *near]


def _torque_gain_fault(setup: LogProperties) -> Fault:
    def action(size: Array) -> str:
        return (
            f"Torque over force is {1.0 / (1.0 + float(size[0])):.4g} of what fits: check both "
            "units and the sensor's calibration; weigh the body, as the force may be the one that "
            "is wrong"
        )

    return Fault(
        "torque_gain",
        "gain",
        "torque gain",
        None,
        lambda size: torque_gain_map(float(size[0]), setup.X_BS),
        action,
        setup,
        FaultParameters(
            *(("gain",), "%", 1e-2, FAULT_TORQUE_GAIN),
            search_radius=400.0,
            usable_range=(1.0 / _MAX_GAIN_RATIO - 1.0, _MAX_GAIN_RATIO - 1.0),
        ),
        is_possible=lambda size: bool(1.0 / _MAX_GAIN_RATIO < 1.0 + size[0] < _MAX_GAIN_RATIO),
    )


def _raw_counts_fault(setup: LogProperties) -> Fault:
    """Return the fault of raw counts: force and torque have unknown, different scales."""

    def describe(size: Array, half: Array) -> str:
        return (
            f"no unit explains the wrench: the torque is {np.exp(-size[0]):.3g} times (± "
            f"{half[0]:.1%}) the one that matches the force, as in raw counts"
        )

    remedy = (
        "Counts? Apply the sensor's calibration: divide the force by its counts per N and the "
        "torque by its counts per N m, of its data sheet; else check both units"
    )
    return Fault(
        "counts",
        "gain",
        "raw counts",
        None,
        lambda size: torque_gain_map(float(np.expm1(size[0])), setup.X_BS),
        lambda size: remedy,
        setup,
        FaultParameters(
            ("logarithm of the ratio",), "", 1.0, FAULT_TORQUE_GAIN, search_radius=200.0
        ),
        raw_counts=True,
        describe=describe,
        is_possible=lambda size: bool(abs(size[0]) > _MIN_LOG_RATIO),
    )
