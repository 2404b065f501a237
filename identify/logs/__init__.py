"""Logs: a file and the schema that says what its columns mean become a `Recording` in SI."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
