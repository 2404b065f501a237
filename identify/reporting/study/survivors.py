"""Means over fewer cells than were tried: what counts for them, and how many they are of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def failures_counted(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows, those without an estimate as not consistent: the share is of all that were tried.

    Args:
        frame: of results; it stays as it is.
    """
    if "consistent" not in frame:
        return frame
    fitted: Any = frame["error_type"].isna()
    return frame.assign(consistent=frame["consistent"].where(fitted, 0.0).astype(float))


def partial_metrics(frame: Any, metrics: Sequence[str]) -> frozenset[str]:
    """Metrics that some estimates lack, as inconsistent ones have no Riemannian distance.

    Their means are of selected fits: they are shown with how many these are.
    """
    fitted = frame[frame["error_type"].isna()]
    return frozenset(name for name in metrics if fitted[name].isna().any())


def counted(shown: str, count: int) -> str:
    """A mean with the number of fits that it is of."""
    return f"{shown} (n {count})" if count else shown


def common_means(part: Any, metric: str) -> tuple[dict[str, float], int]:
    """Means over the noisy logs for which every estimator has the metric.

    Args:
        part: rows of one corruption, each cell once.
        metric: its column.

    Returns:
        The mean by label of the estimator, and of how many noisy logs.
    """
    wide = part.pivot(index=["log", "seed"], columns="estimator", values=metric).dropna()
    return {str(label): float(value) for label, value in wide.mean().items()}, len(wide)
