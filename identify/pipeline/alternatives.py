"""What else a log may mean: other signs, axes, units and orders than its schema says.

Most are linear maps of its wide statistics; for those of the pose and of the wrench's frame it is
read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Any

import numpy as np

from identify.arrays import Array
from identify.diagnosis import LogFacts
from identify.logs import Recording
from identify.logs.units import FORCE, TORQUE
from identify.regressors import log_corrections
from identify.regressors.wrench import SCAN_LAYOUT, WIDE_LAYOUT, W
from identify.signals import Reading
from identify.spatial import coadjoint, quaternion_from_rotation
from identify.spatial.vectors import STANDARD_GRAVITY

FAST_SPIN = 60.0
"""Rate above which an angle may be in degrees [rad/s]."""

_FASTEST = 50.0, 100.0
"""Speed [m/s] and rate [rad/s] beyond which another unit of time or length is absurd …"""

_SLOWEST = 1e-3, 1e-2
"""… and those below which nothing would have moved."""

_TIMES = (1e-6, 1e-3, 0.5, 2.0, 1e3, 1e6)
"""Units of time, and every other row or twice as many as the rate says."""

_TILTED = 0.95
"""Cosine above which another direction is the same, tilted, which is looked for apart."""

_ON_EARTH = 0.01
"""Share by which gravity differs from the standard one, at most."""

_WORLD = {"+x": (1, 0, 0), "-x": (-1, 0, 0), "+y": (0, 1, 0), "-y": (0, -1, 0)}
_WORLD |= {"+z": (0, 0, 1), "-z": (0, 0, -1)}


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another meaning of a log.

    Attributes:
        code: of the finding.
        text: what would be so.
        remedy: the line of the schema, or the action.
        change: M of the wide columns to those a fit reads, shape (40, 19), where that is all.
        reading: how the log is read again, where it has to be.
        changes: how many slips it takes.
        clock: how many times as long as read the time runs.
    """

    code: str
    text: str
    remedy: str
    change: Array | None = None
    reading: Reading | None = None
    changes: int = 1
    clock: float = 1.0

    def with_sign(self, sign: Alternative) -> Alternative:
        """Both: read again, and a linear map of that."""
        return replace(
            self,
            text=f"{self.text}, and {sign.text}",
            remedy=f"{self.remedy} {sign.remedy}",
            change=sign.change,
            changes=self.changes + sign.changes,
        )


def linear_alternatives(
    recording: Recording, fastest: tuple[float, float]
) -> tuple[Alternative, ...]:
    """Those that are linear maps of the wide statistics.

    Args:
        recording: the log.
        fastest: largest speed and angular rate of its motion [m/s, rad/s].
    """
    facts = LogFacts.of(recording)
    return (
        *sign_alternatives(recording),
        *(() if recording.frames["wrench"] == "world" else _axes(recording)),
        _swapped(recording),
        *_units(recording),
        *_gravities(recording, facts),
        *_motions(recording, facts, fastest),
    )


def sign_alternatives(recording: Recording) -> tuple[Alternative, ...]:
    """Signs of wrench, force and torque."""
    said = _table(recording, "wrench").get("acts_on")
    if said in ("body", "sensor"):
        other = "body" if said == "sensor" else "sensor"
        whole = f'In the schema, [wrench], change `acts_on = "{said}"` to `acts_on = "{other}"`.'
    else:
        whole = "Change the sign of force and torque."
    one = "Change the sign of its three columns; both act on one side of the sensor."
    found = []
    for code, signs, text, remedy in (
        ("wrench_sign", (-1, -1), "the wrench has the other sign", whole),
        ("force_sign", (-1, 1), "the force alone has the other sign", one),
        ("torque_sign", (1, -1), "the torque alone has the other sign", one),
    ):
        G = np.diag(np.repeat(np.array(signs, dtype=float), 3))
        found.append(Alternative(code, text, remedy, _of_readings(G, recording)))
    return tuple(found)


def _swapped(recording: Recording) -> Alternative:
    """Force and torque in each other's columns."""
    wrench = _table(recording, "wrench")
    remedy = "Give the columns of the force as those of the torque, and the other way."
    if "force" in wrench:
        force, torque = (list(wrench[key]) for key in ("torque", "force"))
        remedy = f"In the schema, [wrench], set `force = {force}` and `torque = {torque}`."
    G = np.kron([[0.0, 1.0], [1.0, 0.0]], np.eye(3))
    text = "the columns of force and torque are swapped"
    return Alternative("wrench_axes", text, remedy, _of_readings(G, recording))


def _axes(recording: Recording) -> Iterator[Alternative]:
    """Axes of the wrench permuted or mirrored, but for the whole wrench's sign.

    In world axes they are no map of what was read, and the log has to be read again.
    """
    again = recording.frames["wrench"] == "world"
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            Q = np.zeros((3, 3))
            Q[np.arange(3), order] = signs
            if np.allclose(Q, np.eye(3)) or np.allclose(Q, -np.eye(3)):
                continue
            shown = ", ".join(
                ("" if sign > 0 else "-") + "xyz"[axis]
                for sign, axis in zip(signs, order, strict=True)
            )
            yield Alternative(
                "wrench_axes",
                f"the wrench's x, y, z are what the log calls {shown}",
                _axes_line(recording, Q, order, signs, shown),
                None if again else _of_readings(np.kron(np.eye(2), Q), recording),
                Reading(wrench_axes=tuple(map(tuple, Q.tolist()))) if again else None,
            )


def axes_of_world(recording: Recording) -> tuple[Alternative, ...]:
    """Axes of a wrench in world axes: many to read a log again for, so the likely ones alone."""
    world = recording.frames["wrench"] == "world" and LogFacts.of(recording).attitude
    return tuple(_axes(recording)) if world else ()


def _axes_line(
    recording: Recording,
    Q: Array,
    order: tuple[int, ...],
    signs: tuple[float, ...],
    shown: str,
) -> str:
    wrench = _table(recording, "wrench")
    if min(signs) > 0.0 and "force" in wrench:
        columns = {key: [wrench[key][axis] for axis in order] for key in ("force", "torque")}
        lines = " and ".join(f"`{key} = {value}`" for key, value in columns.items())
        return f"In the schema, [wrench], set {lines}."
    if np.linalg.det(Q) > 0.0 and recording.frames["wrench"] != "world":
        R = Q if recording.X_BS is None else recording.X_BS.rotation @ Q
        turned = (np.round(quaternion_from_rotation(R), 6) + 0.0).tolist()
        frame = "" if recording.X_BS is not None else ' with [wrench] frame = "sensor"'
        return f"In the schema, [wrench.mount], set `quaternion = {turned}`{frame}."
    return f"Give the columns of force and torque in the order {shown}, with these signs."


_METRIC = (("N", "mN", "kN", "kgf"), ("Nm", "Nmm", "kNm", "Ncm", "kgfcm", "kgfm"))
_IMPERIAL = (("lbf",), ("lbfin", "lbfft"))
_SYSTEMS = (("lbf", "lbfin"), ("lbf", "lbfft"), ("kgf", "kgfcm"), ("N", "Nm"))


def _units(recording: Recording) -> Iterator[Alternative]:
    """Units of force or torque, or of both: their ratio can tell, and that the body is possible.

    Nobody mixes pounds and newtons; a ratio between the two is sooner a gain.
    """
    wrench = _table(recording, "wrench")
    forces, torques = _IMPERIAL if wrench.get("force_unit") == "lbf" else _METRIC
    now = str(wrench.get("force_unit", "N")), str(wrench.get("torque_unit", "Nm"))
    pairs = [(force, now[1]) for force in forces] + [(now[0], torque) for torque in torques]
    for force, torque in dict.fromkeys((*pairs, *_SYSTEMS)):
        ratios = FORCE[force] / FORCE[now[0]], TORQUE[torque] / TORQUE[now[1]]
        changed = [k for k in (0, 1) if abs(ratios[k] - 1.0) > 1e-9]
        if not changed or abs(ratios[0] / ratios[1] - 1.0) < 1e-9:
            continue
        what = ("force", "torque"), ("force_unit", "torque_unit"), (force, torque)
        said = [f"the {what[0][k]} is in {what[2][k]}, not in {now[k]}" for k in changed]
        lines = [f'`{what[1][k]} = "{what[2][k]}"`' for k in changed]
        yield Alternative(
            what[1][changed[-1]],
            " and ".join(said),
            f"In the schema, [wrench], set {' and '.join(lines)}.",
            _of_readings(np.diag(np.repeat(ratios, 3)), recording),
        )


def _gravities(recording: Recording, facts: LogFacts) -> Iterator[Alternative]:
    """Axis and sign of gravity, its size, or none in the wrench; kinds of acceleration."""
    g = recording.gravity
    size = float(np.linalg.norm(g))
    if not facts.attitude or (recording.acceleration_kind == "proper" and size == 0.0):
        return
    if size == 0.0:
        for name, axis in _WORLD.items():
            other = STANDARD_GRAVITY * np.array(axis, dtype=float)
            yield _of_gravity(
                f"gravity is missing: it points along {name} of the world's axes", g, other
            )
        return
    if not facts.gravity_added:
        yield Alternative(
            "acceleration_kind",
            "the acceleration is the classical one, gravity not in it",
            'In the schema, [acceleration], set `kind = "classical"`.',
            log_corrections.other_gravity(g),
        )
        return
    for name, axis in _WORLD.items():
        other = size * np.array(axis, dtype=float)
        if other @ g < _TILTED * size**2:
            text = f"gravity points along {name} of the world's axes"
            yield _of_gravity(text, g, other, "gravity_direction")
    # Of another size than on Earth it is sooner that, whatever else fits: mass and time do too.
    usual = is_usual_gravity(size)
    for scale in (1.0 / 9.80665, 9.80665) if usual else (STANDARD_GRAVITY / size,):
        yield _of_gravity(f"gravity is {scale * size:.4g} m/s²", g, scale * g)
    if "linear_acceleration" in recording.signals:
        yield Alternative(
            "acceleration_kind",
            "the acceleration is as an accelerometer reads it, less gravity",
            'In the schema, [acceleration], set `kind = "proper"`.',
            log_corrections.other_gravity(-g),
        )
    else:
        yield Alternative(
            "already_compensated",
            "the weight is not in the wrench: the controller has taken it off",
            "Log the wrench without gravity compensation, or set [world] `gravity = [0, 0, 0]`.",
            log_corrections.other_gravity(-g),
        )


def _of_gravity(
    text: str, now: Array, other: Array, code: str = "gravity_magnitude"
) -> Alternative:
    line = f"`gravity = {(np.round(other, 6) + 0.0).tolist()}`"
    remedy = f"In the schema, [world], set {line} (or --gravity)."
    return Alternative(code, text, remedy, log_corrections.other_gravity(other - now))


def is_usual_gravity(size: float) -> bool:
    """Whether gravity of that size [m/s²] is that of a place on Earth."""
    return abs(size / STANDARD_GRAVITY - 1.0) < _ON_EARTH


def _motions(
    recording: Recording, facts: LogFacts, fastest: tuple[float, float]
) -> Iterator[Alternative]:
    """Units of position and of time, where all of the motion comes of it."""
    speed, spin = fastest
    if facts.positioned and facts.gravity_added:
        said = str(_table(recording, "pose").get("position_unit", "m"))
        other, factor = ("m", 1e3) if said == "mm" else ("mm", 1e-3)
        if _SLOWEST[0] < speed * factor < _FASTEST[0]:
            yield Alternative(
                "position_unit",
                f"the position is in {other}, not in {said}",
                f'In the schema, [pose], set `position_unit = "{other}"`.',
                log_corrections.scaled_position(factor - 1.0, recording.gravity),
            )
    if not (facts.timed and facts.gravity_added) or recording.still:
        return
    for factor in _TIMES:
        rates = speed / factor, spin / factor
        if all(rate < most for rate, most in zip(rates, _FASTEST, strict=True)) and any(
            rate > least for rate, least in zip(rates, _SLOWEST, strict=True)
        ):
            yield Alternative(
                "time_unit",
                f"time runs {factor:g} times as long as read",
                f"In the schema, [log], {time_line(recording, factor)}.",
                log_corrections.other_clock(factor - 1.0, recording.gravity),
                clock=factor,
            )


def time_line(recording: Recording, factor: float) -> str:
    """What to set in [log] where time runs so many times as long as read."""
    log = _table(recording, "log")
    if "rate_hz" in log:
        return f"set `rate_hz = {float(log['rate_hz']) / factor:g}`"
    seconds = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    now = seconds.get(str(log.get("time_unit", "s")), 1.0)
    for unit, value in seconds.items():
        if abs(now * factor / value - 1.0) < 1e-9:
            return f'set `time_unit = "{unit}"`'
    return "correct `time_unit`"


_POSITIONS: Mapping[str, str] = {
    "world": "of the body's origin in world axes",
    "body": "of the body's origin in body axes",
    "inverse": "of the world's origin in body axes",
}


def read_alternatives(
    recording: Recording, fastest: tuple[float, float]
) -> tuple[Alternative, ...]:
    """Those for which the log has to be read again: its pose, and the axes of its wrench.

    Args:
        recording: the log.
        fastest: largest speed and angular rate of its motion [m/s, rad/s].
    """
    return (
        *_poses(recording),
        *_frames(recording),
        *_kinds(recording),
        *_rates(recording, fastest),
    )


def _poses(recording: Recording) -> Iterator[Alternative]:
    """Order of the quaternion, what the rotation maps, and what the position is of."""
    facts = LogFacts.of(recording)
    pose = _table(recording, "pose")
    if not facts.attitude or not pose:
        return
    orders = (False, True) if "quaternion" in pose else (False,)
    inverse = pose.get("maps") == "world_to_body"
    now = str(pose.get("position_axes") or ("inverse" if inverse else "world"))
    for turned_order, turned_maps in product(orders, (False, True)):
        maps = inverse != turned_maps
        own = "inverse" if maps else "world"
        for position in _POSITIONS if facts.positioned else (own,):
            minus = facts.positioned and position == "world" and not turned_order
            for sign in (1.0, -1.0) if minus else (1.0,):
                kept = position == now or (not facts.positioned)
                if not (turned_order or turned_maps) and kept and sign > 0.0:
                    continue
                whole = turned_maps and position == own and "position_axes" not in pose
                slips = turned_order + turned_maps + (sign < 0.0)
                slips += not (kept or whole)
                lines = list(_pose_lines(pose, turned_order, turned_maps, position, own, sign))
                yield Alternative(
                    "quaternion_order"
                    if turned_order
                    else ("pose_maps" if turned_maps else "position_axes"),
                    " and ".join(_pose_text(pose, turned_order, turned_maps, position, now, sign)),
                    f"In the schema, [pose], {' and '.join(lines)}.",
                    None,
                    Reading(
                        turned_order=turned_order,
                        turned_maps=turned_maps,
                        position=position if facts.positioned else None,  # pyright: ignore[reportArgumentType]
                        scales=(("position", sign),) if sign < 0.0 else (),
                    ),
                    slips,
                )


def _pose_text(
    pose: Mapping[str, Any],
    turned_order: bool,
    turned_maps: bool,
    position: str,
    now: str,
    sign: float,
) -> Iterator[str]:
    if turned_order:
        first = pose.get("order") == "wxyz"
        yield f"the quaternion's scalar comes {'last' if first else 'first'}"
    if turned_maps:
        yield "the rotation maps the other way"
    if position != now or sign < 0.0:
        yield f"the position is {'minus that ' if sign < 0.0 else ''}{_POSITIONS[position]}"


def _pose_lines(
    pose: Mapping[str, Any],
    turned_order: bool,
    turned_maps: bool,
    position: str,
    own: str,
    sign: float,
) -> Iterator[str]:
    for turned, key, values in (
        (turned_order, "order", ("xyzw", "wxyz")),
        (turned_maps, "maps", ("body_to_world", "world_to_body")),
    ):
        if turned:
            now = pose.get(key, values[0])
            yield f'change `{key} = "{now}"` to `{key} = "{values[1 - values.index(now)]}"`'
    axes = pose.get("position_axes")
    if position == "inverse" and own == "world":
        yield "change the sign of the position's columns"
        position, sign = "body", 1.0
    if position != (axes or own):
        yield f'set `position_axes = "{position}"`'
    if sign < 0.0:
        yield "change the sign of the position's columns"


def _frames(recording: Recording) -> Iterator[Alternative]:
    """The axes of the wrench."""
    now = recording.frames["wrench"]
    if now == "sensor" or not LogFacts.of(recording).attitude:
        return
    other = "body" if now == "world" else "world"
    yield Alternative(
        "wrench_frame",
        f"the wrench is in {other} axes",
        f'In the schema, [wrench], change `frame = "{now}"` to `frame = "{other}"`.',
        None,
        Reading(wrench_frame=other),
    )


def _kinds(recording: Recording) -> Iterator[Alternative]:
    """Whether a linear acceleration that is not an accelerometer's is the spatial one."""
    kind = recording.acceleration_kind
    given = LogFacts.of(recording)
    if kind == "proper" or given.still or given.positioned or not given.attitude:
        return
    other = "spatial" if kind == "classical" else "classical"
    yield Alternative(
        "acceleration_kind",
        f"the linear acceleration is the {other} one",
        f'In the schema, [acceleration], set `kind = "{other}"`.',
        None,
        Reading(acceleration_kind=other),
    )


def _rates(recording: Recording, fastest: tuple[float, float]) -> Iterator[Alternative]:
    """Angular rates in degrees that turn faster than anything does."""
    names = [n for n in ("angular_velocity", "angular_acceleration") if n in recording.signals]
    if names and fastest[1] > FAST_SPIN:
        yield Alternative(
            "angle_unit",
            "angular rates are in degrees",
            'In the schema, [twist] or [acceleration], set `angle_unit = "deg"`.',
            None,
            Reading(scales=tuple((name, float(np.pi) / 180.0) for name in names)),
        )


def _of_readings(G: Array, recording: Recording) -> Array:
    """M of a linear change of what the sensor reads, [f; t] in its own axes."""
    if (X_BS := recording.X_BS) is not None:
        G = coadjoint(X_BS) @ G @ coadjoint(X_BS.inverse())
    M = np.eye(len(WIDE_LAYOUT.columns), len(SCAN_LAYOUT.columns))
    M[W, W] = G.T
    return M


def _table(recording: Recording, name: str) -> Mapping[str, Any]:
    said = recording.schema.get(name)
    return said if isinstance(said, dict) else {}
