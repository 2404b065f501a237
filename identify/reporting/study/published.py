"""What was published on the STARS tools, and what the estimates of today are held to there.

Nadeau, Giamou and Kelly, "The Sum of Its Parts: Visual Part Segmentation for Inertial Parameter
Identification of Manipulated Objects" (ICRA 2023).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from identify.catalog import dataset_path
from identify.errors import DatasetError
from identify.reporting.study.swept import is_setting, of_logs

if TYPE_CHECKING:
    import pandas as pd

    from identify.experiments import Results

SCORES = "published_scores.csv"

COLUMN_OF: Mapping[str, str] = {
    "mass_error": "mass_error_percent",
    "com_error": "com_error_percent",
    "inertia_error": "inertia_error_percent",
    "riemannian": "riemannian",
}
"""The published column of a metric."""

TARGETS: Mapping[str, Mapping[str, float]] = {
    "mass_error": {"low": 0.4, "moderate": 0.9, "high": 1.6},
    "first_moment_error": {"low": 0.9, "moderate": 1.9, "high": 3.5},
}
"""What the means of the estimate without options are to stay within, by metric and noise [%]."""

TARGETED = "psd"
"""Label of the estimator that is held to them."""

_LEVEL = "stars_noise_level"


def published_levels(results: Results) -> dict[str, str]:
    """The published level of noise of each corruption that is one, and nothing else, by its label.

    Empty where the logs are not the STARS tools alone.
    """
    frame: Any = results.frame
    if not frame["log"].str.startswith("stars/").all() or _LEVEL not in frame:
        return {}
    others = [name for name in frame if is_setting(name) and not of_logs(name) and name != _LEVEL]
    others = [name for name in others if not name.startswith("stars_noise_")]
    alone = frame[frame[others].isna().all(axis=1)]
    levels = alone.groupby("perturbation")[_LEVEL].first().fillna("none")
    return {str(label): str(level) for label, level in levels.items()}


def published_scores() -> pd.DataFrame | None:
    """Mean scores of the publication: noise, method and a column a metric; None if not here."""
    import pandas as pd

    try:
        return pd.read_csv(dataset_path("stars") / SCORES)
    except DatasetError:
        return None
