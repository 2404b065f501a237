"""From a recording to rows ready for regression: clock, derivatives, body axes, low-pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.signals.preparation import prepare as prepare
    from identify.signals.prepared import PreparedLog as PreparedLog
    from identify.signals.prepared import Segment as Segment
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "preparation": ("prepare",),
            "prepared": ("PreparedLog", "Segment"),
        },
    )
