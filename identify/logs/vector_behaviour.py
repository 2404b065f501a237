"""Signals among numbered columns that no name tells, recognised by how they behave.

Stamps grow by even steps. Four columns of unit length are a quaternion; three small ones and a
rotation vector of six are a pose; and a force is what follows gravity as its sensor turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from identify.arrays import Array
from identify.logs.draft_joints import find_joints
from identify.logs.draft_sections import FULL_TURN, read_columns, time_columns
from identify.logs.named_vectors import COMMANDED, NUMBERED_ENTRY, NamedVectors
from identify.spatial.rotations import exp_rotation, rotation_from_quaternion

_MAX_LENGTH_ERROR, _MIN_CHANGE = 1e-3, 1e-3
"""Maximum deviation of a quaternion's length from one, and minimum spread of what turns."""

_MAX_POSITION_M, _MIN_GRAVITY_SHARE = 20.0, 0.5
"""Largest coordinate of an arm's pose [m]; minimum share of a force's variance that follows
gravity."""

_MAX_ROUGHNESS_RATIO = 0.1
"""Ratio of the roughness of two triples of columns below which the smoother one is the position."""

_MAX_ROWS = 2000
"""Number of rows that are examined."""

_REASON = "by how the values behave"


def add_vectors_by_behaviour(log: Path, vectors: NamedVectors) -> None:
    """Add what only the values of numbered columns show, with a reason: time, pose and wrench."""
    groups = _numbered_groups(vectors)
    if groups and not time_columns(vectors):
        table = read_columns(log, vectors, groups)
        every = {} if table is None else table.columns
        times = (str(name) for name, values in every.items() if _is_time(values))
        if (time := next(times, None)) is not None:
            vectors.vectors["time"], vectors.unsure["time"] = [[time]], f"{_REASON}: even steps"
            groups = _numbered_groups(vectors)
    has_wrench = vectors.likeliest("force") is not None and vectors.likeliest("torque") is not None
    has_pose = vectors.has_pose and vectors.likeliest("position") is not None
    if not groups or (has_pose and has_wrench):
        return
    names = [name for group in groups for name in group]
    wrenches = [group[k : k + 6] for group in groups for k in range(len(group) - 5)]
    if has_wrench:
        wrenches = [vectors.vectors["force"][0] + vectors.vectors["torque"][0]]
        names = list(dict.fromkeys(names + wrenches[0]))
    rotation = vectors.rotation
    of_rotation = [] if rotation is None else [n for n in rotation[1] if n not in names]
    table = read_columns(log, vectors, [names + of_rotation])
    if table is None or len(table) < 2:
        return
    rows = np.linspace(0, len(table) - 1, min(len(table), _MAX_ROWS)).astype(np.intp)
    values = {name: table.columns[name][rows] for name in names + of_rotation}
    complete = np.isfinite(list(values.values())).all(axis=0)
    values = {name: column[complete] for name, column in values.items()}
    if not complete.any():
        return

    def stack(columns: Sequence[str]) -> Array:
        return np.stack([values[name] for name in columns], axis=-1)

    if rotation is None:
        choices = [choice for group in groups for choice in _poses(group, stack)]
        exact = [choice for choice in choices if choice[1] == "quaternion"]
        ranked = [(*_gravity_share(wrenches, c, stack), c) for c in exact or choices]
        share, force, chosen = max(ranked, key=lambda each: each[0], default=(0.0, [], None))
        if chosen is None or not (share > _MIN_GRAVITY_SHARE or len(exact) == 1):
            return
        position, kind, columns = chosen
        vectors.vectors.setdefault(kind, []).append(columns)
        vectors.unsure[kind] = _REASON
        if position and "position" not in vectors.vectors:
            vectors.vectors["position"] = [position]
            vectors.unsure["position"] = _REASON
        groups = [group for group in groups if not {*position, *columns} & {*group}]
    else:
        share, force = _gravity_share(wrenches, ([], *rotation), stack)
    thirds = [g for g in groups if len(g) == 3 and np.abs(stack(g)).max() < _MAX_POSITION_M]
    if "position" not in vectors.vectors and len(thirds) == 1:
        vectors.vectors["position"], vectors.unsure["position"] = thirds, _REASON
    if not has_wrench and share > _MIN_GRAVITY_SHARE:
        for role, columns in (("force", force[:3]), ("torque", force[3:])):
            vectors.vectors[role] = [columns]
            vectors.unsure[role] = f"{_REASON}: the force follows gravity"


def _is_time(values: Array) -> bool:
    """Return whether values grow by about even steps, and not by one, as a counter does."""
    steps = np.diff(values[np.isfinite(values)])
    if not len(steps):
        return False
    low, median, high = np.quantile(steps, (0.1, 0.5, 0.9))
    return bool(low > 0.0 and high < 2.0 * low and median != 1.0)


def _numbered_groups(vectors: NamedVectors) -> list[list[str]]:
    """Return the groups of numbered columns that are no vector, nor joints, by name, in order."""
    used = {name for lists in vectors.vectors.values() for names in lists for name in names}
    if (joints := find_joints(vectors.table, "effort")) is not None:
        used |= {name for entries in joints.entries.values() for name in entries}
    groups: dict[str, dict[int, str]] = {}
    for name in vectors.table.names:
        if COMMANDED.match(name) or name in used:
            continue
        if (match := NUMBERED_ENTRY.fullmatch(name)) is not None:
            groups.setdefault(match["stem"], {})[int(match["part"])] = name
    return [[of[k] for k in sorted(of)] for of in groups.values() if len(of) > 2]


_Pose = tuple[list[str], str, list[str]]
"""Columns of the position, kind of the rotation, and its columns."""


def _poses(group: list[str], stack: Callable[[Sequence[str]], Array]) -> Iterator[_Pose]:
    """Yield the poses that columns may be."""
    for k in range(len(group) - 3):
        four = stack(group[k : k + 4])
        lengths = np.linalg.norm(four, axis=1)
        if (
            np.abs(lengths - 1.0).max() < _MAX_LENGTH_ERROR
            and np.ptp(four, axis=0).max() > _MIN_CHANGE
        ):
            near = [group[i : i + 3] for i in (k - 3, k - 6, k + 4) if i >= 0]
            place, *others = [three for three in near if len(three) == 3] or [[]]
            for other in others:  # accelerations and rates are far rougher than positions
                if _roughness(stack(other)) < _MAX_ROUGHNESS_RATIO * _roughness(stack(place)):
                    place = other
            yield place, "quaternion", group[k : k + 4]
    for k in range(len(group) - 5):
        place, turn = stack(group[k : k + 3]), stack(group[k + 3 : k + 6])
        angles = np.linalg.norm(turn, axis=1)
        small = np.abs(place).max() < _MAX_POSITION_M
        if small and angles.max() < FULL_TURN and np.ptp(turn, axis=0).max() > _MIN_CHANGE:
            yield group[k : k + 3], "rotation_vector", group[k + 3 : k + 6]


def _roughness(values: Array) -> float:
    """Return the size of the steps between rows relative to the spread; NaN of constant values."""
    spread = float(np.linalg.norm(values.std(axis=0)))
    return float(np.linalg.norm(np.diff(values, axis=0).std(axis=0))) / spread if spread else np.nan


def _gravity_share(
    wrenches: list[list[str]], pose: _Pose, stack: Callable[[Sequence[str]], Array]
) -> tuple[float, list[str]]:
    """Return the largest share of a force's variance that gravity explains, with its six columns.

    The force is f = a u + b with u = Rᵀ e_z: one factor for all three axes, and an offset.
    """
    position, kind, columns = pose
    if kind not in ("quaternion", "rotation_vector"):
        return 0.0, []
    numbers = stack(columns)
    best: tuple[float, list[str]] = (0.0, [])
    orders = [[0, 1, 2, 3], [1, 2, 3, 0]] if kind == "quaternion" else [[0, 1, 2]]
    for order in orders:
        turn = numbers[:, order]
        R = rotation_from_quaternion(turn if kind == "quaternion" else exp_rotation(turn))
        u = R[:, 2] - R[:, 2].mean(axis=0)
        for six in wrenches:
            if set(six) & {*position, *columns}:
                continue
            f = stack(six[:3])
            f = f - f.mean(axis=0)
            total = float(np.sum(f**2) * np.sum(u**2))
            share = float(np.sum(f * u)) ** 2 / total if total > 0.0 else 0.0
            best = max(best, (share, six))
    return best
