"""Things a study file names: one table of them a concept, and the nearest name for a wrong one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from identify.errors import StudyError, did_you_mean

T = TypeVar("T")


def by_name(registry: Mapping[str, T], name: str, what: str) -> T:
    """The entry of a registry.

    Args:
        registry: entries by name.
        name: as the study file has it.
        what: "estimator", "metric", …, for the message.

    Raises:
        StudyError: there is none of that name; the nearest is named.
    """
    try:
        return registry[name]
    except KeyError:
        known = ", ".join(registry)
        hint = did_you_mean(name, registry)
        raise StudyError(f"unknown {what} {name!r}{hint}; known are {known}") from None
