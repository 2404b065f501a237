"""Log files, schemas of their columns, and recordings in SI units."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
