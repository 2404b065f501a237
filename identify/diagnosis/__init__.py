"""Diagnosis of faults of logs from their statistics: faults are ranked and proposed, not applied.

Nothing here reads a log: a fault has a linear map that corrects the statistics and the equivalent
line of the schema.
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
