"""Perturbations of logs, each with the finding that names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import lfilter

from experiments.silent_study.subjects import Subject
from identify.arrays import Array
from identify.spatial.rotations import (
    exp_rotation,
    log_rotation,
    quaternion_conjugate,
    rotate_back,
    rotation_from_quaternion,
)

Kind = Literal["observable", "exempt", "harmless", "several"]

Perturbation = Callable[[Subject, np.random.Generator], Sequence[Subject]]
"""Function that perturbs a clean log, into one log or several."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A perturbation of a log.

    Attributes:
        name: name with its size; seeds its random numbers.
        codes: codes of the findings that report it correctly.
        make: function that applies it.
        log_power: log |det C|² of its map C of the wrench at a frequency [rad/s].
        kind: "exempt" if no log can detect or name it, "harmless" if no finding is expected,
            "several" for a combination, which need not be named.
    """

    name: str
    codes: tuple[str, ...]
    make: Perturbation
    log_power: Callable[[float], float] = lambda omega: 0.0
    kind: Kind = "observable"


def single(change: Callable[[Subject], Subject]) -> Perturbation:
    """Make a perturbation from a deterministic change of one log."""
    return lambda subject, rng: (change(subject),)


def faults() -> Iterator[Fault]:
    """Yield all perturbations, some at several sizes."""
    yield from _time_faults()
    yield from _wrench_faults()
    yield from _schema_faults()
    yield from _motion_faults()
    yield from _row_faults()
    yield from _body_faults()
    yield from _harmless_changes()


def _time_faults() -> Iterator[Fault]:
    for seconds in (0.005, 0.020, 0.050):
        yield Fault(f"wrench late {1e3 * seconds:g} ms", ("delay",), single(delay_wrench(seconds)))
    for corner in (10.0, 5.0, 3.0):
        T = 1.0 / (2.0 * np.pi * corner)
        yield Fault(
            f"wrench through a low-pass of {corner:g} Hz",
            ("sensor_lag",),
            single(low_pass_wrench(T)),
            lambda omega, T=T: -6.0 * float(np.log(1.0 + (omega * T) ** 2)),
        )
    for rate in (1.01, 1.05, 0.95, 0.9):
        yield Fault(f"clock x {rate:g}", ("clock_rate",), single(scale_clock(rate)))
    yield Fault("time x 2", ("time_unit", "clock_rate"), single(scale_clock(2.0)))
    yield Fault(
        "us as ms",
        ("time_unit",),
        single(lambda subject: subject.with_schema_keys("log", time_unit="ms")),
    )


def _wrench_faults() -> Iterator[Fault]:
    for gain in (0.97, 0.9, 1.1):
        yield _scaled(f"force x {gain:g}", ("gain",), gain, 1.0)
    for gain in (0.97, 0.9, 1.1):
        yield _scaled(f"torque x {gain:g}", ("gain",), 1.0, gain)
    yield _scaled("force and torque x 0.9", (), 0.9, 0.9, "exempt")
    fz_gain = np.eye(6)
    fz_gain[2, 2] = 0.9
    yield _mapped("fz x 0.9", ("wrench_calibration",), fz_gain, "exempt")
    crosstalk = np.eye(6) + 0.03 * np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    yield _mapped("crosstalk 3 %", ("wrench_calibration",), crosstalk, "exempt")
    for name, degrees, axis in (
        ("0.5 deg", 0.5, (0.6, 0.0, 0.8)),
        ("2 deg about x", 2.0, (1.0, 0.0, 0.0)),
        ("5 deg about z", 5.0, (0.0, 0.0, 1.0)),
        ("91 deg", 91.0, (0.36, -0.48, 0.8)),
    ):
        R = rotation_from_quaternion(exp_rotation(np.radians(degrees) * np.array(axis)))
        yield _mapped(f"wrench turned {name}", ("wrench_misaligned",), np.kron(np.eye(2), R))
    for name, Q in (
        ("turned 90 deg about z", [[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
        ("turned 90 deg about x", [[1, 0, 0], [0, 0, -1], [0, 1, 0]]),
        ("x and y swapped", [[0, 1, 0], [1, 0, 0], [0, 0, 1]]),
    ):
        yield Fault(f"wrench's axes {name}", ("wrench_axes",), single(_columns(np.array(Q, float))))
    yield _scaled("wrench's sign", ("wrench_sign",), -1.0, -1.0)
    yield _scaled("force's sign", ("force_sign",), -1.0, 1.0)
    yield _scaled("torque's sign", ("torque_sign",), 1.0, -1.0)
    for channel, axis in ((1, "fy"), (5, "tz")):
        signs = np.where(np.arange(6) == channel, -1.0, 1.0)
        code = "force_sign" if channel < 3 else "torque_sign"
        yield Fault(f"sign of {axis} alone", (code,), single(_signed(signs)))
    for name, force, torque in _UNITS:
        ratios = force or 1.0, torque or 1.0
        codes = ("force_unit",) * (force is not None) + ("torque_unit",) * (torque is not None)
        yield _scaled(name, codes, 1.0 / ratios[0], 1.0 / ratios[1])
    for share in (0.02, 0.05, 0.1):
        yield Fault(
            f"drift, linear, {share:g} of the weight", ("drift",), drift_offset(share, "linear")
        )
    for share in (0.05, 0.1):
        yield Fault(f"offset steps by {share:g}", ("drift",), drift_offset(share, "step"))
        yield Fault(f"offset walks by {share:g}", ("drift",), drift_offset(share, "walk"))


_UNITS = (
    ("torque in N mm", None, 1e-3),
    ("torque in lbf in", None, 0.1129848290276167),
    ("torque in lbf ft", None, 1.3558179483314004),
    ("torque in kgf cm", None, 0.0980665),
    ("force in kgf", 9.80665, None),
    ("force in lbf", 4.4482216152605, None),
    ("force in kN", 1e3, None),
    ("force in lbf, torque in lbf in", 4.4482216152605, 0.1129848290276167),
    ("force in kgf, torque in kgf cm", 9.80665, 0.0980665),
)
"""Name, and units of force and torque [N, N m] instead of those in the schema."""


def _schema_faults() -> Iterator[Fault]:
    """Yield wrong entries of the schema."""
    yield Fault("wrench in world axes, called body", ("wrench_frame",), single(_in_world))
    yield Fault("wrench in body axes, called world", ("wrench_frame",), single(_in_body))
    yield Fault(
        "gravity along x",
        ("gravity_direction",),
        single(
            lambda s: s.with_schema_keys(
                "world", gravity=np.roll(s.schema["world"]["gravity"], 1).tolist()
            )
        ),
    )
    yield Fault(
        "gravity upwards",
        ("gravity_direction",),
        single(
            lambda s: s.with_schema_keys(
                "world", gravity=[-g for g in s.schema["world"]["gravity"]]
            )
        ),
    )
    for degrees in (0.5, 1.5, 3.0):
        yield Fault(
            f"gravity tilted {degrees:g} deg", ("gravity_tilted",), single(tilt_gravity(degrees))
        )
    yield Fault("weight already compensated", ("already_compensated",), single(_compensated()))
    for share in (0.8, 0.35):
        yield Fault(
            f"weight of {share:g} of the body compensated, 15 mm off",
            ("partly_compensated",),
            single(_compensated(share, 0.015)),
        )
    yield Fault(
        "a weight that was never taken off added back",
        ("partly_compensated",),
        single(
            lambda s: s.with_schema_keys(
                "wrench", compensated={"mass": 1.4, "com": [0, 0, 0.05], **_IN_BODY}
            )
        ),
    )
    yield Fault(
        "quaternion order",
        ("quaternion_order",),
        single(lambda s: s.with_columns(q=np.roll(s.columns["q"], 1, axis=1))),
    )
    yield Fault("pose the other way", ("pose_maps",), single(_inverted))
    yield Fault(
        "rotation alone the other way",
        ("pose_maps",),
        single(lambda s: s.with_columns(q=quaternion_conjugate(s.columns["q"]))),
    )
    yield Fault(
        "position in body axes",
        ("position_axes",),
        single(lambda s: s.with_columns(p=rotate_back(s.rotation, s.columns["p"]))),
    )
    yield Fault(
        "position in mm",
        ("position_unit",),
        single(lambda s: s.with_columns(p=1e3 * s.columns["p"])),
    )
    yield Fault("rotation vector in degrees", ("angle_unit",), single(_rotation_vector))
    yield Fault("Euler angles in degrees", ("angle_unit",), single(_euler))
    for logged, named, unit in _CONVENTIONS:
        code = "angle_unit" if logged == named else "rotation_convention"
        name = (
            f"{logged} called {named}" if logged != named else f"{logged} in radians, called {unit}"
        )
        yield Fault(name, (code,), single(_convention(logged, named, unit)))
    for name, column, Q in _MIRRORED:
        yield Fault(name, _MIRRORED_CODES[column], single(_mirrored(column, np.array(Q, float))))


def _motion_faults() -> Iterator[Fault]:
    """Yield motions of another point than that of the wrench."""
    for metres in (0.005, 0.015, 0.033):
        yield Fault(
            f"pose of a point {1e3 * metres:g} mm off",
            ("kinematic_offset",),
            single(
                lambda s, d=metres: s.with_columns(p=s.columns["p"] + s.rotation @ (d * _ACROSS))
            ),
        )
    yield Fault("mount 20 mm wrong", ("kinematic_offset",), single(_mounted))


_ACROSS = np.array([0.64, 0.48, 0.6])


def _row_faults() -> Iterator[Fault]:
    for share in (0.9, 0.75):
        yield Fault(
            f"saturated at {share:g} of the peak", ("saturation",), single(saturate_wrench(share))
        )
    for seconds, share in ((0.5, 0.8), (2.0, 0.8), (2.0, 0.15), (10.0, 0.25)):
        yield Fault(
            f"contact of {seconds:g} s, {share:g} of the weight",
            ("contact",),
            single(add_contact(seconds, share)),
        )
    yield Fault("pose frozen for 1 s", ("frozen_pose",), single(freeze_wrench("p", "q")))
    yield Fault("wrench frozen for 1 s", ("frozen_wrench",), single(freeze_wrench("f", "tau")))
    yield Fault(
        "wrench frozen for 1 s, logged in world axes",
        ("frozen_wrench",),
        single(lambda s: _rounded(_in_world_axes(freeze_wrench("f", "tau")(_in_body_axes(s))))),
    )
    yield Fault("spikes, 1 % of rows, either sign", ("spikes",), add_spikes(either=True))
    yield Fault("spikes, 1 % of rows set to 100 N", ("spikes",), add_spikes(either=False))


def _body_faults() -> Iterator[Fault]:
    for factor in (1.02, 1.05, 1.3):
        yield Fault(
            f"payload x {factor:g} from half-time",
            ("body_changed",),
            single(lambda s, k=factor: increase_mass(s, k, s.seconds > 0.5 * s.seconds[-1])),
        )
    for factor in (1.05, 1.5):
        yield Fault(f"two logs, the second of {factor:g}", ("bodies_differ",), _two_bodies(factor))


def _harmless_changes() -> Iterator[Fault]:
    yield Fault("20 % of rows dropped", (), _dropped(0.2), kind="harmless")
    yield Fault("time stamps jitter", (), _jittering, kind="harmless")
    yield Fault("wrench held for 2 rows", (), single(_held(2)), kind="harmless")


def _scaled(
    name: str, codes: tuple[str, ...], force: float, torque: float, kind: Kind = "observable"
) -> Fault:
    power = 6.0 * float(np.log(abs(force * torque)))

    def change(s: Subject) -> Subject:
        return s.with_columns(f=force * s.columns["f"], tau=torque * s.columns["tau"])

    return Fault(name, codes, single(change), lambda omega: power, kind)


def _mapped(name: str, codes: tuple[str, ...], G: Array, kind: Kind = "observable") -> Fault:
    """Perturb by a linear map of the wrench in sensor axes."""
    power = 2.0 * float(np.linalg.slogdet(G)[1])
    make = single(lambda s: s.with_wrench(s.wrench @ G.T))
    return Fault(name, codes, make, lambda omega: power, kind)


def _signed(signs: Array) -> Callable[[Subject], Subject]:
    """Return a change of sign of the logged columns."""
    return lambda s: s.with_columns(f=s.columns["f"] * signs[:3], tau=s.columns["tau"] * signs[3:])


def _columns(Q: Array) -> Callable[[Subject], Subject]:
    """Return a map of the logged columns of force and torque."""
    return lambda s: s.with_columns(f=s.columns["f"] @ Q.T, tau=s.columns["tau"] @ Q.T)


def delay_wrench(seconds: float) -> Callable[[Subject], Subject]:
    def change(s: Subject) -> Subject:
        delayed = np.maximum(s.seconds - seconds, 0.0)
        return s.with_wrench(CubicSpline(s.seconds, s.wrench)(delayed))

    return change


def low_pass_wrench(T: float) -> Callable[[Subject], Subject]:
    def change(s: Subject) -> Subject:
        # Exact for a wrench that is linear between twenty points per sample.
        time = s.seconds
        fine = np.linspace(time[0], time[-1], 20 * len(time))
        w = CubicSpline(time, s.wrench)(fine)
        keep = float(np.exp(-(fine[1] - fine[0]) / T))
        gain = 1.0 - (1.0 - keep) * T / (fine[1] - fine[0])
        first = (1.0 - gain) * w[:1]
        filtered = lfilter([gain, 1.0 - keep - gain], [1.0, -keep], w, axis=0, zi=first)[0]
        return s.with_wrench(CubicSpline(fine, filtered)(time))

    return change


def scale_clock(rate: float) -> Callable[[Subject], Subject]:
    return lambda s: s.with_columns(t=np.round(rate * s.columns["t"]))


def _in_world_axes(s: Subject) -> Subject:
    return s.with_schema_keys("wrench", frame="world").with_wrench(s.wrench)


def _in_body_axes(s: Subject) -> Subject:
    return s.with_schema_keys("wrench", frame="body").with_wrench(s.wrench)


def _in_world(s: Subject) -> Subject:
    return _in_world_axes(s).with_schema_keys("wrench", frame="body")


def _in_body(s: Subject) -> Subject:
    return _in_body_axes(s).with_schema_keys("wrench", frame="world")


def tilt_gravity(degrees: float) -> Callable[[Subject], Subject]:
    R = rotation_from_quaternion(exp_rotation(np.radians(degrees) * np.array([0.8, -0.6, 0.0])))
    return lambda s: s.with_schema_keys(
        "world", gravity=(R @ s.schema["world"]["gravity"]).tolist()
    )


_IN_BODY = {"frame": "body"}


def _compensated(share: float = 1.0, off: float = 0.0) -> Callable[[Subject], Subject]:
    """Return a change that subtracts the weight of part of the body, displaced by `off` [m]."""

    def change(s: Subject) -> Subject:
        down = rotate_back(s.rotation, np.array(s.schema["world"]["gravity"]))
        m = share * s.phi[0]
        h = share * s.phi[1:4] + m * off * _ACROSS
        return s.with_wrench(s.wrench + np.concatenate((m * down, np.cross(h, down)), axis=1))

    return change


def _inverted(s: Subject) -> Subject:
    p = -rotate_back(s.rotation, s.columns["p"])
    return s.with_columns(p=p, q=quaternion_conjugate(s.columns["q"]))


def _rotation_vector(s: Subject) -> Subject:
    return s.with_columns(r=np.degrees(log_rotation(s.columns["q"]))).with_schema_keys(
        "pose", quaternion=None, order=None, rotation_vector=["r[0]", "r[1]", "r[2]"]
    )


def _euler(s: Subject) -> Subject:
    from scipy.spatial.transform import Rotation

    angles = Rotation.from_quat(s.columns["q"]).as_euler("XYZ", degrees=True)
    changed = s.with_columns(r=angles).with_schema_keys("pose", quaternion=None)
    return changed.with_schema_keys("pose", euler=["r[0]", "r[1]", "r[2]"], order="XYZ")


_CONVENTIONS = (
    *(("xyz", "rotation vector", "rad"), ("rotation vector", "xyz", "rad")),
    *(("xyz", "XYZ", "rad"), ("YZX", "xyz", "rad"), ("ZYZ", "xyz", "rad"), ("xyz", "zyz", "rad")),
    *(("zxy", "ZYX", "deg"), ("XYX", "zxz", "rad"), ("YXZ", "rotation vector", "rad")),
    *(("rotation vector", "rotation vector", "deg"), ("xyz", "xyz", "deg")),
)
"""Logged convention, convention in the schema, and unit in the schema."""

_MIRRORED = (
    ("x of the position negated", "p", np.diag([-1, 1, 1])),
    ("y and z of the position swapped", "p", np.eye(3)[[0, 2, 1]]),
    ("x of the rotation vector negated", "r", np.diag([-1, 1, 1])),
    ("x and y of the rotation vector swapped", "r", np.eye(3)[[1, 0, 2]]),
    ("y of the quaternion negated", "q", np.diag([1, -1, 1])),
    ("x and z of the quaternion swapped", "q", np.eye(3)[[2, 1, 0]]),
    ("y and z of the force swapped", "f", np.eye(3)[[0, 2, 1]]),
    ("x and y of the torque turned by 90 deg", "tau", [[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
)
_MIRRORED_CODES = {
    "p": ("position_axes",),
    "r": ("rotation_convention",),
    "q": ("rotation_convention",),
    "f": ("wrench_axes",),
    "tau": ("wrench_axes",),
}


def _rotation_logged(q: Array, kind: str, unit: str) -> Array:
    """Convert quaternions to the logged convention and unit."""
    from scipy.spatial.transform import Rotation

    numbers = log_rotation(q) if kind == "rotation vector" else Rotation.from_quat(q).as_euler(kind)
    return np.degrees(numbers) if unit == "deg" else numbers


def _called(s: Subject, kind: str, unit: str) -> Subject:
    s = s.with_schema_keys("pose", quaternion=None, order=None, angle_unit=unit)
    columns = ["r[0]", "r[1]", "r[2]"]
    if kind == "rotation vector":
        return s.with_schema_keys("pose", rotation_vector=columns)
    return s.with_schema_keys("pose", euler=columns, order=kind)


def _convention(logged: str, named: str, unit: str) -> Callable[[Subject], Subject]:
    """Return a change to angles whose convention, or unit, in the schema is wrong."""

    def change(s: Subject) -> Subject:
        numbers = _rotation_logged(s.columns["q"], logged, "rad" if logged == named else unit)
        return _called(s.with_columns(r=numbers), named, unit)

    return change


def _mirrored(column: str, Q: Array) -> Callable[[Subject], Subject]:
    """Return a change that swaps or negates the columns of a vector (of the quaternion, three)."""

    def change(s: Subject) -> Subject:
        if column == "r":
            s = _convention("rotation vector", "rotation vector", "rad")(s)
        values = s.columns[column].copy()
        values[:, :3] = values[:, :3] @ Q.T
        return s.with_columns(**{column: values})

    return change


def _mounted(s: Subject) -> Subject:
    """Put a wrong sensor mount into the schema; the sensor is at Bo."""
    s = s.with_schema_keys("wrench", frame="body").with_wrench(s.wrench)
    mount = {"translation": [0.012, 0.0, 0.016], "quaternion": [0.0, 0.0, 0.0, 1.0]}
    return s.with_schema_keys("wrench", frame="sensor", mount=mount)


def _weight(s: Subject) -> float:
    """Return the weight of the body [N]."""
    return float(s.phi[0] * np.linalg.norm(s.schema["world"]["gravity"]))


def drift_offset(share: float, shape: str) -> Perturbation:
    def make(s: Subject, rng: np.random.Generator) -> Sequence[Subject]:
        profile = np.linspace(0.0, 1.0, len(s.seconds))
        if shape == "step":
            profile = (profile > rng.uniform(0.35, 0.65)).astype(float)
        if shape == "walk":
            steps = rng.normal(size=(len(profile), 6)) / np.sqrt(len(profile))
            drift = np.cumsum(steps, axis=0)
        else:
            drift = profile[:, None] * rng.choice([-1.0, 1.0], 6) * rng.uniform(0.4, 0.8, 6)
        lever = np.sqrt(np.trace(_inertia(s)) / s.phi[0])
        size = share * _weight(s) * np.repeat([1.0, 0.3 * lever], 3)
        return (s.with_wrench(s.wrench + drift * size),)

    return make


def _inertia(s: Subject) -> Array:
    from identify.inertia import InertialParameters

    return InertialParameters(s.phi).inertia_about_com


def saturate_wrench(share: float) -> Callable[[Subject], Subject]:
    def change(s: Subject) -> Subject:
        w = s.wrench
        limit = share * np.abs(w[:, :3]).max()
        return s.with_wrench(np.concatenate((np.clip(w[:, :3], -limit, limit), w[:, 3:]), axis=1))

    return change


def add_contact(seconds: float, share: float) -> Callable[[Subject], Subject]:
    def change(s: Subject) -> Subject:
        length = min(seconds, s.seconds[-1] / 6.0)
        inside = (s.seconds > 0.4 * s.seconds[-1]) & (s.seconds < 0.4 * s.seconds[-1] + length)
        force = share * _weight(s) * np.array([0.36, 0.48, 0.8])
        contact = np.concatenate((force, np.cross([0.05, 0.0, 0.08], force)))
        return s.with_wrench(s.wrench + inside[:, None] * contact)

    return change


def freeze_wrench(*names: str) -> Callable[[Subject], Subject]:
    def change(s: Subject) -> Subject:
        time = s.seconds
        first = int(0.45 * len(time))
        inside = (time >= time[first]) & (time < time[first] + 1.0)
        columns = {name: s.columns[name].copy() for name in names}
        for column in columns.values():
            column[inside] = column[first]
        return s.with_columns(**columns)

    return change


def _rounded(s: Subject) -> Subject:
    """Round the wrench to five decimals, as in text files."""
    return s.with_columns(f=np.round(s.columns["f"], 5), tau=np.round(s.columns["tau"], 5))


def add_spikes(*, either: bool) -> Perturbation:
    def make(s: Subject, rng: np.random.Generator) -> Sequence[Subject]:
        f = s.columns["f"].copy()
        hit = rng.random(len(f)) < 0.01
        signs = rng.choice([-1.0, 1.0], size=f[hit].shape)
        f[hit] = f[hit] + 100.0 * signs if either else 100.0
        return (s.with_columns(f=f),)

    return make


def increase_mass(s: Subject, factor: float, rows: Array) -> Subject:
    w = s.wrench
    heavier = s.offset + factor * (w - s.offset)
    return s.with_wrench(np.where(rows[:, None], heavier, w))


def _two_bodies(factor: float) -> Perturbation:
    def make(s: Subject, rng: np.random.Generator) -> Sequence[Subject]:
        half = len(s.seconds) // 2
        second = increase_mass(s, factor, np.ones(len(s.seconds), dtype=bool))
        return s.rows(slice(None, half)), second.rows(slice(half, None))

    return make


def _dropped(share: float) -> Perturbation:
    return lambda s, rng: (s.rows(rng.random(len(s.seconds)) >= share),)


def _jittering(s: Subject, rng: np.random.Generator) -> Sequence[Subject]:
    t = s.columns["t"]
    late = rng.uniform(0.0, 0.6, len(t)) * np.median(np.diff(t))
    return (s.with_columns(t=np.round(t + late)),)


def _held(rows: int) -> Callable[[Subject], Subject]:
    def change(s: Subject) -> Subject:
        taken = np.arange(len(s.seconds)) // rows * rows
        return s.with_columns(f=s.columns["f"][taken], tau=s.columns["tau"][taken])

    return change
