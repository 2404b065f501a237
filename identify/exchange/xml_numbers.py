"""Numbers in the attributes and texts of XML, with the half units of what was printed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.errors import ModelError
from identify.exchange.xml_document import XmlDocument, XmlElement
from identify.inertia.verdict import half_unit


class PrintedNumbers(NamedTuple):
    """Numbers, and half a unit of the last digit of each."""

    values: Array
    half_units: Array


def parse_numbers(
    document: XmlDocument, element: XmlElement, text: str, what: str, count: int
) -> PrintedNumbers:
    """Numbers between white space.

    Args:
        document: for the file's name in messages.
        element: for the line.
        text: what to parse.
        what: what the numbers are, for the message.
        count: how many there must be.

    Raises:
        ModelFileError: not so many, or one is not a finite decimal number.
    """
    words = text.split()
    if len(words) != count:
        many = "1 number" if count == 1 else f"{count} numbers"
        raise document.error(f"{what}: expected {many}, got {text.strip()[:60]!r}", element)
    values, units = np.empty(count), np.empty(count)
    for i, word in enumerate(words):
        try:
            units[i] = half_unit(word)
        except ModelError as error:
            hint = "; xacro has to be expanded first" if word.startswith("$") else ""
            what = f"{what}: expected a finite decimal number, got {word[:60]!r}{hint}"
            raise document.error(what, element) from error
        values[i] = float(word)
        if not math.isfinite(values[i]):
            raise document.error(f"{what}: {word[:60]!r} is too large a number", element)
    return PrintedNumbers(values, units)


def attribute_numbers(
    document: XmlDocument,
    element: XmlElement,
    name: str,
    count: int,
    default: str | None = None,
) -> PrintedNumbers:
    """Numbers of an attribute; raises as `parse_numbers`, and where it is missing."""
    text = element.attributes.get(name, default)
    if text is None:
        raise document.error(f"<{element.tag}> has no attribute {name!r}", element)
    return parse_numbers(document, element, text, f"<{element.tag} {name}>", count)


def require_mass(document: XmlDocument, element: XmlElement, mass: PrintedNumbers) -> float:
    """A mass, which must not be negative."""
    value = float(mass.values[0])
    if value < 0.0:
        raise document.error(f"a mass of {value:g} kg; expected zero or more", element)
    return value
