"""estimate.json and report.html of one fit: written together, and known apart from those of two.

So is the carrier.json of a fit of a payload on its carrier.
"""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from identify.commands.output import OutputError, unwritable
from identify.commands.terminal import say
from identify.files import digest, locked, remove_temporaries, write_together

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

ESTIMATE, CARRIER, REPORT = "estimate.json", "carrier.json", "report.html"

_LOCK = f".{ESTIMATE}.lock"
_PATIENCE = 30.0
"""Seconds to wait for another fit to write: what it takes is a moment."""

_HEAD = 4096
"""Bytes of a report that are read for the digests of its estimates."""

_DIGEST = rb'name="(\w+)-sha256" content="([0-9a-f]{64})"'


def write_pair(
    folder: Path, result: FitResult, truth: InertialParameters | None, *, report: bool = True
) -> None:
    """Write all results of a fit to a folder, or none; what else is in it stays.

    The report comes first: half of a first pair is a report, and no command takes it for a body.
    Where this fit has no carrier, the carrier.json that the report before names goes with it. What
    a killed fit left under temporary names goes too, and without `report` that of an earlier fit.

    Raises:
        OutputError: the system does not let them be written, or another fit writes there and does
            not come to its end.
    """
    from identify.exchange.estimate_json import estimate_text
    from identify.reporting.page import report_html

    text, estimate = report_html(result, truth) if report else "", folder / ESTIMATE
    try:
        with locked(folder / _LOCK, _PATIENCE):
            note_torn_pair(estimate)
            remove_temporaries(estimate, folder / CARRIER, folder / REPORT)
            files = {}
            if report:
                files[folder / REPORT] = text.encode("utf-8", errors="backslashreplace")
            if result.carrier is not None:
                saved = estimate_text(result.carrier.estimate)
                files[folder / CARRIER] = saved.encode()
            files[estimate] = estimate_text(result.estimate).encode()
            left = folder / CARRIER not in files and _names(folder / CARRIER)
            write_together(files)
            if left:
                (folder / CARRIER).unlink()
            if not report:
                (folder / REPORT).unlink(missing_ok=True)
    except TimeoutError as error:
        raise OutputError(
            folder, f"another fit is writing to it; give another folder ({error})"
        ) from error
    except OSError as error:
        raise unwritable(folder, error) from error


def report_is_of(estimate: Path) -> bool:
    """Whether there is a report beside an estimate, and names its digest."""
    return _names(estimate) is True


def note_torn_pair(*estimates: Path | None) -> None:
    """Say on standard error beside which estimate.json or carrier.json the report is of another."""
    for path in dict.fromkeys(estimates):
        # Twice, as a fit may be at its renames.
        if (
            path is not None
            and path.name in (ESTIMATE, CARRIER)
            and _is_torn(path)
            and _is_torn(path)
        ):
            with contextlib.suppress(BrokenPipeError):  # what is to be written comes first
                say(
                    f"identify: note: {path.with_name(REPORT)} is not the report of {path}: a fit "
                    f"was cut short, or one of them was changed; fit again to have both of one",
                    file=sys.stderr,
                )


def _is_torn(estimate: Path) -> bool:
    """Whether the report beside an estimate names the digest of another."""
    return _names(estimate) is False


def _names(estimate: Path) -> bool | None:
    """Whether the report beside an estimate names its digest; None where it names none of it."""
    try:
        with estimate.with_name(REPORT).open("rb") as file:
            named = dict(re.findall(_DIGEST, file.read(_HEAD)))
        said = named.get(estimate.stem.encode())
        return None if said is None else said.decode() == digest(estimate)
    except OSError:
        return None  # there is no pair, or whoever reads it says what is wrong with it
