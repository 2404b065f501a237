"""A log of seven still poses made in the format of `axia80_static`, without its files."""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

MASS, COM = 1.101, np.array([0.002, -0.001, 0.0519])
SCHEMA = """
[log]
still = true

[streams.pose]
file = "recorded_messages_pose.txt"
header_lines = 0

[streams.wrench]
file = "recorded_messages_wrench.txt"
header_lines = 0

[world]
gravity = [0, 0, -9.81]

[pose]
position = [0, 1, 2]
quaternion = [3, 4, 5, 6]
order = "xyzw"
maps = "body_to_world"

[wrench]
force = [0, 1, 2]
torque = [3, 4, 5]
frame = "world"
acts_on = "sensor"
"""


def write_still_poses(folder: Path) -> Path:
    """Write the log and its schema in the layout of the logs of others; return the folder.

    The wrench that a body exerts on the sensor, at its origin in world axes, with bias and noise of
    0.02 N and 0.002 N m in sensor axes.
    """
    rng = np.random.default_rng(5)
    R = Rotation.random(7, rng=rng)
    force = R.inv().apply(np.tile([0.0, 0.0, -9.81 * MASS], (7, 1)))
    wrench = np.concatenate((force, np.cross(COM, force)), axis=1)
    wrench += [0.5, -0.8, 1.2, 0.02, -0.03, 0.01]
    wrench += rng.normal(size=(7, 6)) * np.repeat([0.02, 0.002], 3)
    wrench = np.concatenate((R.apply(wrench[:, :3]), R.apply(wrench[:, 3:])), axis=1)
    pose = np.concatenate((rng.uniform(-0.5, 0.5, (7, 3)), R.as_quat()), axis=1)
    (folder / "axia80_static").mkdir()
    (folder / "schemas").mkdir()
    for name, rows in {"pose": pose, "wrench": wrench}.items():
        path = folder / "axia80_static" / f"recorded_messages_{name}.txt"
        np.savetxt(path, rows, delimiter=", ")
    (folder / "schemas" / "axia80_static.toml").write_text(SCHEMA)
    return folder
