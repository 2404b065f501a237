"""What was published on the STARS tools, and what the estimates of today are held to there.

Nadeau, Giamou and Kelly, "The Sum of Its Parts: Visual Part Segmentation for Inertial Parameter
Identification of Manipulated Objects" (ICRA 2023).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from identify.catalog import dataset_path
from identify.errors import DatasetError
from identify.experiments import Results
from identify.reporting.study.rows import StudyRows, is_setting, of_logs
from identify.reporting.study.wording import heading, percent, table

if TYPE_CHECKING:
    import pandas as pd

SCORES = "published_scores.csv"

COLUMN_OF: Mapping[str, str] = {
    "mass_error": "mass_error_percent",
    "com_error": "com_error_percent",
    "inertia_error": "inertia_error_percent",
    "riemannian": "riemannian",
    "consistent": "consistent_percent",
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
    """The published level of noise of each perturbation that is nothing else, by its label.

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


def targets(rows: StudyRows) -> str:
    """Reached beside wanted; nothing where the study is another one."""
    lines = target_lines(rows)
    if not lines:
        return ""
    heads = (f"estimator {TARGETED}", "noise", "reached", "target", "met")
    return f"## Targets\n\n{table(heads, lines, words=2)}"


def target_lines(rows: StudyRows) -> list[tuple[str, ...]]:
    """One line a target: what, noise, reached, target, met."""
    levels = published_levels(rows.results)
    ours = rows.frame[rows.frame["estimator"] == TARGETED]
    ours = ours[ours["perturbation"].isin(list(levels))]
    if ours.empty:
        return []
    found: list[tuple[str, str, str, str, bool]] = []
    for perturbation in filter(levels.__contains__, rows.labels("perturbation")):
        part, level = ours[ours["perturbation"] == perturbation], levels[perturbation]
        for metric, limits in TARGETS.items():
            if level in limits and metric in part:
                mean, limit = float(part[metric].mean()), limits[level]
                what = f"mean {heading(metric).text}"
                found.append((what, level, f"{mean:.3f}", f"≤ {limit:g}", mean <= limit))
    if "consistent" in ours:
        share = float(ours["consistent"].fillna(0.0).mean())
        found.append(("consistent, of all tried %", "all", percent(share), "100", share == 1.0))
    solver = int((ours["error_type"] == "SolveError").sum())
    refused = int(ours["error_type"].notna().sum()) - solver
    found.append(("failures of the solver", "all", str(solver), "0", solver == 0))
    found.append(("fits refused", "all", str(refused), "0", refused == 0))
    return [(*line, "yes" if met else "**no**") for *line, met in found]
