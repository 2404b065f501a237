"""Rotation without torque in closed form, and the equations that it solves."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
