"""Reading and writing of inertias: estimate.json, and links of URDF, SDF and MJCF models."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
