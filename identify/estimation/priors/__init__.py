"""What is known of a body before its log: its shape, an earlier estimate, or nothing."""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
