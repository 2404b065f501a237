"""Studies: logs, perturbations and seeds through estimators, at any scale, resumable.

from identify.experiments import compare, load_study, open_results, run_study, table

study = load_study("study.toml")
run_study(study, "reports/study")
results = open_results("reports/study")
print(table(results))
print(compare(results, "wls", "psd"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.experiments.cell import Cell as Cell
    from identify.experiments.comparison import compare as compare
    from identify.experiments.executors import choose_executor as choose_executor
    from identify.experiments.executors import default_workers as default_workers
    from identify.experiments.progress import Progress as Progress
    from identify.experiments.reduction import reduce_statistics as reduce_statistics
    from identify.experiments.reduction import tree_merge as tree_merge
    from identify.experiments.results import Results as Results
    from identify.experiments.results import open_results as open_results
    from identify.experiments.results import table as table
    from identify.experiments.runner import RunSummary as RunSummary
    from identify.experiments.runner import run_study as run_study
    from identify.experiments.study import Study as Study
    from identify.experiments.study import load_study as load_study
    from identify.experiments.study import parse_study as parse_study
    from identify.experiments.time_estimate import TimeEstimate as TimeEstimate
    from identify.experiments.time_estimate import estimate_time as estimate_time
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "cell": ("Cell",),
            "comparison": ("compare",),
            "executors": ("choose_executor", "default_workers"),
            "progress": ("Progress",),
            "reduction": ("reduce_statistics", "tree_merge"),
            "results": ("Results", "open_results", "table"),
            "runner": ("RunSummary", "run_study"),
            "study": ("Study", "load_study", "parse_study"),
            "time_estimate": ("TimeEstimate", "estimate_time"),
        },
    )
