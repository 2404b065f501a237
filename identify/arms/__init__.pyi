from identify.arms.arm_fit import ArmFit as ArmFit, Calibration as Calibration, fit_arm as fit_arm
from identify.arms.base_parameters import BaseParameters as BaseParameters
from identify.arms.columns import ArmColumns as ArmColumns
from identify.arms.fitted_arm import FittedArm as FittedArm, HeldOut as HeldOut
from identify.arms.fitting import ArmSolution as ArmSolution
from identify.arms.mjcf_export import fitted_mjcf as fitted_mjcf
from identify.arms.payload_fit import fit_payload as fit_payload
from identify.arms.prediction import (
    TorqueErrors as TorqueErrors,
    TorqueSeries as TorqueSeries,
    torque_errors as torque_errors,
    torque_series as torque_series,
    with_fitted_friction as with_fitted_friction,
)
from identify.arms.rows import ArmLog as ArmLog, scan_arm as scan_arm
from identify.arms.saved_arm import (
    SavedArm as SavedArm,
    arm_text as arm_text,
    read_arm as read_arm,
    write_arm as write_arm,
)
from identify.arms.torque_scale import TorqueScale as TorqueScale
from identify.arms.urdf_export import (
    JointDynamics as JointDynamics,
    fitted_model as fitted_model,
)
