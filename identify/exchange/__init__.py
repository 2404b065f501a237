"""Inertias in files: estimate.json, and the links of URDF, SDF and MJCF models."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
