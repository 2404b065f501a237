"""Torque-free rotation in closed form, and Euler's equations."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
