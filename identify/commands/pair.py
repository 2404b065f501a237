"""estimate.json and report.html of one fit: written together, and known apart from those of two."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from identify.commands.output import OutputError, unwritable
from identify.commands.terminal import say
from identify.files import digest, locked, write_together

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

ESTIMATE, REPORT = "estimate.json", "report.html"

_LOCK = f".{ESTIMATE}.lock"
_PATIENCE = 30.0
"""Seconds to wait for another fit to write: what it takes is a moment."""

_HEAD = 4096
"""Bytes of a report that are read for the digest of its estimate."""


def write_pair(folder: Path, result: FitResult, truth: InertialParameters | None) -> None:
    """Write both results of a fit to a folder, or neither; what else is in it stays.

    The report comes first: half of a first pair is a report, and no command takes it for a body.

    Raises:
        OutputError: the system does not let them be written, or another fit writes there and does
            not come to its end.
    """
    from identify.exchange.estimate_json import estimate_text
    from identify.reporting.page import report_html

    text, estimate = report_html(result, truth), folder / ESTIMATE
    report = text.encode("utf-8", errors="backslashreplace")
    try:
        with locked(folder / _LOCK, _PATIENCE):
            note_torn_pair(estimate)
            saved = estimate_text(result.estimate.saved).encode()
            write_together({folder / REPORT: report, estimate: saved})
    except TimeoutError as error:
        raise OutputError(
            folder, f"another fit is writing to it; give another folder ({error})"
        ) from error
    except OSError as error:
        raise unwritable(folder, error) from error


def note_torn_pair(*estimates: Path | None) -> None:
    """Say on standard error of which estimate.json the report beside it is of another estimate."""
    for path in dict.fromkeys(estimates):
        # Twice, as a fit may be at its renames.
        if path is not None and path.name == ESTIMATE and _is_torn(path) and _is_torn(path):
            with contextlib.suppress(BrokenPipeError):  # what is to be written comes first
                say(
                    f"identify: note: {path.with_name(REPORT)} is not the report of {path}: a fit "
                    f"was cut short, or one of them was changed; fit again to have both of one",
                    file=sys.stderr,
                )


def _is_torn(estimate: Path) -> bool:
    """Whether the report beside an estimate names the digest of another."""
    try:
        with estimate.with_name(REPORT).open("rb") as file:
            named = re.search(rb'name="estimate-sha256" content="([0-9a-f]{64})"', file.read(_HEAD))
        return named is not None and named[1].decode() != digest(estimate)
    except OSError:
        return False  # there is no pair, or whoever reads it says what is wrong with it
