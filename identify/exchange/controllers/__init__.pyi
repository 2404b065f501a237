from identify.exchange.controllers.registry import (
    CONTROLLERS as CONTROLLERS,
    MAX_CONTROLLER_PAYLOAD as MAX_CONTROLLER_PAYLOAD,
    Export as Export,
    payload_setting as payload_setting,
)
