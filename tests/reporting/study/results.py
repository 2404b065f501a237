"""Rows of a study as if they had been run, for the sections and figures of its summary."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from identify.reporting.study import StudyRows
from identify.studies import Results
from identify.studies.rows import COLUMN_TYPES
from identify.studies.store import StoreInfo

Metrics = Callable[[str, str, str, int], Mapping[str, Any]]


def rows(
    metrics: Metrics,
    *,
    logs: Sequence[str] = ("a/0", "a/1"),
    corruptions: Sequence[str] = ("none", "low"),
    estimators: Sequence[str] = ("ols", "psd"),
    seeds: int = 2,
) -> StudyRows:
    """Every combination, with the columns that `metrics` gives for log, corruption, estimator,
    seed."""
    order = {"log": logs, "perturbation": corruptions, "estimator": estimators}
    found = [
        {
            "key": f"{log} {corruption} {estimator} {seed}",
            "code": "abc",
            "log": log,
            "perturbation": corruption,
            "estimator": estimator,
            "seed": seed,
            "solver": "none",
            "seconds": 1e-3,
            "prepare_seconds": 1e-2,
            **metrics(log, corruption, estimator, seed),
        }
        for log in logs
        for corruption in corruptions
        for estimator in estimators
        for seed in range(seeds)
    ]
    frame = pd.DataFrame(found)
    for name in COLUMN_TYPES:
        if name not in frame:
            frame[name] = None
    codes = {"abc": {"source_sha256": "0" * 64, "versions": {"numpy": "9.9"}}}
    return StudyRows(Results(Path("out"), frame, StoreInfo("made up", order, codes), "abc"))
