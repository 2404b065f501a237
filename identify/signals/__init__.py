"""From a recording to rows ready for regression: clock, derivatives, body axes, low-pass."""

from identify.signals.prepare import prepare
from identify.signals.prepared import PreparedLog, Segment

__all__ = ["PreparedLog", "Segment", "prepare"]
