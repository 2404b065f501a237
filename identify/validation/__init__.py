"""Validation of an estimate: held-out scores, residuals and replays of logs."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
