"""SDFormat's `<fluid_added_mass>`: 21 numbers of a symmetric 6×6 matrix, linear first."""

from __future__ import annotations

import itertools

import numpy as np

from identify.arrays import Mat66
from identify.errors import ModelError
from identify.exchange.xml_numbers import parse_numbers
from identify.exchange.xml_text import XmlDocument, XmlElement
from identify.inertia.added_mass import checked_added_mass

_MOTIONS = "xyzpqr"
"""Surge, sway, heave, roll, pitch, yaw."""


def read_added_mass(document: XmlDocument, element: XmlElement | None) -> Mat66 | None:
    """The matrix of a `<fluid_added_mass>`, as it stands in the file; entries not given are zero.

    Args:
        document: for the file's name in messages.
        element: the element, or None.

    Returns:
        Shape (6, 6), or None without one.

    Raises:
        ModelFileError: what is no number, or no added mass (a motion of negative energy).
    """
    if element is None:
        return None
    matrix = np.zeros((6, 6))
    for i, j in itertools.combinations_with_replacement(range(6), 2):
        entry = element.find(_MOTIONS[i] + _MOTIONS[j])
        if entry is not None:
            number = parse_numbers(document, entry, entry.text, f"<{entry.tag}>", 1).values[0]
            matrix[i, j] = matrix[j, i] = number
    try:
        return checked_added_mass(matrix)
    except ModelError as error:
        raise document.error(f"<fluid_added_mass>: {error}", element) from error
