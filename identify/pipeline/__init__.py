"""Complete analyses of logs: fit, check, replay and compensate, each by one call."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
