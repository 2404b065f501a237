"""Public data sets: their sources, checksums and local copies."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
