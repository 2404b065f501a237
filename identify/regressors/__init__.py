"""Linear equations in the inertial parameters, and sufficient statistics of logs to solve them."""

from identify.regressors.accumulation import statistics_of_blocks
from identify.regressors.equations import Equations, Offsets, StackedEquations, stacked_statistics
from identify.regressors.log_scan import summarise_log
from identify.regressors.log_summary import LogSummary, SensorLog
from identify.regressors.newton_euler import (
    FEATURE_NAMES,
    FEATURE_TENSOR,
    WRENCH_NAMES,
    newton_euler_regressor,
    newton_euler_wrench,
)
from identify.regressors.parameter_space import ONE_BODY_SPACE, ParameterSpace, ScalarUnknown
from identify.regressors.statistics import (
    ChannelGroup,
    RowLayout,
    Statistics,
    join_logs,
    max_block_count,
)
from identify.regressors.system import FitData, LinearProblem, LinearSystem, Weights
from identify.regressors.wrench import (
    SCAN_LAYOUT,
    WIDE_LAYOUT,
    WRENCH_LAYOUT,
    WrenchEquations,
    block_statistics,
    fold_statistics,
    scan_statistics,
    statistics_in_frame,
    wrench_statistics,
)

__all__ = [
    "FEATURE_NAMES",
    "FEATURE_TENSOR",
    "ONE_BODY_SPACE",
    "SCAN_LAYOUT",
    "WIDE_LAYOUT",
    "WRENCH_LAYOUT",
    "WRENCH_NAMES",
    "ChannelGroup",
    "Equations",
    "FitData",
    "LinearProblem",
    "LinearSystem",
    "LogSummary",
    "Offsets",
    "ParameterSpace",
    "RowLayout",
    "ScalarUnknown",
    "SensorLog",
    "StackedEquations",
    "Statistics",
    "Weights",
    "WrenchEquations",
    "block_statistics",
    "fold_statistics",
    "join_logs",
    "max_block_count",
    "newton_euler_regressor",
    "newton_euler_wrench",
    "scan_statistics",
    "stacked_statistics",
    "statistics_in_frame",
    "statistics_of_blocks",
    "summarise_log",
    "wrench_statistics",
]
