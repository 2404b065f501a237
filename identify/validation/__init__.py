"""Held-out scores and replay of an estimate."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
