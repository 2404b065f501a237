"""Robust rows: blocks of time weighted down where one body does not explain them, if asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from identify.diagnosis import Loss, robust_weights, weighted_cells
from identify.estimation import EstimatorSettings
from identify.estimation.estimator import body_system
from identify.estimation.least_squares import weighted_least_squares
from identify.pipeline.scanned_log import ScannedLog


def weighted_down(
    logs: Sequence[ScannedLog], loss: Loss, settings: EstimatorSettings
) -> tuple[list[ScannedLog], dict[str, Any]]:
    """Logs whose cells of block and band count as a robust loss says, and the record of it.

    Args:
        logs: those of the carrier alone last.
        loss: "huber" or "student", as of `robust_weights`.
        settings: of the estimate.

    Raises:
        ProblemError: the logs tell no body.
    """
    statistics = [log.summary.statistics for log in logs]
    fit = weighted_least_squares(body_system(statistics, settings), settings.all_terms)
    weights = np.concatenate(robust_weights(fit, loss, settings.all_terms))
    found, shares, start = [], [], 0
    for log, own in zip(logs, statistics, strict=True):
        mine = weights[start : start + len(own)]
        start += len(own)
        summary = replace(log.summary, statistics=weighted_cells(own, mine))
        found.append(log._replace(summary=summary))
        lost = (1.0 - mine) @ own.effective_samples / own.effective_samples.sum()
        shares.append(round(float(lost), 6))
    return found, {"loss": loss, "weighted_down": shares}
