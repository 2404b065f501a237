"""Which rows of a results folder a table is of: one code's, each cell once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from identify.errors import StudyError
from identify.experiments import Results, Study, open_results
from identify.experiments.code_mark import code_mark

_CELL = ["log", "perturbation", "estimator", "seed"]


def rows_of_study(folder: Path, study: Study) -> Results:
    """The rows of a study's cells, as this code makes them; those of other settings are left out.

    Raises:
        StudyError: there is none.
    """
    results = open_results(folder)
    keys = [cell.key for cell in study.cells()]
    frame: Any = results.frame
    chosen = frame[frame["key"].isin(keys)]
    if chosen.empty:
        raise StudyError(f"{folder}: none of the rows there is of the study {study.name!r}")
    return replace(results, frame=chosen.reset_index(drop=True))


def latest_rows(folder: Path, code: str | None = None) -> Results:
    """The rows of one code, and of two for one cell the later.

    A folder has several rows for a cell where the study's metrics, options or data were changed
    between runs.

    Args:
        folder: of the results.
        code: mark of the code; where not given, this one if it has any rows, else the last that
            wrote some.

    Raises:
        StudyError: no results, of another schema version, or none of that code.
    """
    if code is None:
        code = _last_code(open_results(folder, code="all").frame)
    results = open_results(folder, code=code)
    frame: Any = results.frame
    last = frame.sort_values("finished", kind="stable").drop_duplicates(_CELL, keep="last")
    return replace(results, frame=frame.loc[sorted(last.index)].reset_index(drop=True))


def _last_code(frame: Any) -> str | None:
    if frame.empty or (frame["code"] == code_mark().short).any():
        return None
    return str(frame.loc[frame["finished"].idxmax(), "code"])
