"""A small log that every test can bend: time, seven columns of pose and six of wrench."""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

NAMES = ["t", "px", "py", "pz", "qx", "qy", "qz", "qw", "fx", "fy", "fz", "tx", "ty", "tz"]
BASE: dict[str, Any] = {
    "log": {"time": "t"},
    "pose": {"position": ["px", "py", "pz"], "quaternion": ["qx", "qy", "qz", "qw"]},
    "wrench": {
        "force": ["fx", "fy", "fz"],
        "torque": ["tx", "ty", "tz"],
        "frame": "body",
        "acts_on": "body",
    },
}


def _merge(base: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = copy.deepcopy(base)
    for key, value in changes.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(merged.get(key), dict):
            merged[key] = _merge(merged[key], value)
        else:
            merged[key] = value
    return merged


@pytest.fixture(scope="session")
def schema() -> Callable[..., dict[str, Any]]:
    """The schema of the small log with changes: a table or a key that is None is left out."""
    return lambda **changes: _merge(BASE, changes)


@pytest.fixture(scope="session")
def numbered(schema) -> Callable[..., dict[str, Any]]:
    """The same with columns by number, and no header unless it is given."""
    numbers = {
        "log": {"time": 0, "header_lines": 0},
        "pose": {"position": [1, 2, 3], "quaternion": [4, 5, 6, 7]},
        "wrench": {"force": [8, 9, 10], "torque": [11, 12, 13]},
    }
    return lambda **changes: _merge(schema(**numbers), changes)


@pytest.fixture
def rows() -> np.ndarray:
    rng = np.random.default_rng(5)
    values = rng.standard_normal((20, 14))
    values[:, 0] = np.arange(20) / 100
    values[:, 4:8] /= np.linalg.norm(values[:, 4:8], axis=1, keepdims=True)
    return values


@pytest.fixture
def lines(rows) -> list[str]:
    return [",".join(NAMES), *(",".join(map(repr, map(float, row))) for row in rows)]


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Writes lines, or text, or bytes, to a file."""

    def write_file(content: list[str] | str | bytes, name: str = "log.csv") -> Path:
        if isinstance(content, list):
            content = "\n".join(content) + "\n"
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file
