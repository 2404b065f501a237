from identify.robots.base_columns import (
    parameter_names as parameter_names,
    random_motion as random_motion,
    robot_base_columns as robot_base_columns,
)
from identify.robots.floating_base import (
    contact_jacobian as contact_jacobian,
    floating_base_regressor as floating_base_regressor,
)
from identify.robots.link_motion import (
    frame_motion as frame_motion,
    frame_pose as frame_pose,
    link_poses as link_poses,
)
from identify.robots.regressor import (
    inverse_dynamics as inverse_dynamics,
    torque_regressor as torque_regressor,
)
from identify.robots.robot_model import (
    FramePlacement as FramePlacement,
    MovingLink as MovingLink,
    RobotModel as RobotModel,
)
from identify.robots.urdf_model import read_robot as read_robot
