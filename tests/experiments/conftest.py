"""The STARS logs where they are at hand, and a made-up set of the same layout that always is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.stars_study.tools import data_folder
from identify.errors import DatasetError
from identify.inertia import InertialParameters
from identify.logs.synthetic import synthetic_recording
from identify.logs.writing import write_log

BODIES = {
    "Box": InertialParameters.from_com(
        0.6,
        (0.02, -0.03, 0.05),
        np.array([[9.0, 0.5, -0.4], [0.5, 7.0, 0.3], [-0.4, 0.3, 5.0]]) * 1e-4,
    ),
    "Rod": InertialParameters.from_com(0.4, (0.15, 0.01, 0.02), np.diag([3e-6, 3e-3, 3e-3])),
}
SIDES = {"Box": [0.12, 0.15, 0.2], "Rod": [0.3, 0.01, 0.01]}
PUBLISHED = """\
noise,method,consistent_percent,riemannian,mass_error_percent,com_error_percent,inertia_error_percent
low,OLS,5,,0.25,2.32,1018
"""


@pytest.fixture(scope="session")
def stars_folder() -> Path:
    try:
        return data_folder()
    except DatasetError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def made_up_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two bodies shaken as the tools are: ten seconds, all quantities in world axes, no noise."""
    folder = tmp_path_factory.mktemp("made_up")
    logs, schemas = folder / "stars_tools", folder / "schemas"
    logs.mkdir()
    schemas.mkdir()
    truth = {}
    for number, (name, body) in enumerate(BODIES.items()):
        recording = synthetic_recording(
            body.phi,
            rng=np.random.default_rng(number),
            duration=10.0,
            rate_hz=100.0,
            include="all",
            frame="world",
        )
        write_log(recording, logs / f"{name}.csv", schemas / "stars_tools.toml")
        truth[name] = {
            "mass": body.mass,
            "com_in_sensor": body.com.tolist(),
            "inertia_about_com_in_sensor": body.inertia_about_com.tolist(),
            "bounding_box_sides_in_sensor": SIDES[name],
        }
    (logs / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
    (logs / "published_scores.csv").write_text(PUBLISHED, encoding="utf-8")
    return folder
