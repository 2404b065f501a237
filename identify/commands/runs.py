"""Options and messages of the commands that run many things, and take up what was interrupted."""

from __future__ import annotations

import sys
from pathlib import Path

from identify.commands.command import UsageError
from identify.commands.terminal import say

_INTERRUPTED = 130


def require_workers(workers: int | None, command: str) -> None:
    """Raise `UsageError` where `--workers` is no number of processes."""
    if workers is not None and workers < 0:
        raise UsageError(f"{command}: --workers N: expected 0 or more, got {workers}")


def require_time_limit(seconds: float | None, command: str) -> None:
    """Raise `UsageError` where `--timeout` is no time."""
    if seconds is not None:
        from identify.arrays import positive

        positive(seconds, f"{command}: --timeout S", "s", UsageError)


def interrupted(output: Path) -> int:
    """Say that a run was interrupted from the keyboard, and the exit status of it."""
    kept = f"{output} keeps what was done, and the same command takes it up"
    say(f"identify: interrupted; {kept}", file=sys.stderr)
    return _INTERRUPTED
