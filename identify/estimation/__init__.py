"""Estimators: least squares, the cone program of the terms, its certificate and intervals."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
