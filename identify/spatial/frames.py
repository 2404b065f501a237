"""Named frames of a body: what people call B, and where the flange and the tool point are in it."""

from __future__ import annotations

from dataclasses import dataclass

from identify.spatial.pose import Pose


@dataclass(frozen=True, slots=True)
class BodyFrame:
    """What is known of the body frame B besides its motion.

    Attributes:
        name: what people call it, such as "wrist sensor"; None where nobody said.
        flange: X_BF, the pose of the robot's flange in B; None where it is unknown.
        tcp: X_BT, the pose of the tool point in B; None where it is unknown.
    """

    name: str | None = None
    flange: Pose | None = None
    tcp: Pose | None = None
