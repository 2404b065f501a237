"""Cases of the study, and their rows in the store of results."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from experiments.reports import DRAWS, PIPELINE, ROOT, SHIPPED_LOG
from experiments.silent_study.clean import CleanScore, score_clean_log
from experiments.silent_study.faults import faults
from experiments.silent_study.scoring import Score, score_perturbation
from experiments.silent_study.several import PREFIX
from identify.reporting.study.summary import numerics_fingerprint_line
from identify.studies.executor import limit_blas_threads
from identify.studies.keys import code_fingerprint
from identify.studies.options import canonical_json
from identify.studies.rows import Row, current_time_text, failure_columns
from identify.studies.work import raise_if_interrupted

STUDY = "silent"
_CLEAN = "clean"
_SCORE_MODULES = ("cases.py", "clean.py", "faults.py", "scoring.py", "several.py", "subjects.py")
"""Modules of this package that can change a score."""


@dataclass(frozen=True, slots=True)
class Case:
    """A log and its perturbation.

    Attributes:
        log: name of the log, or "clean".
        fault: name of the perturbation; for a clean log, its number.
        seed: seed of log and perturbation.
        key: key of its row.
    """

    log: str
    fault: str
    seed: int
    key: str

    def score(self) -> Score | CleanScore:
        """Make the log and score its findings and estimate."""
        if self.log == _CLEAN:
            return score_clean_log(int(self.fault), self.seed)
        return score_perturbation(self.log, self.fault, self.seed)


def all_cases(
    logs: Sequence[str], only: str, clean: int, at_once: int, seed: int
) -> Iterator[Case]:
    """Yield the cases of a study.

    Args:
        logs: names of the logs to perturb.
        only: text that names of perturbations must contain.
        clean: number of clean logs.
        at_once: number of combined perturbations, of the logs in turn.
        seed: seed of all cases.
    """
    here = Path(__file__).parent
    files = [
        *(here / name for name in _SCORE_MODULES),
        *(ROOT / name for name in (*SHIPPED_LOG, DRAWS)),
    ]
    code = [numerics_fingerprint_line(PIPELINE, files), list(code_fingerprint().versions)]
    pairs = [(log, fault.name) for log in logs for fault in faults() if only in fault.name]
    pairs += [(logs[number % len(logs)], f"{PREFIX}{number}") for number in range(at_once)]
    pairs += [(_CLEAN, str(number)) for number in range(clean)]
    for log, fault in pairs:
        text = canonical_json([log, fault, seed, code])
        yield Case(log, fault, seed, hashlib.sha256(text.encode()).hexdigest())


def run_cases(cases: Sequence[Case]) -> tuple[list[Row], float]:
    """Score cases on a worker; exceptions become part of their rows.

    Returns:
        Rows in the order of the cases, and their processor time [s].
    """
    limit_blas_threads()
    began = time.thread_time()
    return [_name(case) | _outcome(case) for case in cases], time.thread_time() - began


def failed_cases(cases: Sequence[Case], kind: str, message: str) -> list[Row]:
    """Return the rows of cases that no worker could finish."""
    return [_name(case) | failure_columns(kind, message) for case in cases]


def score_of(row: Row) -> Score | CleanScore:
    """Return the score in the row of a case."""
    kind = CleanScore if row["log"] == _CLEAN else Score
    values: dict[str, Any] = {field.name: row[f"score_{field.name}"] for field in fields(kind)}
    return kind(**{name: _from_column(value) for name, value in values.items()})


def _name(case: Case) -> Row:
    """Return the columns that identify a case."""
    return {
        "key": case.key,
        "code": code_fingerprint().short,
        "study": STUDY,
        "log": case.log,
        "perturbation": case.fault,
        "seed": case.seed,
    }


def _outcome(case: Case) -> Row:
    began = time.perf_counter()
    try:
        outcome = _columns(case.score()) | {"status": "scored", "finished": current_time_text()}
    except BaseException as error:  # noqa: BLE001 - a failed case is a row
        raise_if_interrupted(error)
        outcome = failure_columns(type(error).__name__, str(error))
    return outcome | {"seconds": time.perf_counter() - began}


def _columns(score: Score | CleanScore) -> Row:
    return {f"score_{name}": _to_column(value) for name, value in asdict(score).items()}


def _to_column(value: Any) -> str | float | bool | None:
    """Convert a value for a column: tuples as JSON, NaN as None."""
    if isinstance(value, tuple):
        return json.dumps(value)
    return None if value != value else value


def _from_column(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("["):
        return tuple(json.loads(value))
    return float("nan") if value is None else value
