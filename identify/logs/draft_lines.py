"""Lines of a drafted schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeAlias

NEEDS_REVIEW = "(?)"
"""Marker of lines that the user must review."""

SchemaLine: TypeAlias = tuple[str, object, str]
"""Key, value and comment of a line of a schema."""


def format_toml_lines(lines: Sequence[SchemaLine]) -> list[str]:
    """Format TOML lines with their comments."""
    out = []
    for key, value, why in lines:
        text = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        out.append(f"{text:<37} # {why}" if why else text)
    return out
