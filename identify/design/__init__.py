"""Motions to log, designed within limits for what they shall identify."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
