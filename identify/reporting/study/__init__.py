"""Tables and figures of a study, in a terminal and as summary.md beside its results."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
