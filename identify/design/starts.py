"""Finished starts of a design in a file, so that an interrupted run continues."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from identify.design.d_optimal import DesignedMotion
from identify.errors import ModelError
from identify.files import write_text
from identify.serialisation import from_json_and_arrays, to_json_and_arrays


def read_starts(path: Path, key: str) -> dict[int, DesignedMotion]:
    """Read the finished starts of an interrupted run; none if it had other settings."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        arrays = {name: np.array(values) for name, values in document["arrays"].items()}
        same = document["key"] == key
        return from_json_and_arrays(document["starts"], arrays) if same else {}
    except (OSError, ValueError, KeyError, TypeError, ModelError):
        return {}


def write_starts(path: Path, key: str, motions: Mapping[int, DesignedMotion]) -> None:
    """Write the finished starts of a run, for its continuation."""
    arrays: dict[str, np.ndarray] = {}
    document = {"key": key, "starts": to_json_and_arrays(motions, arrays, "starts")}
    document["arrays"] = {name: values.tolist() for name, values in arrays.items()}
    write_text(path, json.dumps(document))
