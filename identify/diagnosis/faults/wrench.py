"""Faults of the wrench: its signs, axes, units and frame; a turned sensor, gains, crosstalk.

The floors of sizes, here and in the other families, are those that move no parameter by a
half-width of practical fits (0.5 ms, 0.11°, .25 %, 1 %, 1 mm).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np

from identify.arrays import Array
from identify.diagnosis.facts import LogFacts
from identify.diagnosis.fault import Fault, Sizes, rounded, slip
from identify.logs.patch import Patch
from identify.logs.schema_fields import negated
from identify.logs.units import FORCE, TORQUE
from identify.regressors.log_corrections import changed_readings, scaled_torque, turned_wrench
from identify.spatial.rotations import (
    exp_rotation,
    quaternion_from_rotation,
    quaternion_product,
)

DEGREE = float(np.radians(1.0))

_METRIC = (("N", "mN", "kN", "kgf"), ("Nm", "Nmm", "kNm", "Ncm", "kgfcm", "kgfm"))
_IMPERIAL = (("lbf",), ("lbfin", "lbfft"))
_SYSTEMS = (("lbf", "lbfin"), ("lbf", "lbfft"), ("kgf", "kgfcm"), ("N", "Nm"))

CALIBRATION = "wrench_calibration"


def sign_faults(facts: LogFacts) -> Iterator[Fault]:
    """Signs of wrench, force and torque."""
    if facts.schema is None:
        return
    wrench = facts.schema.wrench
    other = "body" if wrench.acts_on == "sensor" else "sensor"
    yield slip(facts, "wrench_sign", "the wrench has the other sign", {"wrench.acts_on": other})
    for key in ("force", "torque"):
        patch = {f"wrench.{key}": [negated(column) for column in getattr(wrench, key)]}
        yield slip(facts, f"{key}_sign", f"the {key} alone has the other sign", patch)


def wrench_faults(facts: LogFacts) -> Iterator[Fault]:
    """All others of the wrench."""
    if facts.schema is not None:
        yield from _axes(facts)
        yield from _units(facts)
        yield from _frames(facts)
    yield _misaligned(facts)
    yield _gain(facts)
    yield _calibration(facts)


def _axes(facts: LogFacts) -> Iterator[Fault]:
    """Axes permuted or mirrored, but for the whole wrench's sign; force and torque swapped."""
    assert facts.schema is not None
    wrench = facts.schema.wrench
    for order in permutations(range(3)):
        for signs in product((1, -1), repeat=3):
            if order == (0, 1, 2) and abs(sum(signs)) == 3:
                continue
            pairs = list(zip(signs, order, strict=True))
            patch = {
                f"wrench.{key}": [
                    columns[axis] if sign > 0 else negated(columns[axis]) for sign, axis in pairs
                ]
                for key in ("force", "torque")
                for columns in [getattr(wrench, key)]
            }
            shown = ", ".join(("" if sign > 0 else "-") + "xyz"[axis] for sign, axis in pairs)
            text = f"the wrench's x, y, z are what the log calls {shown}"
            yield slip(facts, "wrench_axes", text, patch)
    swapped = {"wrench.force": list(wrench.torque), "wrench.torque": list(wrench.force)}
    yield slip(facts, "wrench_axes", "the columns of force and torque are swapped", swapped)


def _units(facts: LogFacts) -> Iterator[Fault]:
    """Units of force or torque, or of both: their ratio can tell, and that the body is possible.

    Nobody mixes pounds and newtons; a ratio between the two is sooner a gain.
    """
    assert facts.schema is not None
    wrench = facts.schema.wrench
    forces, torques = _IMPERIAL if wrench.force_unit == "lbf" else _METRIC
    now = wrench.force_unit, wrench.torque_unit
    pairs = [(force, now[1]) for force in forces] + [(now[0], torque) for torque in torques]
    for force, torque in dict.fromkeys((*pairs, *_SYSTEMS)):
        ratios = FORCE[force] / FORCE[now[0]], TORQUE[torque] / TORQUE[now[1]]
        changed = [k for k in (0, 1) if abs(ratios[k] - 1.0) > 1e-9]
        if not changed or abs(ratios[0] / ratios[1] - 1.0) < 1e-9:
            continue
        what = ("force", "torque"), ("force_unit", "torque_unit"), (force, torque)
        said = [f"the {what[0][k]} is in {what[2][k]}, not in {now[k]}" for k in changed]
        patch = {f"wrench.{what[1][k]}": what[2][k] for k in changed}
        yield slip(facts, what[1][changed[-1]], " and ".join(said), patch)


def _frames(facts: LogFacts) -> Iterator[Fault]:
    """The axes of the wrench."""
    if facts.wrench_frame == "sensor" or not facts.attitude:
        return
    other = "body" if facts.wrench_frame == "world" else "world"
    patch: dict[str, object] = {"wrench.frame": other}
    if facts.schema is not None and facts.schema.wrench.point is not None and other == "body":
        patch["wrench.point"] = None
    yield slip(facts, "wrench_frame", f"the wrench is in {other} axes", patch)


def _misaligned(facts: LogFacts) -> Fault:
    def patch(size: Array) -> Patch:
        turn = exp_rotation(size)
        if facts.X_BS is not None:
            turn = quaternion_product(quaternion_from_rotation(facts.X_BS.rotation), turn)
        lines = {"wrench.mount.quaternion": rounded(turn)}
        mount = None if facts.schema is None else facts.schema.wrench.mount
        if mount is not None and mount.rotation_vector is not None:
            lines["wrench.mount.rotation_vector"] = None  # type: ignore[assignment]
        return lines if facts.wrench_frame == "sensor" else {"wrench.frame": "sensor", **lines}

    return Fault(
        "wrench_misaligned",
        "wrench_misaligned",
        "wrench misaligned",
        None if facts.wrench_frame == "world" else patch,
        lambda size: turned_wrench(size, facts.X_BS),
        (lambda size: "Turn the sensor's axes where the wrench is logged")
        if facts.wrench_frame == "world"
        else None,
        facts,
        Sizes(
            ("about x", "about y", "about z"),
            *("deg", DEGREE, 0.11 * DEGREE, 2.0 * DEGREE),
            "take attitudes all around",
        ),
    )


def _gain(facts: LogFacts) -> Fault:
    def action(size: Array) -> str:
        return (
            f"Torque over force is {1.0 / (1.0 + float(size[0])):.4g} of what fits: check both "
            "units and the sensor's calibration"
        )

    return Fault(
        "torque_gain",
        "gain",
        "torque gain",
        None,
        lambda size: scaled_torque(float(size[0]), facts.X_BS),
        action,
        facts,
        Sizes(
            *(("gain",), "%", 1e-2, 1e-2, 5e-2),
            "turn faster, about axes across the centre of mass",
        ),
        undecided="of force and torque either may be wrong, and the mass with force",
    )


def _calibration(facts: LogFacts) -> Fault:
    """Any linear map of the six readings: reported and not corrected.

    The gain of a single axis and crosstalk cannot be told from each other, nor from a turned
    sensor, well enough to be named: taken off, they can do more harm than good.
    """
    return Fault(
        CALIBRATION,
        CALIBRATION,
        "wrench calibration",
        None,
        lambda size: changed_readings(np.eye(6) + np.reshape(size, (6, 6)), facts.X_BS),
        lambda size: "Calibrate the sensor again, and log again",
        facts,
        Sizes(tuple(f"{a}{b}" for a in "123456" for b in "123456"), "", 1.0, 0.0, 5e-2),
        undecided="the gain of single axes and crosstalk cannot be told from each other",
    )
