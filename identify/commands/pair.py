"""estimate.json, result.npz and report.html of one fit: written together, known apart from others.

So is the carrier.json of a fit of a payload on its carrier. The report names the digests of both.
"""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from identify.commands.output import unwritable
from identify.commands.terminal import say
from identify.files import digest, write_together

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

ESTIMATE, CARRIER, REPORT = "estimate.json", "carrier.json", "report.html"
RESULT = "result.npz"

_HEAD = 4096
"""Bytes of a report that are read for the digests of its estimates."""

_DIGEST = rb'name="(\w+)-sha256" content="([0-9a-f]{64})"'


def write_pair(
    folder: Path, result: FitResult, truth: InertialParameters | None, *, report: bool = True
) -> None:
    """Write all results of a fit to a folder, or none; what else is in it stays.

    The report comes first: half of a first pair is a report, and no command takes it for a body.
    Where this fit has no carrier, the carrier.json that the report before names goes with it, and
    without `report` the report of an earlier fit and its result.npz, which is to make it anew.

    Raises:
        OutputError: the system does not let them be written.
    """
    from identify.exchange.estimate_json import estimate_text

    files, stale = {}, []
    if report:
        from identify.pipeline.saved_result import result_bytes
        from identify.reporting.page import report_html

        text = report_html(result, truth)
        files[folder / REPORT] = text.encode("utf-8", errors="backslashreplace")
        files[folder / RESULT] = result_bytes(result, truth)
    else:
        stale += [folder / REPORT, folder / RESULT]
    if result.carrier is not None:
        files[folder / CARRIER] = estimate_text(result.carrier.estimate).encode()
    elif _names(folder / CARRIER):
        stale.append(folder / CARRIER)
    files[folder / ESTIMATE] = estimate_text(result.estimate).encode()
    try:
        write_together(files)
        for path in stale:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def report_is_of(estimate: Path) -> bool:
    """Whether there is a report beside an estimate, and names its digest."""
    return _names(estimate) is True


def note_torn_pair(*estimates: Path | None) -> None:
    """Say on standard error beside which estimate.json or carrier.json the report is of another."""
    for path in filter(None, dict.fromkeys(estimates)):
        if path.name in (ESTIMATE, CARRIER) and _names(path) is False:
            with contextlib.suppress(BrokenPipeError):  # what is to be written comes first
                say(
                    f"identify: note: {path.with_name(REPORT)} is not the report of {path}: a fit "
                    f"was cut short, or one of them was changed; fit again to have both of one",
                    file=sys.stderr,
                )


def _names(estimate: Path) -> bool | None:
    """Whether the report beside an estimate names its digest; None where it names none of it."""
    try:
        with estimate.with_name(REPORT).open("rb") as file:
            named = dict(re.findall(_DIGEST, file.read(_HEAD)))
        said = named.get(estimate.stem.encode())
        return None if said is None else said.decode() == digest(estimate)
    except OSError:
        return None  # there is no pair, or whoever reads it says what is wrong with it
