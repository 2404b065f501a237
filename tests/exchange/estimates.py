"""An estimate with every field, and files of it that somebody changed."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from identify.exchange import Bound, PrincipalAxis, SavedBias, SavedEstimate
from identify.exchange.estimate_json import contents_digest
from identify.findings import Finding, derive_verdict
from identify.inertia import PHI, InertialParameters
from identify.spatial import BodyFrame, Pose

BODY = InertialParameters.from_com(
    1.2, [0.01, -0.02, 0.1], [[0.01, 1e-3, 0], [1e-3, 0.02, 0], [0, 0, 0.015]]
)
FLANGE = Pose.from_quaternion([0.0, 0.0, 0.6, 0.8], [0.01, 0.1 + 0.2, -0.03])
LATE = Finding("delay", "error", "late", "shift it", {"delay": [0.01, 0.02]}, "a\udcff.csv")
FULL = SavedEstimate(
    parameters=BODY,
    frame="tool flange",
    frames=BodyFrame("wrist sensor", flange=FLANGE),
    covariance=np.diag(np.arange(1.0, 11.0)) / 3.0,
    calibration=np.diag(np.arange(1.0, 11.0)) / 7.0,
    intervals={"m": (1.1, 1.3), "Ixx": None, "cx": (0.0, 0.1 + 0.2)},
    interval_kind="95 %, of a test",
    certified_bounds={"m": Bound(1.05, 0.1 + 1.2, 1e-9), "Ixx": Bound(None, 3.0, 0.0)},
    variance_shares={"m": {"wrench": 0.75, "motion": 0.25}},
    principal_axes=(
        PrincipalAxis(0.1 + 0.2, np.array([0.6, 0.0, 0.8]), 1e-3),
        PrincipalAxis(0.4, np.array([0.0, 1.0, 0.0]), None),
    ),
    decided_by=dict.fromkeys(PHI, "data") | {"Ixx": "default"},
    prior_share={"m": 0.25, "Ixx": 1.0},
    default_body="a ball",
    bias=(
        SavedBias("ab" * 32, np.arange(6) / 7.0, np.arange(6) / 13.0),
        SavedBias("", np.zeros(6), None),
    ),
    residual_rms=np.arange(6) / 11.0,
    samples=1000,
    effective_samples=123.4,
    dropped_rows=3,
    certificate={"gap": 1e-05, "rank": 10, "seed": 2**60 + 1, "zero": -0.0, "eigenvalues": [0.1]},
    provenance={"command": "é", "logs": [{"name": "log", "rows": 1000}]},
    findings=(LATE,),
    r_squared=(0.5, None, 1.0, 0.0, -1.0, 0.25),
    verdict=derive_verdict(
        [LATE], possible=True, optimal=True, identifiable=["m"], needs={"m 1%": True}
    ),
)


def write(path: Path, document: object) -> Path:
    """A JSON file."""
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def content(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def change(path: Path, place: str, to: object) -> Path:
    """Set a value of a file by its place, as "bias.0.wrench"; the digest is left as it was."""
    document = content(path)
    inner: Any = document
    *outer, last = (int(key) if key.isdigit() else key for key in place.split("."))
    for key in outer:
        inner = inner[key]
    inner[last] = to
    return write(path, document)


def seal(path: Path) -> Path:
    """Put the digest of the contents into a file, as one who wants it to be read would."""
    return change(path, "digest", to=contents_digest(path.read_text(encoding="utf-8")))
