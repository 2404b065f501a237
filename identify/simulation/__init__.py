"""Forward simulation of a free rigid body from its ten parameters.

Names are loaded when first used: a replay needs the fast rollout alone. Those that read the file
of a simulation are of `identify.specification`, which is above `logs`; nothing here uses them.
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
