"""Logs in memory: tables of columns, and arrays passed as arguments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from identify.arrays import is_masked, seal
from identify.documents import validate
from identify.errors import LogError, ModelError, SchemaError
from identify.logs.schema import Schema
from identify.logs.schema_poses import placement_keys, tool_point_keys
from identify.logs.signal_table import SIGNALS
from identify.logs.table import LogInMemory
from identify.spatial import Pose

if TYPE_CHECKING:
    from pandas import DataFrame

_CALLER = "from_arrays"
_ARGUMENT_OF_KEY: Mapping[tuple[str, ...], str] = MappingProxyType(
    {
        ("log", "time"): "time",
        ("log", "rate_hz"): "rate_hz",
        ("log", "still"): "still",
        ("world", "gravity"): "gravity",
        ("world", "gravity_accuracy"): "gravity_accuracy",
        ("pose", "order"): "quaternion_order",
        ("pose", "maps"): "maps",
        ("pose", "position_axes"): "position_axes",
        ("twist", "frame"): "twist_frame",
        **{("pose", kind): kind for kind in ("matrix", "rotation_vector", "euler")},
        ("imu", "mount"): "imu_mount",
        ("acceleration", "frame"): "acceleration_frame",
        ("acceleration", "kind"): "acceleration_kind",
        ("wrench", "frame"): "wrench_frame",
        ("wrench", "acts_on"): "acts_on",
        ("wrench", "point"): "wrench_point",
        ("wrench", "mount"): "mount",
        ("wrench", "delay_s"): "wrench_delay",
        ("wrench", "delay_axes"): "delay_axes",
        ("wrench", "compensated"): "compensated",
        ("wrench", "gain_accuracy"): "gain_accuracy",
        ("wrench", "sensor"): "sensor",
        ("effects",): "effects",
        ("body", "name"): "body_name",
        ("body", "flange"): "flange",
        ("body", "tcp"): "tcp",
        **{(signal.table, signal.key): signal.argument for signal in SIGNALS},
    }
)
"""Argument of `Recording.from_arrays` for each schema key or table."""
_COLUMN_COUNTS = {signal.argument: len(signal.columns) for signal in SIGNALS}
_ROTATION_ARGUMENTS = ("quaternion", "matrix", "rotation_vector", "euler")
_REQUIRED_ARRAYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "quaternion_order": ("quaternion",),
        "maps": _ROTATION_ARGUMENTS,
        "acceleration_kind": ("acceleration",),
    }
)
"""Arrays that an argument with a default requires, by argument."""


def log_in_memory(table: Mapping[str, ArrayLike] | DataFrame | LogInMemory) -> LogInMemory:
    """Return a table of columns in memory as a log.

    Raises `LogError`: the argument is no table, or a column is no array.
    """
    if isinstance(table, LogInMemory):
        return table
    if isinstance(table, Mapping):
        columns = list(table.items())
    elif hasattr(table, "iloc") and hasattr(table, "columns"):
        columns = [(name, table.iloc[:, k]) for k, name in enumerate(table.columns)]
    else:
        raise LogError(
            f"read_log: expected a file, a pandas DataFrame or a mapping of names to arrays, got "
            f"{type(table).__name__}; identify.Recording.from_arrays(…) takes arrays by name"
        )
    return LogInMemory(
        "table", tuple((str(name), _as_array(name, values)) for name, values in columns)
    )


def schema_from_arguments(given: Mapping[str, Any]) -> tuple[LogInMemory, Schema]:
    """Return the arguments of `Recording.from_arrays` as a log in memory and its schema.

    Raises `LogError` or `SchemaError`: an argument is wrong or missing; the message names it.
    """
    given = {
        name: value
        for name, value in given.items()
        if value is not None
        and any(given[concerned] is not None for concerned in _REQUIRED_ARRAYS.get(name, (name,)))
    }
    for name in ("force", "torque"):
        if name not in given or not np.size(given[name]):
            raise LogError(f"{_CALLER}: {name} has no rows; a log needs force and torque")
    kinds = [kind for kind in _ROTATION_ARGUMENTS if kind in given]
    if "position" in given and not kinds:
        raise LogError(f"{_CALLER}: position requires the attitude: give quaternion")
    if len(kinds) > 1:
        raise SchemaError(f"{_CALLER}: give one of {', '.join(_ROTATION_ARGUMENTS)}, got {kinds}")
    order = "rotation_order" if {"matrix", "euler"} & given.keys() else "quaternion_order"
    if order != "rotation_order" and "rotation_order" in given:
        raise SchemaError(f"{_CALLER}: rotation_order is of matrix or euler; give one of them")
    for name in ("wrench_frame", "acts_on"):
        if name not in given:
            raise SchemaError(f"{_CALLER}: {name} is missing")
    for frame, rates in (("twist_frame", "velocity"), ("acceleration_frame", "acceleration")):
        has_rates = rates in given or f"angular_{rates}" in given
        if frame in given and not has_rates:
            raise SchemaError(f"{_CALLER}: {frame} needs {rates} or angular_{rates}")
        if has_rates and frame not in given:
            raise SchemaError(f"{_CALLER}: {frame} is missing")
    named = ("time", *_COLUMN_COUNTS, *_ROTATION_ARGUMENTS[1:])
    arrays = {name: _validated_array(name, given[name]) for name in named if name in given}
    rows = len(arrays["force"])
    for name, array in arrays.items():
        if len(array) != rows:
            raise LogError(f"{_CALLER}: {name} has {len(array)} rows, but force has {rows}")
    document: dict[str, Any] = {}
    for place, argument in _ARGUMENT_OF_KEY.items():
        name = order if argument == "quaternion_order" else argument
        if (value := given.get(name)) is None:
            continue
        if name == "time":
            value = "time"
        elif name in arrays:
            value = [f"{name}[{k}]" for k in range(arrays[name].shape[1])]
        elif name in _POSE_ARGUMENTS and not isinstance(value, Mapping):
            value = _pose_table(name, value)
        elif isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        *tables, key = place
        (document.setdefault(tables[0], {}) if tables else document)[key] = value
    if any(map(is_masked, arrays.values())):  # who masks rows knows of them
        document.setdefault("log", {})["drop_bad_rows"] = True
    spell = partial(_name_argument, order=order, kind="".join(kinds))
    schema = validate(Schema, document, _CALLER, format_key=spell)
    return LogInMemory("arrays", tuple(arrays.items())), schema


def _validated_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """Validate an array of finite numbers or time stamps of the argument's shape.

    Masked entries stay masked.
    """
    if name == "time":
        time = _as_array(name, values)
        if time.dtype.kind in "mM" and time.ndim == 1:
            if np.isnat(time).any():
                raise LogError(f"{_CALLER}: time: row {int(np.isnat(time).argmax())} is NaT")
            return time
        values = time
    if name in _ROTATION_SHAPES:
        shape = _ROTATION_SHAPES[name].get(np.shape(values)[1:])
        if shape is None:
            known = " or ".join(
                str(("n", *each)).replace("'", "") for each in _ROTATION_SHAPES[name]
            )
            raise LogError(f"{_CALLER}: {name}: expected shape {known}, got {np.shape(values)}")
        values = np.reshape(values, (-1, shape))
    else:
        shape = _COLUMN_COUNTS.get(name)
    shape = (None,) if shape is None else (None, shape)
    place = f"{_CALLER}: {name}"
    if is_masked(values):
        masked = np.ma.asarray(values)
        return np.ma.masked_array(seal(masked.filled(0), place, shape, LogError), masked.mask)
    return seal(values, place, shape, LogError)


_ROTATION_SHAPES: Mapping[str, Mapping[tuple[int, ...], int]] = MappingProxyType(
    {
        "matrix": {(3, 3): 9, (4, 4): 16, (9,): 9, (16,): 16},
        "rotation_vector": {(3,): 3},
        "euler": {(1,): 1, (2,): 2, (3,): 3},
    }
)
"""Shape of one row and number of columns of each kind of rotation."""

_POSE_ARGUMENTS = MappingProxyType(
    {
        "imu_mount": ("the pose of the inertial measurement unit in the body", "translation"),
        "mount": ("the sensor's pose in the body", "translation and quaternion"),
        "flange": ("the flange's pose in the body", "translation and quaternion"),
        "tcp": ("the logged point's pose in the flange", "pose"),
    }
)
"""Description of the pose that an argument gives, and keys of a mapping, by argument."""


def _pose_table(name: str, value: Any) -> dict[str, object]:
    """Return the schema table of a pose argument."""
    try:
        pose = value
        if not isinstance(pose, Pose):
            matrix = seal(pose, name, (4, 4))
            pose = Pose(matrix[:3, :3], matrix[:3, 3])
    except ModelError as error:
        quantity, keys = _POSE_ARGUMENTS[name]
        raise LogError(
            f"{_CALLER}: {name}: expected {quantity}, as an identify.Pose, a 4×4 matrix or a "
            f"mapping with {keys}: {error}"
        ) from error
    return tool_point_keys(pose) if name == "tcp" else placement_keys(pose)


def _name_argument(table: tuple[str | int, ...], key: str, *, order: str, kind: str) -> str:
    """Return the argument that replaces a key, or a table if it is empty, in an error message."""
    if table == ("pose",) and key == "order":
        return order
    if table == ("pose",) and not key:
        return f"{kind}: " if kind else "quaternion "
    place = tuple(map(str, table))
    prefix = f"{_ARGUMENT_OF_KEY[place]} " if place in _ARGUMENT_OF_KEY else ""
    return _ARGUMENT_OF_KEY.get((*place, key), prefix + key)


def _as_array(name: object, values: Any) -> NDArray[Any]:
    """Convert a column to an array; pandas types become NumPy types, missing values are masked."""
    dtype = getattr(values, "dtype", None)
    if hasattr(values, "isna") and not isinstance(dtype, np.dtype):
        kind = getattr(dtype, "kind", "O")
        if kind == "M":  # stamps with a time zone
            return values.to_numpy(dtype="datetime64[ns]")
        if kind in "iuf":
            numbers = values.to_numpy(dtype=f"{kind}8", na_value=0)
            return np.ma.masked_array(numbers, mask=values.isna().to_numpy())
    try:
        return np.ma.asarray(values) if is_masked(values) else np.asarray(values)
    except (TypeError, ValueError) as error:  # lists of uneven length
        raise LogError(f"column {name!r}: is no array: {error}", column=str(name)) from error
