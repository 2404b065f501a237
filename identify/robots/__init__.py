"""Robot arms as trees of links: URDF models, kinematics of frames, joint-torque regressors."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
