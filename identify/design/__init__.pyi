from identify.design.d_optimal import (
    DesignedMotion as DesignedMotion,
    MotionProblem as MotionProblem,
    design_motion as design_motion,
    unplanned_motion as unplanned_motion,
)
from identify.design.designs import (
    Search as Search,
    design_joint_motion as design_joint_motion,
    design_wrist_motion as design_wrist_motion,
    joint_limits as joint_limits,
    middle_of_range as middle_of_range,
    payload_problem as payload_problem,
    wrist_limits as wrist_limits,
)
from identify.design.joints import JointProblem as JointProblem, RoughPayload as RoughPayload
from identify.design.periodic import AxisLimits as AxisLimits, PeriodicBasis as PeriodicBasis
from identify.design.plan import MotionPlan as MotionPlan, planned_motion as planned_motion
from identify.design.prediction import PredictedPrecision as PredictedPrecision
from identify.design.result import MotionDesign as MotionDesign
from identify.design.static_poses import (
    StaticPoses as StaticPoses,
    design_static_poses as design_static_poses,
)
from identify.design.wrist import WrenchNoise as WrenchNoise, WristProblem as WristProblem
