"""What a study sweeps over: the numeric options of its logs and corruptions that vary."""

from __future__ import annotations

from typing import Any

from identify.experiments import Results
from identify.experiments.metrics import METRICS
from identify.experiments.store import COLUMNS

_NOT_SETTINGS = ("log_body",)


def swept_settings(results: Results) -> tuple[str, ...]:
    """Columns of options that vary; of several that vary together the first."""
    chosen: list[str] = []
    frame: Any = results.frame
    for column in frame.columns:
        if is_setting(column) and _numeric(frame[column]) and frame[column].nunique() > 1:
            parted = [_same_parts(frame[column], frame[other]) for other in chosen]
            if not any(parted):
                chosen.append(column)
    return tuple(chosen)


def is_setting(column: str) -> bool:
    """Whether a column is an option of a log or a corruption."""
    metrics = {name for metric in METRICS.values() for name in metric.columns}
    return not (
        column in COLUMNS
        or column in metrics
        or column in _NOT_SETTINGS
        or column.startswith("estimator_")
    )


def of_logs(column: str) -> bool:
    """Whether it is an option of the logs, not of a corruption."""
    return column.startswith("log_")


def _numeric(values: Any) -> bool:
    return values.dtype.kind in "fiu"


def _same_parts(first: Any, second: Any) -> bool:
    """Whether two columns part the rows alike."""
    pairs = first.astype(str) + "\n" + second.astype(str)
    return pairs.nunique() == first.nunique(dropna=False) == second.nunique(dropna=False)
