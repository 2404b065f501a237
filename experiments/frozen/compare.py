"""Differences of two results, exact: numbers are equal if their `repr` is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, Final

EXCERPT_LENGTH = 100
MISSING: Final = type("Missing", (), {"__repr__": lambda self: "(missing)"})()
"""Value of a key or an element that only the other result has."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that differs.

    Attributes:
        path: keys that lead to it, and the line of a text.
        before, after: its representation in both results.
    """

    path: tuple[str, ...]
    before: str
    after: str

    def __str__(self) -> str:
        """Return the path and the places of both values from where they differ."""
        pairs = zip_longest(self.before, self.after)
        first = next((k for k, (a, b) in enumerate(pairs) if a != b), 0)
        start = max(0, first - EXCERPT_LENGTH // 3)
        before, after = (_excerpt(text, start) for text in (self.before, self.after))
        return f"{' / '.join(self.path)}\n    {before}\n    {after}"


def differences(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Yield the differences of two documents, texts by line and all else by `repr`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before | after:
            values = before.get(key, MISSING), after.get(key, MISSING)
            yield from differences(*values, (*path, str(key)))
    elif isinstance(before, list) and isinstance(after, list):
        for number, values in enumerate(zip_longest(before, after, fillvalue=MISSING)):
            yield from differences(*values, (*path, str(number)))
    elif isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        if before != after:
            yield from _lines(before.split("\n"), after.split("\n"), path)
    elif repr(before) != repr(after):
        yield Difference(path, repr(before), repr(after))


def _lines(before: list[str], after: list[str], path: tuple[str, ...]) -> Iterator[Difference]:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, start, stop, other_start, other_stop in matcher.get_opcodes():
        if tag != "equal":
            texts = "\n".join(before[start:stop]), "\n".join(after[other_start:other_stop])
            yield Difference((*path, f"line {start + 1}"), *map(repr, texts))


def _excerpt(text: str, start: int) -> str:
    stop = start + EXCERPT_LENGTH
    return "…" * (start > 0) + text[start:stop] + "…" * (len(text) > stop)
