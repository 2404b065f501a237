"""Public data sets: where they come from, what they must hash to, and where they lie here."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
