"""Constraints on a body that are known besides its log, one file each.

A term is added by its file and a line in `TERM_CLASSES`.
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
