"""Studies: logs, perturbations and seeds through estimators, at any scale, resumable.

from identify.experiments import compare, load_study, open_results, run_study, table

study = load_study("study.toml")
run_study(study, "reports/study")
results = open_results("reports/study")
print(table(results))
print(compare(results, "wls", "psd"))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from identify.experiments.cell import Cell
    from identify.experiments.comparison import compare
    from identify.experiments.executors import choose_executor, default_workers
    from identify.experiments.progress import Progress
    from identify.experiments.reduction import reduce_statistics, tree_merge
    from identify.experiments.results import Results, open_results, table
    from identify.experiments.runner import RunSummary, run_study
    from identify.experiments.study import Study, load_study, parse_study
    from identify.experiments.time_estimate import TimeEstimate, estimate_time

_MODULES = {
    "cell": ("Cell",),
    "comparison": ("compare",),
    "executors": ("choose_executor", "default_workers"),
    "progress": ("Progress",),
    "reduction": ("reduce_statistics", "tree_merge"),
    "results": ("Results", "open_results", "table"),
    "runner": ("RunSummary", "run_study"),
    "study": ("Study", "load_study", "parse_study"),
    "time_estimate": ("TimeEstimate", "estimate_time"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Cell",
    "Progress",
    "Results",
    "RunSummary",
    "Study",
    "TimeEstimate",
    "choose_executor",
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


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
