"""Shapes of uniform density as bodies, point masses, meshes and bounding ellipsoids.

A composed body is the sum of its parts about one point, a bore is subtracted:
`Box(0.1, 0.1, 0.01).body(density=2700.0) - Cylinder(0.02, 0.01).body(density=2700.0)`.
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
