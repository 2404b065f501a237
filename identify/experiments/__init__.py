"""Studies: logs, corruptions and seeds through estimators, at any scale, resumable.

from identify.experiments import compare, load_study, open_results, run_study, table

study = load_study("study.toml")
run_study(study, "reports/study")
results = open_results("reports/study")
print(table(results))
print(compare(results, "wls", "psd"))
"""

from identify.experiments.backends import choose_backend, default_workers
from identify.experiments.cell import Cell
from identify.experiments.comparison import compare
from identify.experiments.progress import Progress
from identify.experiments.reduction import reduce_statistics, tree_merge
from identify.experiments.results import Results, open_results, table
from identify.experiments.runner import RunSummary, run_study
from identify.experiments.study import Study, load_study, parse_study
from identify.experiments.time_estimate import TimeEstimate, estimate_time

__all__ = [
    "Cell",
    "Progress",
    "Results",
    "RunSummary",
    "Study",
    "TimeEstimate",
    "choose_backend",
    "compare",
    "default_workers",
    "estimate_time",
    "load_study",
    "open_results",
    "parse_study",
    "reduce_statistics",
    "run_study",
    "table",
    "tree_merge",
]
