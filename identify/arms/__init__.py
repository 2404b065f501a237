"""Robot arms from joint positions and torques: loads, and the parameters of the arm itself."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
