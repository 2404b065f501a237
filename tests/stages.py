"""What the toolkit logs of its stages, as a program that configures `logging` sees it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stages_logged(level: int = logging.INFO) -> Iterator[list[str]]:
    """The messages of the logger "identify" from a level on, as they come."""
    lines: list[str] = []
    logger, handler = logging.getLogger("identify"), logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
