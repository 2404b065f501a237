"""What a controller is told of its payload, and what it cannot be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PayloadSetting:
    """A payload in the words of one controller.

    Attributes:
        controller: its name in the registry.
        text: to paste, or to type where the controller has a screen only.
        lost: what the text does not say of the body, one sentence each; none if it says all.
        notes: units, frames and what to see to before it is used.
    """

    controller: str
    text: str
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
