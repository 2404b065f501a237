from identify.regressors.accumulation import statistics_of_blocks as statistics_of_blocks
from identify.regressors.equations import (
    Equations as Equations,
    Offsets as Offsets,
    StackedEquations as StackedEquations,
    stacked_statistics as stacked_statistics,
)
from identify.regressors.log_scan import summarise_log as summarise_log
from identify.regressors.log_summary import (
    LogSummary as LogSummary,
    SensorLog as SensorLog,
)
from identify.regressors.newton_euler import (
    FEATURE_NAMES as FEATURE_NAMES,
    FEATURE_TENSOR as FEATURE_TENSOR,
    WRENCH_NAMES as WRENCH_NAMES,
    newton_euler_regressor as newton_euler_regressor,
    newton_euler_wrench as newton_euler_wrench,
)
from identify.regressors.parameter_space import (
    ONE_BODY_SPACE as ONE_BODY_SPACE,
    ParameterSpace as ParameterSpace,
    ScalarUnknown as ScalarUnknown,
)
from identify.regressors.statistics import (
    ChannelGroup as ChannelGroup,
    RowLayout as RowLayout,
    Statistics as Statistics,
    join_logs as join_logs,
    max_block_count as max_block_count,
)
from identify.regressors.system import (
    FitData as FitData,
    LinearProblem as LinearProblem,
    LinearSystem as LinearSystem,
    Weights as Weights,
)
from identify.regressors.wrench import (
    SCAN_LAYOUT as SCAN_LAYOUT,
    WIDE_LAYOUT as WIDE_LAYOUT,
    WRENCH_LAYOUT as WRENCH_LAYOUT,
    WrenchEquations as WrenchEquations,
    block_statistics as block_statistics,
    fold_statistics as fold_statistics,
    scan_statistics as scan_statistics,
    wrench_statistics as wrench_statistics,
)
