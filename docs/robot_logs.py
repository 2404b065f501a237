"""Write logs in the formats of robots, from the shipped log, for the examples of these pages.

    python docs/robot_logs.py ur rtde.csv

The shipped log has the pose of a wrist sensor and the wrench it reads. The same motion and the same
payload are written here at 125 Hz as a UR, a Franka or a KUKA would log them, or as a bag of ROS 2.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

ARM = Path(__file__).resolve().parent.parent / "datasets" / "payload_arm"
SENSOR_HEIGHT, SENSOR_TURN = 0.0333, 30.0
"""Height [m] and rotation about z [deg] of the shipped log's sensor on the flange."""

TOOL_LENGTH = 0.12
"""Distance of the UR's tool point from the flange, along z [m]."""

BAG_START = 1_700_000_000_000_000_000
"""Time of the bag's first stamps since 1970 [ns]."""


class Motion:
    """The shipped log at the flange and at its sensor; attributes are arrays over the rows."""

    def __init__(self, every=4):
        log = pd.read_parquet(ARM / "payload_arm.parquet").iloc[::every]
        self.ns = 1000 * log["t_us"].to_numpy()
        self.sensor = Rotation.from_quat(log[["qx", "qy", "qz", "qw"]].to_numpy())
        self.at_sensor = log[["px", "py", "pz"]].to_numpy()
        self.force = log[["fx", "fy", "fz"]].to_numpy(copy=True)  # in the sensor's axes
        self.torque = log[["tx", "ty", "tz"]].to_numpy(copy=True)
        self.flange = self.sensor * Rotation.from_euler("z", -SENSOR_TURN, degrees=True)
        self.at_flange = self.at_sensor - self.sensor.apply([0.0, 0.0, SENSOR_HEIGHT])

    def tool_point(self, position, turn_deg=0.0):
        """Return position and rotation of a tool point that is turned about the flange's z."""
        turn = Rotation.from_euler("z", turn_deg, degrees=True)
        return self.at_flange + self.flange.apply(position), self.flange * turn

    def in_world(self, point):
        """Return force and torque about a point, in the world's axes."""
        force = self.sensor.apply(self.force)
        lever = self.at_sensor - point
        return force, self.sensor.apply(self.torque) + np.cross(lever, force)


def numbered(name, values):
    """Return columns `name_0`, `name_1`, … of an array."""
    return {f"{name}_{k}": column for k, column in enumerate(values.T)}


def write_ur(path):
    """Write an RTDE record of an e-Series: tool-point pose and wrench about the flange."""
    motion = Motion()
    point, turned = motion.tool_point([0.0, 0.0, TOOL_LENGTH])
    wrench = np.hstack(motion.in_world(motion.at_flange))
    columns = {"timestamp": 1e-9 * motion.ns}
    columns |= numbered("actual_TCP_pose", np.hstack((point, turned.as_rotvec())))
    columns |= numbered("actual_TCP_force", wrench)
    pd.DataFrame(columns).to_csv(path, index=False, sep=" ")


def write_franka(path):
    """Write fields of libfranka's robot state: O_T_EE by columns, the wrench about K."""
    motion = Motion()
    point, turned = motion.tool_point([0.0, 0.0, 0.1034], -45.0)
    poses = np.tile(np.eye(4), (len(point), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = turned.as_matrix(), point
    columns = {"time": 1e-9 * motion.ns}
    columns |= numbered("O_T_EE", poses.swapaxes(1, 2).reshape(-1, 16))
    columns |= numbered("O_F_ext_hat_K", np.hstack(motion.in_world(point)))
    pd.DataFrame(columns).to_csv(path, index=False)


def write_kuka(path):
    """Write an RSI record of the flange pose and a rotated sensor."""
    motion = Motion()
    angles = motion.flange.as_euler("ZYX", degrees=True)
    columns = {"IPOC": 1e-6 * motion.ns}
    columns |= {f"RIst.{a}": x for a, x in zip("XYZ", 1e3 * motion.at_flange.T, strict=True)}
    columns |= {f"RIst.{a}": x for a, x in zip("ABC", angles.T, strict=True)}
    columns |= {f"F{a}": x for a, x in zip("xyz", motion.force.T, strict=True)}
    columns |= {f"T{a}": x for a, x in zip("xyz", motion.torque.T, strict=True)}
    pd.DataFrame(columns).to_csv(path, index=False, sep=";")


def write_ros2(path):
    """Write a bag with /tf from base to tool0 and a sensor's WrenchStamped."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store, motion = get_typestore(Stores.ROS2_HUMBLE), Motion()
    stamps = motion.ns + BAG_START
    wrenches = "geometry_msgs/msg/WrenchStamped"
    kinds = {"/tf": "tf2_msgs/msg/TFMessage", "/ft_sensor/wrench": wrenches}

    def make(name, *values):
        return store.types[name](*values)

    def vector(values):
        return make("geometry_msgs/msg/Vector3", *map(float, values))

    def header(ns, frame):
        stamp = make("builtin_interfaces/msg/Time", int(ns // 10**9), int(ns % 10**9))
        return make("std_msgs/msg/Header", stamp, frame)

    quaternions = motion.flange.as_quat()
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        to = {topic: bag.add_connection(topic, of, typestore=store) for topic, of in kinds.items()}
        for k, ns in enumerate(stamps.tolist()):
            turn = make("geometry_msgs/msg/Quaternion", *map(float, quaternions[k]))
            pose = make("geometry_msgs/msg/Transform", vector(motion.at_flange[k]), turn)
            edge = make("geometry_msgs/msg/TransformStamped", header(ns, "base"), "tool0", pose)
            wrench = make(
                "geometry_msgs/msg/Wrench", vector(motion.force[k]), vector(motion.torque[k])
            )
            messages = {
                "/tf": make(kinds["/tf"], [edge]),
                "/ft_sensor/wrench": make(wrenches, header(ns, "ft_sensor"), wrench),
            }
            for topic, message in messages.items():
                bag.write(to[topic], ns, store.serialize_cdr(message, kinds[topic]))


WRITERS = {"ur": write_ur, "franka": write_franka, "kuka": write_kuka, "ros2": write_ros2}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot", choices=WRITERS)
    parser.add_argument("path", type=Path)
    given = parser.parse_args()
    WRITERS[given.robot](given.path)


if __name__ == "__main__":
    main()
