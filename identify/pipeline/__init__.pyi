from identify.pipeline.compensating import (
    CompensatedLog as CompensatedLog,
    Compensator as Compensator,
    compensate_log as compensate_log,
)
from identify.pipeline.excitation_design import Oscillation as Oscillation
from identify.pipeline.fitting import fit as fit
from identify.pipeline.joint_fit import saved_arm as saved_arm
from identify.pipeline.known_mass import ForceGain as ForceGain, force_gain as force_gain
from identify.pipeline.log_check import LogCheck as LogCheck, check_logs as check_logs
from identify.pipeline.log_replay import LogReplay as LogReplay, replay_log as replay_log
from identify.pipeline.online import OnlineFit as OnlineFit
from identify.pipeline.result import Result as Result
from identify.pipeline.rows_fit import solve as solve
from identify.pipeline.saved_result import (
    ResultFileError as ResultFileError,
    load_result as load_result,
)
from identify.pipeline.settings import (
    FitOptions as FitOptions,
    FitSettings as FitSettings,
    JointSettings as JointSettings,
)
