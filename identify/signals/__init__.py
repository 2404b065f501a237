"""Preparation of recordings for regression: clock, derivatives, body axes, low-pass."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
