"""Marks of what repeats more often in `make fuzz` than in `make test`."""

from typing import Any

import pytest


def few_or_many(few: Any, many: Any) -> list[Any]:
    """Two values of a parameter, of which the second is marked slow."""
    return [few, pytest.param(many, marks=pytest.mark.slow)]


def mostly_slow(values: Any, quick: Any) -> list[Any]:
    """Values of a parameter, all marked slow but those that are quick."""
    slow = pytest.mark.slow
    cases = [(v, v if isinstance(v, tuple) else (v,)) for v in values]
    return [v if v in quick else pytest.param(*case, marks=slow) for v, case in cases]
