"""Logs in memory: a table's columns, and arrays that arguments name, on the way of `read_log`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from identify.arrays import is_masked, seal
from identify.documents import validate
from identify.errors import LogError, ModelError, SchemaError
from identify.logs.schema import Schema
from identify.logs.schema_tables import placement_of, tool_point_of
from identify.logs.table import Arrays
from identify.spatial import Pose

if TYPE_CHECKING:
    from pandas import DataFrame

_WHERE = "from_arrays"
_WIDTHS: Mapping[str, int] = MappingProxyType(
    {
        "position": 3,
        "quaternion": 4,
        "velocity": 3,
        "angular_velocity": 3,
        "acceleration": 3,
        "angular_acceleration": 3,
        "force": 3,
        "torque": 3,
    }
)
_KEYS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "time": ("log", "time"),
        "rate_hz": ("log", "rate_hz"),
        "still": ("log", "still"),
        "gravity": ("world", "gravity"),
        "position": ("pose", "position"),
        "quaternion": ("pose", "quaternion"),
        "quaternion_order": ("pose", "order"),
        "maps": ("pose", "maps"),
        "position_axes": ("pose", "position_axes"),
        "velocity": ("twist", "linear"),
        "angular_velocity": ("twist", "angular"),
        "twist_frame": ("twist", "frame"),
        "acceleration": ("acceleration", "linear"),
        "angular_acceleration": ("acceleration", "angular"),
        "acceleration_kind": ("acceleration", "kind"),
        "acceleration_frame": ("acceleration", "frame"),
        "force": ("wrench", "force"),
        "torque": ("wrench", "torque"),
        "wrench_frame": ("wrench", "frame"),
        "acts_on": ("wrench", "acts_on"),
        "wrench_point": ("wrench", "point"),
        "mount": ("wrench", "mount"),
        "wrench_delay": ("wrench", "delay_s"),
        "body_name": ("body", "name"),
        "flange": ("body", "flange"),
        "tcp": ("body", "tcp"),
    }
)
"""The key of the schema that each argument of `Recording.from_arrays` is."""
_CONCERNS = MappingProxyType(
    {"quaternion_order": "quaternion", "maps": "quaternion", "acceleration_kind": "acceleration"}
)
"""Arguments with a default, and the array without which they say nothing."""

_PHRASES = MappingProxyType(
    {
        "[twist] give linear, angular, or both": "twist_frame needs velocity or angular_velocity",
        "[acceleration] give linear, angular, or both": (
            "acceleration_frame needs acceleration or angular_acceleration"
        ),
        'kind = "proper"': 'acceleration_kind = "proper"',
        "[pose]": "quaternion",
        "[log] ": "",
    }
)
"""Words of the schema about more than one key, in those of the arguments."""


def hold(table: Mapping[str, ArrayLike] | DataFrame | Arrays) -> Arrays:
    """The columns of a table in memory, in their order.

    Raises:
        LogError: it is no table, or one of its columns is no array.
    """
    if isinstance(table, Arrays):
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
    return Arrays("table", tuple((str(name), _as_array(name, values)) for name, values in columns))


def describe_arrays(given: Mapping[str, Any]) -> tuple[Arrays, Schema]:
    """What `Recording.from_arrays` is given, as a log in memory and its schema.

    Args:
        given: its arguments by name; those that are None are not given.

    Raises:
        LogError, SchemaError: as the message says, which names the argument.
    """
    given = {
        name: value
        for name, value in given.items()
        if value is not None and given[_CONCERNS.get(name, name)] is not None
    }
    for name in ("force", "torque"):
        if name not in given or not np.size(given[name]):
            raise LogError(f"{_WHERE}: {name} has no rows; a log needs force and torque")
    if "position" in given and "quaternion" not in given:
        raise LogError(f"{_WHERE}: position needs the attitude beside it: give quaternion")
    arrays = {name: _checked(name, given[name]) for name in ("time", *_WIDTHS) if name in given}
    rows = len(arrays["force"])
    for name, array in arrays.items():
        if len(array) != rows:
            raise LogError(f"{_WHERE}: {name} has {len(array)} rows, but force has {rows}")
    document: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        table, key = _KEYS[name]
        if name in _WIDTHS:
            value = [f"{name}[{k}]" for k in range(_WIDTHS[name])]
        elif name == "time":
            value = "time"
        elif name in _POSES and not isinstance(value, Mapping):
            value = _table_of(name, value)
        elif isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        document.setdefault(table, {})[key] = value
    if any(map(is_masked, arrays.values())):  # who masks rows knows of them
        document.setdefault("log", {})["drop_bad_rows"] = True
    try:
        schema = validate(Schema, document, _WHERE)
    except SchemaError as error:
        raise SchemaError(_in_arguments(str(error))) from error
    return Arrays("arrays", tuple(arrays.items())), schema


def _checked(name: str, values: ArrayLike) -> NDArray[Any]:
    """An array of finite numbers, or time stamps, of the shape that its argument has.

    What is masked of it stays so.
    """
    if name == "time":
        time = _as_array(name, values)
        if time.dtype.kind in "mM" and time.ndim == 1:
            if np.isnat(time).any():
                raise LogError(f"{_WHERE}: time: row {int(np.isnat(time).argmax())} is NaT")
            return time
        values = time
    shape = (None, _WIDTHS[name]) if name in _WIDTHS else (None,)
    try:
        if is_masked(values):
            masked = np.ma.asarray(values)
            return np.ma.masked_array(seal(masked.filled(0), name, shape), masked.mask)
        return seal(values, name, shape)
    except ModelError as error:
        raise LogError(f"{_WHERE}: {error}") from error


_POSES = MappingProxyType(
    {
        "mount": ("the sensor's pose in the body", "translation and quaternion"),
        "flange": ("the flange's pose in the body", "translation and quaternion"),
        "tcp": ("the logged point's pose in the flange", "pose"),
    }
)
"""Arguments that are poses: of what, and what a mapping has."""


def _table_of(name: str, value: Any) -> dict[str, object]:
    """The table of the schema that says a pose."""
    try:
        pose = value
        if not isinstance(pose, Pose):
            matrix = seal(pose, name, (4, 4))
            pose = Pose(matrix[:3, :3], matrix[:3, 3])
    except ModelError as error:
        what, keys = _POSES[name]
        raise LogError(
            f"{_WHERE}: {name}: expected {what}, as an identify.Pose, a 4×4 matrix or a mapping "
            f"with {keys}: {error}"
        ) from error
    return tool_point_of(pose) if name == "tcp" else placement_of(pose)


def _in_arguments(message: str) -> str:
    """A message about keys of a schema, in the names of the arguments."""
    for name, (table, key) in _KEYS.items():
        for spelled in (f"[{table}.{key}]", f"[{table}] {key}", f"[{table}] the key {key!r}"):
            message = message.replace(spelled, name)
    for spelled, phrase in _PHRASES.items():
        message = message.replace(spelled, phrase)
    return message


def _as_array(name: object, values: Any) -> NDArray[Any]:
    """A column as an array; pandas' own types as those of NumPy, what is missing masked."""
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
