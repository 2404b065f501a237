"""Motions to log, designed within limits so that a log of them identifies inertial parameters."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
