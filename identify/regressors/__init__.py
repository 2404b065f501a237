"""Linear equations in the ten parameters, and the one-pass statistics they are solved from."""

from identify.regressors.blocks import BlockStatistics
from identify.regressors.linear_problem import LinearProblem
from identify.regressors.newton_euler import (
    FEATURE_TENSOR,
    FEATURES,
    WRENCH,
    newton_euler_regressor,
    newton_euler_wrench,
)
from identify.regressors.statistics import Bias, WrenchStatistics, merge_logs

__all__ = [
    "FEATURES",
    "FEATURE_TENSOR",
    "WRENCH",
    "Bias",
    "BlockStatistics",
    "LinearProblem",
    "WrenchStatistics",
    "merge_logs",
    "newton_euler_regressor",
    "newton_euler_wrench",
]
