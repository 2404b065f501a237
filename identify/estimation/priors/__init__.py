"""Priors of a body: its shape, an earlier estimate, the default ball, or none."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
