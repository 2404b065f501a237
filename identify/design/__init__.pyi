from identify.design.d_optimal import (
    DesignedMotion as DesignedMotion,
    MotionProblem as MotionProblem,
    Search as Search,
    design_motion as design_motion,
    unplanned_motion as unplanned_motion,
)
from identify.design.joints import (
    JointProblem as JointProblem,
    TorqueNoise as TorqueNoise,
    joint_limits as joint_limits,
    joint_problem as joint_problem,
    middle_of_range as middle_of_range,
    supporting_joints as supporting_joints,
)
from identify.design.periodic import AxisLimits as AxisLimits, PeriodicBasis as PeriodicBasis
from identify.design.plan import MotionPlan as MotionPlan
from identify.design.prediction import (
    EarlierFit as EarlierFit,
    PredictedPrecision as PredictedPrecision,
)
from identify.design.result import MotionDesign as MotionDesign, plan_motion as plan_motion
from identify.design.static_poses import (
    StaticPoses as StaticPoses,
    design_static_poses as design_static_poses,
)
from identify.design.wrist import (
    WrenchNoise as WrenchNoise,
    WristProblem as WristProblem,
    wrist_limits as wrist_limits,
)
