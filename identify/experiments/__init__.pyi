from identify.experiments.cell import Cell as Cell
from identify.experiments.comparison import compare as compare
from identify.experiments.executors import (
    choose_executor as choose_executor,
    default_workers as default_workers,
)
from identify.experiments.progress import Progress as Progress
from identify.experiments.reduction import (
    log_statistics as log_statistics,
    merge_two_logs as merge_two_logs,
    reduce_statistics as reduce_statistics,
    tree_merge as tree_merge,
)
from identify.experiments.results import (
    Results as Results,
    open_results as open_results,
    table as table,
)
from identify.experiments.runner import RunSummary as RunSummary, run_study as run_study
from identify.experiments.study import (
    Study as Study,
    load_study as load_study,
    parse_study as parse_study,
)
from identify.experiments.time_estimate import (
    TimeEstimate as TimeEstimate,
    estimate_time as estimate_time,
)
