"""Shapes of even density as bodies; points, densities, and an ellipsoid around them.

A body of parts is the sum of theirs about one point, a bore is taken away with a minus:
`Box(0.1, 0.1, 0.01).body(density=2700.0) - Cylinder(0.02, 0.01).body(density=2700.0)`.
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
