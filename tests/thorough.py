"""How much a test tries: little in `make test`, much in `make fuzz`."""

import os

import pytest

THOROUGH = os.environ.get("IDENTIFY_THOROUGH", "") not in ("", "0")


def rounds(few: int, many: int) -> int:
    """A number of seeds, logs or damaged files: few, or many with IDENTIFY_THOROUGH=1."""
    return many if THOROUGH else few


many_processes = pytest.mark.skipif(
    "IDENTIFY_KILL_ROUNDS" not in os.environ, reason="one of many processes: `make fuzz` runs it"
)
