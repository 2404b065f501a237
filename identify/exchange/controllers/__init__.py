"""Payload settings of robot controllers: the body about the flange, in each maker's words.

    payload_setting("ur", body.in_frame(X_FB)).text     set_target_payload(...)

Each says what of the body it could not be told (`lost`).
"""

from identify.exchange.controllers.payload import (
    FARTHEST,
    HEAVIEST,
    LIGHTEST,
    Payload,
    checked_payload,
)
from identify.exchange.controllers.registry import (
    CONTROLLERS,
    Controller,
    find_controller,
    payload_setting,
)
from identify.exchange.controllers.setting import PayloadSetting

__all__ = [
    "CONTROLLERS",
    "FARTHEST",
    "HEAVIEST",
    "LIGHTEST",
    "Controller",
    "Payload",
    "PayloadSetting",
    "checked_payload",
    "find_controller",
    "payload_setting",
]
