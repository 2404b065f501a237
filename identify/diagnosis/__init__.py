"""What may be wrong with a log, found from its wide statistics: proposed and ranked, never applied.

Nothing here reads a log: a cause comes with the linear map that corrects the statistics, and with
the line of the schema that would say the same.
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
