from identify.exchange.controllers.registry import (
    CONTROLLERS as CONTROLLERS,
    HEAVIEST as HEAVIEST,
    Export as Export,
    payload_setting as payload_setting,
)
