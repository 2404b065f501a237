#!/usr/bin/env python3
"""A ROS 2 node that subtracts the weight and the inertia of a tool from a force-torque sensor.

    python contact_wrench_node.py --ros-args -p estimate:=out/estimate.json \
        -r pose:=/tcp_pose_broadcaster/pose -r wrench:=/ft_sensor/wrench

It takes the pose of the estimate's frame B in the world (`pose`, geometry_msgs/PoseStamped) and the
raw wrench (`wrench`, geometry_msgs/WrenchStamped), and publishes `contact_wrench`. Parameters:

    estimate    the estimate.json of `identify fit`
    sign        1 if the sensor reports the wrench on the tool, -1 for that of the tool on the
                sensor, as `[wrench] sign` in the schema
    offset      of the sensor, [f; t] at Bo in B; of the estimate's log without it
    mount       x y z and quaternion x y z w of the sensor in B; zeros and 0 0 0 1 without it
    window      time of the poses that give rates and accelerations [s]
"""

from __future__ import annotations

from collections import deque

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node
from scipy.spatial.transform import Rotation

import identify
from identify.spatial import Pose

Floats = NDArray[np.float64]


class MotionOfPoses:
    """Rates and accelerations at the last pose, by cubics through those of a window of time.

    The rotation vector from the last attitude has as derivatives there ω and α in body axes.
    """

    def __init__(self, window: float) -> None:
        self.window = window
        self.poses: deque[tuple[float, Floats, Rotation]] = deque()

    def add(self, time: float, position: Floats, quaternion: Floats) -> None:
        if self.poses and not time > self.poses[-1][0]:
            return
        self.poses.append((time, position, Rotation.from_quat(quaternion)))
        while time - self.poses[0][0] > self.window:
            self.poses.popleft()

    def last(self) -> tuple[Pose, Floats, Floats] | None:
        """Return X_WB, [v; ω] and [a; α] of Bo in B; None before six poses are known."""
        if len(self.poses) < 6:
            return None
        times, positions, attitudes = zip(*self.poses, strict=True)
        now = attitudes[-1]
        tau = np.array(times) - times[-1]
        moved = np.array(positions) - positions[-1]
        turned = Rotation.concatenate(attitudes)
        values = np.hstack([moved, (now.inv() * turned).as_rotvec()])
        _, rates, halves, _ = np.linalg.lstsq(np.vander(tau, 4, increasing=True), values)[0]
        R = now.as_matrix()
        twist = np.hstack([R.T @ rates[:3], rates[3:]])
        acceleration = 2.0 * np.hstack([R.T @ halves[:3], halves[3:]])
        return Pose(R, positions[-1]), twist, acceleration


class ContactWrenchNode(Node):
    """Publish the wrench without the tool's weight and inertia, at the sensor in its axes."""

    def __init__(self) -> None:
        super().__init__("contact_wrench")
        path = self.declare_parameter("estimate", "estimate.json").value
        self.sign = float(self.declare_parameter("sign", 1.0).value)
        offset = list(self.declare_parameter("offset", [float("nan")]).value)
        mount = list(self.declare_parameter("mount", [0.0, 0, 0, 0, 0, 0, 1]).value)
        self.motion = MotionOfPoses(float(self.declare_parameter("window", 0.05).value))
        self.compensator = identify.Compensator(
            identify.load_estimate(path),
            offset=None if np.isnan(offset).any() else offset,
            mount=Pose.from_quaternion(mount[3:], mount[:3]),
        )
        self.publisher = self.create_publisher(WrenchStamped, "contact_wrench", 10)
        self.create_subscription(PoseStamped, "pose", self.on_pose, 10)
        self.create_subscription(WrenchStamped, "wrench", self.on_wrench, 10)

    def on_pose(self, message: PoseStamped) -> None:
        stamp, p, q = message.header.stamp, message.pose.position, message.pose.orientation
        time = stamp.sec + 1e-9 * stamp.nanosec
        self.motion.add(time, np.array([p.x, p.y, p.z]), np.array([q.x, q.y, q.z, q.w]))

    def on_wrench(self, message: WrenchStamped) -> None:
        motion = self.motion.last()
        if motion is None:
            return
        f, t = message.wrench.force, message.wrench.torque
        measured = self.sign * np.array([f.x, f.y, f.z, t.x, t.y, t.z])
        contact = self.sign * self.compensator.update(*motion, measured)
        result = WrenchStamped()
        result.header = message.header
        f, t = result.wrench.force, result.wrench.torque
        f.x, f.y, f.z, t.x, t.y, t.z = map(float, contact)
        self.publisher.publish(result)


def main() -> None:
    import rclpy

    rclpy.init()
    rclpy.spin(ContactWrenchNode())


if __name__ == "__main__":
    main()
