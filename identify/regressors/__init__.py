"""Linear equations in the unknowns, and the one-pass statistics they are solved from."""

from identify.regressors.equations import Equations, Offsets, StackedRows, stacked_statistics
from identify.regressors.linear_problem import LinearProblem
from identify.regressors.newton_euler import (
    FEATURE_TENSOR,
    FEATURES,
    WRENCH,
    newton_euler_regressor,
    newton_euler_wrench,
)
from identify.regressors.space import ONE_BODY, ParameterSpace, Scalar
from identify.regressors.statistics import Group, Layout, Statistics, join_logs
from identify.regressors.system import Data, System, Weights
from identify.regressors.wrench import (
    WRENCH_LAYOUT,
    BodyWrench,
    in_frame,
    wrench_statistics,
)

__all__ = [
    "FEATURES",
    "FEATURE_TENSOR",
    "ONE_BODY",
    "WRENCH",
    "WRENCH_LAYOUT",
    "BodyWrench",
    "Data",
    "Equations",
    "Group",
    "Layout",
    "LinearProblem",
    "Offsets",
    "ParameterSpace",
    "Scalar",
    "StackedRows",
    "Statistics",
    "System",
    "Weights",
    "in_frame",
    "join_logs",
    "newton_euler_regressor",
    "newton_euler_wrench",
    "stacked_statistics",
    "wrench_statistics",
]
