"""Payload settings of robot controllers: the body about the flange, in each maker's words.

    payload_setting("ur", body.in_frame(X_FB)).text     set_target_payload(...)

Each says what of the body it could not be given (`lost`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.exchange.controllers.registry import CONTROLLERS as CONTROLLERS
    from identify.exchange.controllers.registry import HEAVIEST as HEAVIEST
    from identify.exchange.controllers.registry import Export as Export
    from identify.exchange.controllers.registry import payload_setting as payload_setting
else:
    __getattr__, __dir__, __all__ = attach(
        __name__, {"registry": ("CONTROLLERS", "HEAVIEST", "Export", "payload_setting")}
    )
