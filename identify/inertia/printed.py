"""How well a printed number tells the one it stood for: half a unit of its last digit."""

from __future__ import annotations

import re

from identify.errors import ModelError

_NUMBER = re.compile(
    r"\s*[+-]?(?P<whole>\d*)(?:\.(?P<digits>\d*))?(?:[eE](?P<power>[+-]?\d+))?\s*",
    re.ASCII,
)


def half_unit(text: str) -> float:
    """Half a unit of the last digit of a number as it is written.

    `0.0120` is right to 0.00005, `1.2e-3` to 0.00005. What has neither decimals nor an exponent
    (`2`, `1.`, `0`) is taken as exact, and so is `0.0`: people write these for what is so.

    Args:
        text: a decimal number.

    Raises:
        ModelError: the text is no decimal number.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or not (match["whole"] or match["digits"]):
        raise ModelError(f"half unit: expected a decimal number, got {text!r}")
    digits = match["digits"] or ""
    plain_zero = float(text) == 0.0 and len(digits) <= 1
    if match["power"] is None and (not digits or plain_zero):
        return 0.0
    power = int(match["power"] or 0) - len(digits)
    return 0.5 * 10.0 ** min(max(power, -323), 308)
