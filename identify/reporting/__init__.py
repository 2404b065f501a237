"""Figures, tables and the HTML report of a `Result`.

Names are loaded when first used: who prints a table needs no figure.
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
