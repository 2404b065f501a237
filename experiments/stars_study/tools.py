"""The twenty workshop tools: logs without noise, true bodies, and what was published about them.

Nadeau, Giamou and Kelly, "The Sum of Its Parts: Visual Part Segmentation for Inertial Parameter
Identification of Manipulated Objects" (ICRA 2023).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from identify.arrays import Phi, Vec3
from identify.errors import DatasetError
from identify.inertia import InertialParameters
from identify.logs import Recording, read_log

FOLDER_VARIABLES = ("IDENTIFY_SHARED_DATA", "IDENTIFY_DATA")
"""Environment variables that may name the folder with `stars_tools/` and `schemas/`."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: file name without suffix.
        recording: its log, without noise.
        phi: its true parameters about the sensor's origin, in sensor axes, shape (10,).
        sides: sides of its bounding box along the sensor's axes [m], shape (3,).
    """

    name: str
    recording: Recording
    phi: Phi
    sides: Vec3


def data_folder() -> Path:
    """The folder of the data, as the environment names it.

    Raises:
        DatasetError: no variable is set, or the folder lacks the logs.
    """
    named = {name: os.environ[name] for name in FOLDER_VARIABLES if os.environ.get(name)}
    variables = " or ".join(FOLDER_VARIABLES)
    if not named:
        raise DatasetError(
            f"the STARS tool logs are not part of the project: set {variables} to the folder that "
            f"holds stars_tools/ (logs and truth.json) and schemas/stars_tools.toml"
        )
    wanted = (
        "stars_tools/truth.json",
        "stars_tools/published_scores.csv",
        "schemas/stars_tools.toml",
    )
    for folder in map(Path, named.values()):
        if all((folder / file).is_file() for file in wanted):
            return folder
    tried = ", ".join(f"{name}={value}" for name, value in named.items())
    raise DatasetError(
        f"{tried}: no such folder, or it lacks one of {', '.join(wanted)}; set {variables} to the "
        f"folder that holds them"
    )


def tool_names(folder: Path) -> tuple[str, ...]:
    """Names of the tools, in alphabetical order."""
    return tuple(sorted(_truth(folder)))


def load_tool(folder: Path, name: str) -> Tool:
    """Read one tool's log and truth."""
    truth = _truth(folder)[name]
    body = InertialParameters.from_com(
        truth["mass"], truth["com_in_sensor"], truth["inertia_about_com_in_sensor"]
    )
    return Tool(
        name=name,
        recording=read_log(
            folder / "stars_tools" / f"{name}.csv", folder / "schemas" / "stars_tools.toml"
        ),
        phi=body.phi,
        sides=np.array(truth["bounding_box_sides_in_sensor"]),
    )


def published_scores(folder: Path) -> pd.DataFrame:
    """Mean scores of the publication: noise, method and one column a metric."""
    return pd.read_csv(folder / "stars_tools" / "published_scores.csv", keep_default_na=True)


def _truth(folder: Path) -> dict[str, dict]:
    return json.loads((folder / "stars_tools" / "truth.json").read_text(encoding="utf-8"))
