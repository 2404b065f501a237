"""Payload settings of robot controllers: the body about the flange, in each maker's format.

    payload_setting("ur", body.in_frame(X_FB)).text     set_target_payload(...)

Each lists the information on the body that the setting cannot hold (`lost_information`).
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
