"""Payload settings of robot controllers: the body about the flange, in each maker's words.

    payload_setting("ur", body.in_frame(X_FB)).text     set_target_payload(...)

Each says what of the body it could not be given (`lost`).
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
