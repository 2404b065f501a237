"""The ten inertial parameters of a rigid body: matrices, changes of frame, consistency, shapes."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
