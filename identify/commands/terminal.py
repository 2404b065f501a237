"""Text for a terminal that may not know every character, from logs that may be called anything."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, TextIO

from identify.texts import printable

if TYPE_CHECKING:
    from rich.table import Table

    from identify.validation import ReplayErrors


def escape_what_cannot_be_encoded() -> None:
    """Let standard output and error show characters that their encoding lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def say(*lines: object, file: TextIO | None = None) -> None:
    """Print lines, whatever they hold, to standard output or to another file, at once."""
    for line in lines:
        print(printable(str(line)), file=file, flush=True)


def pose_error(errors: ReplayErrors) -> str:
    """How far the pose is off at the end, in position and attitude, as a person says it."""
    length, angle = float(errors.position[-1]), math.degrees(float(errors.attitude[-1]))
    shown = f"{length:.3g} m" if length >= 1.0 else f"{1e3 * length:.3g} mm"
    return f"{shown} and {angle:.3g}°"


def beside_noise(noise: ReplayErrors | None) -> str:
    """What errors of a replay are to be held against, as the end of a sentence; "." for nothing."""
    return "." if noise is None else f"; noise of the wrench alone makes {pose_error(noise)}."


def print_table(table: Table, narrowest: int) -> None:
    """Print a table, which may be wider than the terminal: it wraps, rather than cut numbers."""
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False, markup=False)  # names are no markup
    console.width = max(console.width, narrowest)
    with console.capture() as text:  # rich would turn a broken pipe into an exit of its own
        console.print(table)
    print(text.get().rstrip("\n"))
