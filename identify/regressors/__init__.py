"""Linear equations in the inertial parameters, and sufficient statistics of logs to solve them."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
