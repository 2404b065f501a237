"""Small studies of synthetic logs, and their results as compared between runs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from identify.studies import Study, open_results, parse_study
from identify.studies.estimator import Estimator
from identify.studies.study import NamedEstimator

QUICK: dict[str, Any] = {
    "name": "quick",
    "seed": 5,
    "seeds": 3,
    "metrics": ["mass_error", "relative_inertia_error", "consistent"],
    "logs": [{"kind": "synthetic", "number": 2, "duration": 4.0, "rate_hz": 50.0}],
    "perturbations": ["none", {"kind": "noise", "force": [0.05, 0.2]}],
    "estimators": ["ols", "wls"],
}
"""2 logs × (1 + 2 × 3 noises) × 2 estimators = 28 trials, none of which needs cvxpy."""


VOLATILE = ["seconds", "prepare_seconds", "finished"]
"""Columns that differ from run to run; all others come out the same to the bit."""


def quick(**changes: Any) -> Study:
    return parse_study(QUICK | changes)


def with_estimators(study: Study, **estimators: Estimator) -> Study:
    """The study with estimators added that no registry has."""
    added = tuple(NamedEstimator(label, each) for label, each in estimators.items())
    return replace(study, estimators=study.estimators + added)


def rows(folder: Path) -> pd.DataFrame:
    """All rows but for the columns that differ from run to run."""
    return open_results(folder, code="all").frame.drop(columns=VOLATILE)


def assert_same_rows(first: Path, second: Path) -> None:
    pd.testing.assert_frame_equal(rows(first), rows(second), check_exact=True)
