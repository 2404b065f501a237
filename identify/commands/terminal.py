"""Text for a terminal that may not know every character, from logs that may be called anything."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def printable(text: str) -> str:
    r"""The text with control characters and broken ones escaped, as in `\x1b` for escape."""
    return "".join(
        char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text
    )


def escape_what_cannot_be_encoded() -> None:
    """Let standard output and error show characters that their encoding lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def metres(length: float) -> str:
    """A length as a person says it."""
    return f"{length:.3g} m" if length >= 1.0 else f"{1e3 * length:.3g} mm"


def print_table(table: Table, narrowest: int) -> None:
    """Print a table, which may be wider than the terminal: it wraps, rather than cut numbers."""
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False)
    console.width = max(console.width, narrowest)
    with console.capture() as text:  # rich would turn a broken pipe into an exit of its own
        console.print(table)
    print(text.get().rstrip("\n"))
