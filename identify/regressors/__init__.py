"""Linear equations in the unknowns, and the one-pass statistics used to solve them."""

from identify.regressors.accumulation import statistics_of_blocks
from identify.regressors.equations import Equations, Offsets, StackedRows, stacked_statistics
from identify.regressors.log_scan import scan
from identify.regressors.log_summary import LogSummary
from identify.regressors.newton_euler import (
    FEATURE_TENSOR,
    FEATURES,
    WRENCH,
    newton_euler_regressor,
    newton_euler_wrench,
)
from identify.regressors.parameter_space import ONE_BODY, ParameterSpace, Scalar
from identify.regressors.statistics import Group, Layout, Statistics, join_logs, most_blocks
from identify.regressors.system import Data, LinearProblem, System, Weights
from identify.regressors.wrench import (
    SCAN_LAYOUT,
    WIDE_LAYOUT,
    WRENCH_LAYOUT,
    BodyWrench,
    block_statistics,
    fold_statistics,
    in_frame,
    scan_statistics,
    wrench_statistics,
)

__all__ = [
    "FEATURES",
    "FEATURE_TENSOR",
    "ONE_BODY",
    "SCAN_LAYOUT",
    "WIDE_LAYOUT",
    "WRENCH",
    "WRENCH_LAYOUT",
    "BodyWrench",
    "Data",
    "Equations",
    "Group",
    "Layout",
    "LinearProblem",
    "LogSummary",
    "Offsets",
    "ParameterSpace",
    "Scalar",
    "StackedRows",
    "Statistics",
    "System",
    "Weights",
    "block_statistics",
    "fold_statistics",
    "in_frame",
    "join_logs",
    "most_blocks",
    "newton_euler_regressor",
    "newton_euler_wrench",
    "scan",
    "scan_statistics",
    "stacked_statistics",
    "statistics_of_blocks",
    "wrench_statistics",
]
