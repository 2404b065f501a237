"""Finished starts of a design in a file, so that an interrupted run continues."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from identify.design.d_optimal import DesignedMotion
from identify.design.periodic import PeriodicBasis
from identify.files import write_text


def read_starts(path: Path, key: str) -> dict[int, DesignedMotion]:
    """Read the finished starts of an interrupted run; none if it had other settings."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(document, dict) or document.get("key") != key:
        return {}
    return {
        int(number): DesignedMotion(
            PeriodicBasis(start["period"], start["harmonics"]),
            np.array(start["coefficients"]),
            start["criterion"],
            start["scale"],
        )
        for number, start in document["starts"].items()
    }


def write_starts(path: Path, key: str, motions: Mapping[int, DesignedMotion]) -> None:
    """Write the finished starts of a run, for its continuation."""
    starts = {
        str(number): {
            "period": motion.basis.period,
            "harmonics": motion.basis.harmonics,
            "coefficients": motion.coefficients.tolist(),
            "criterion": motion.criterion,
            "scale": motion.scale,
        }
        for number, motion in motions.items()
    }
    write_text(path, json.dumps({"key": key, "starts": starts}))
