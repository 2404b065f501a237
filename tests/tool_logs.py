"""Logs of workshop tools made in the format of the data set "stars", without any of its files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from identify.inertia import InertialParameters
from tests.recordings import ALL, Path as Motion, record

TOOLS = (
    *("Adjustable_Wrench", "Allen_Key", "Bent_Jaw_Pliers", "Box_Wrench", "C_Clamp", "Clamp"),
    *("Electronic_Caliper", "File", "Hacksaw", "Hammer", "Machinist_Hammer", "Measuring_Tape"),
    *("Nut_Screwdriver", "Pliers", "Rubber_Mallet", "Ruler", "Screwdriver", "Socket_Wrench"),
    *("Vise_Clamp", "Vise_Grip"),
)
SCHEMA = Path(__file__).parents[1] / "identify" / "catalog" / "schemas" / "stars.toml"
COLUMNS = {
    "position": ("px", "py", "pz"),
    "quaternion": ("qx", "qy", "qz", "qw"),
    "linear_velocity": ("vx", "vy", "vz"),
    "angular_velocity": ("wx", "wy", "wz"),
    "linear_acceleration": ("ax", "ay", "az"),
    "angular_acceleration": ("alx", "aly", "alz"),
    "force": ("fx", "fy", "fz"),
    "torque": ("tx", "ty", "tz"),
}

SCORES = """noise,method,consistent_percent,riemannian,mass_error_percent,com_error_percent,\
inertia_error_percent
low,HPS,100,0.5,0.64,1.00,10.00
"""
"""A row of the published scores."""


def write_tool_logs(folder: Path) -> Path:
    """Write logs of 10 s at 100 Hz, the bodies, and points that fill them; return the folder.

    The layout is that of the logs of others: `stars_tools`, and the schema in `schemas`. The tools
    are solid boxes of 0.1 to 0.8 kg; all quantities are in world axes with z down, nine digits.
    """
    logs = folder / "stars_tools"
    (logs / "points").mkdir(parents=True)
    (folder / "schemas").mkdir()
    (folder / "schemas" / "stars_tools.toml").write_text(SCHEMA.read_text())
    truth: dict[str, object] = {}
    for number, name in enumerate(TOOLS):
        rng = np.random.default_rng([11, number])
        sides, mass = rng.uniform([0.02, 0.1, 0.04], [0.05, 0.3, 0.12]), rng.uniform(0.1, 0.8)
        com, turn = rng.uniform(-0.1, 0.1, 3), Rotation.random(rng=rng).as_matrix()
        inertia = turn @ np.diag(mass / 12.0 * (sides @ sides - sides**2)) @ turn.T
        phi = InertialParameters.from_com(mass, com, inertia).phi
        truth[name] = {
            "mass": mass,
            "com_in_sensor": com.tolist(),
            "inertia_about_com_in_sensor": inertia.tolist(),
            "bounding_box_sides_in_sensor": (np.abs(turn) @ sides).tolist(),
        }
        _tool_log(number, phi).to_csv(logs / f"{name}.csv", index=False, float_format="%.9g")
        grid = np.stack(np.meshgrid(*[(np.arange(6) - 2.5) / 6.0] * 3), axis=-1).reshape(-1, 3)
        points = pd.DataFrame(com + (grid * sides) @ turn.T, columns=["x", "y", "z"])
        points = points.assign(volume=sides.prod() / len(grid))
        points.to_csv(logs / "points" / f"{name}.csv", index=False)
    (logs / "truth.json").write_text(json.dumps(truth))
    (logs / "published_scores.csv").write_text(SCORES)
    return folder


def _tool_log(seed: int, phi: np.ndarray) -> pd.DataFrame:
    time = np.arange(1000) / 100.0
    motion = Motion.random(seed, fastest_hz=0.5)
    axes = {"twist": "world", "acceleration": "world", "wrench": "world"}
    log = record(motion, phi, time, ALL, gravity=np.array([0.0, 0.0, 9.81]), **axes)
    columns = {"t": time}
    for signal, names in COLUMNS.items():
        columns |= dict(zip(names, log.signals[signal].T, strict=True))
    return pd.DataFrame(columns)
