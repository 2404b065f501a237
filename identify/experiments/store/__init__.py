"""Results on disk: a database that one runner writes, and the Parquet table that all read."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
