from identify.exchange.controllers.payload import HEAVIEST as HEAVIEST, Export as Export
from identify.exchange.controllers.registry import (
    CONTROLLERS as CONTROLLERS,
    payload_setting as payload_setting,
)
