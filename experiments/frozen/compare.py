"""Differences of two results, exact: numbers are equal if their `repr` is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
from typing import Any

EXCERPT = 100
"""Characters of a long value that are printed."""

MISSING = "(missing)"
"""Value of a key or an element that only the other result has."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two values that differ, as text, and the keys that lead to them."""

    path: tuple[str, ...]
    before: str
    after: str

    def __str__(self) -> str:
        """Return the path and both values, long ones from where they differ."""
        pairs = zip(self.before, self.after, strict=False)
        equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        start = max(0, equal - EXCERPT // 3)
        values = [
            "…" * (start > 0) + text[start : start + EXCERPT] + "…" * (len(text) > start + EXCERPT)
            for text in (self.before, self.after)
        ]
        return "\n    ".join([" / ".join(self.path), *values])


def differences(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Yield what differs between two documents, texts by line and all else by `repr`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before | after:
            values = before.get(key, MISSING), after.get(key, MISSING)
            yield from differences(*values, (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        for number, values in enumerate(zip_longest(before, after, fillvalue=MISSING)):
            yield from differences(*values, (*path, str(number)))
    elif isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        a, b = before.split("\n"), after.split("\n")
        for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            if tag != "equal":
                texts = "\n".join(a[i:j]), "\n".join(b[k:m])
                yield Difference((*path, f"line {i + 1}"), *map(repr, texts))
    elif repr(before) != repr(after):
        yield Difference(path, repr(before), repr(after))
