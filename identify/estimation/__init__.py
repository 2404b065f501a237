"""Estimators: least squares, cone program with constraints, certificates and intervals."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
