"""Progress of long work, as records of the toolkit's loggers: commands show them."""

from __future__ import annotations

import logging


def log_progress(logger: logging.Logger, work: str, done: int, total: int, unit: str) -> None:
    """Log how much of some work is done, such as 3 of 12 readings.

    The record has `progress`, the pair (done, total), from which a handler tells the time left.
    """
    record = {"progress": (done, total)}
    logger.debug("%s: %d of %d %s", work, done, total, unit, extra=record)


def format_duration(seconds: float) -> str:
    """Format a time in seconds, minutes or hours."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"
