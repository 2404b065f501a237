from identify.exchange.controllers.registry import (
    CONTROLLERS as CONTROLLERS,
    MAX_PAYLOAD_MASS as MAX_PAYLOAD_MASS,
    Export as Export,
    payload_setting as payload_setting,
)
