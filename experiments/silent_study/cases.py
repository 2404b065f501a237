"""The cases of the study, and the row that each leaves in the store of its results."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from experiments.reports import PIPELINE, ROOT, SHIPPED_LOG
from experiments.silent_study.clean import CleanScore, clean_scored
from experiments.silent_study.faults import faults
from experiments.silent_study.scoring import Score, scored
from experiments.silent_study.several import PREFIX
from identify.reporting.study.summary import numerics_mark
from identify.studies.executor import limit_blas_threads
from identify.studies.keys import code_fingerprint
from identify.studies.options import canonical_json
from identify.studies.rows import Row, failure_columns, now
from identify.studies.work import raise_if_interrupted

STUDY = "silent"
_CLEAN = "clean"
_DECIDING = ("cases.py", "clean.py", "faults.py", "scoring.py", "several.py", "subjects.py")
"""Files of this package that can change a score."""


@dataclass(frozen=True, slots=True)
class Case:
    """A log, and what is done to it.

    Attributes:
        log: its name, or "clean".
        fault: name of what is done; of a clean log its number.
        seed: of both.
        key: of its row.
    """

    log: str
    fault: str
    seed: int
    key: str

    def score(self) -> Score | CleanScore:
        """Make the log, and see what is said of it."""
        if self.log == _CLEAN:
            return clean_scored(int(self.fault), self.seed)
        return scored(self.log, self.fault, self.seed)


def all_cases(
    logs: Sequence[str], only: str, clean: int, at_once: int, seed: int
) -> Iterator[Case]:
    """The cases of a study.

    Args:
        logs: names of those that are made wrong.
        only: in the name of what is done to each of them in turn.
        clean: how many clean logs.
        at_once: how many times several things are done at once, to one log after the other.
        seed: of all of them.
    """
    here = Path(__file__).parent
    files = [*(here / name for name in _DECIDING), *(ROOT / name for name in SHIPPED_LOG)]
    made_by = [numerics_mark(PIPELINE, files), list(code_fingerprint().versions)]
    pairs = [(log, fault.name) for log in logs for fault in faults() if only in fault.name]
    pairs += [(logs[number % len(logs)], f"{PREFIX}{number}") for number in range(at_once)]
    pairs += [(_CLEAN, str(number)) for number in range(clean)]
    for log, fault in pairs:
        text = canonical_json([log, fault, seed, made_by])
        yield Case(log, fault, seed, hashlib.sha256(text.encode()).hexdigest())


def run_cases(cases: Sequence[Case]) -> tuple[list[Row], float]:
    """Score cases on a worker; whatever one raises becomes part of its row.

    Returns:
        Rows in the order of the cases, and the processor time they took [s].
    """
    limit_blas_threads()
    began = time.thread_time()
    return [_name(case) | _outcome(case) for case in cases], time.thread_time() - began


def failed_cases(cases: Sequence[Case], kind: str, message: str) -> list[Row]:
    """Rows of cases that no worker could finish."""
    return [_name(case) | failure_columns(kind, message) for case in cases]


def score_of(row: Row) -> Score | CleanScore:
    """Return the score in the row of a case."""
    kind = CleanScore if row["log"] == _CLEAN else Score
    values: dict[str, Any] = {one.name: row[f"score_{one.name}"] for one in fields(kind)}
    return kind(**{name: _read(value) for name, value in values.items()})


def _name(case: Case) -> Row:
    """The columns that say which case it is."""
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
        outcome = _columns(case.score()) | {"status": "scored", "finished": now()}
    except BaseException as error:  # noqa: BLE001 - what a case raises is its row
        raise_if_interrupted(error)
        outcome = failure_columns(type(error).__name__, str(error))
    return outcome | {"seconds": time.perf_counter() - began}


def _columns(score: Score | CleanScore) -> Row:
    return {f"score_{name}": _kept(value) for name, value in asdict(score).items()}


def _kept(value: Any) -> str | float | bool | None:
    """As a column has it: words in JSON, and nothing where there is no number."""
    if isinstance(value, tuple):
        return json.dumps(value)
    return None if value != value else value


def _read(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("["):
        return tuple(json.loads(value))
    return float("nan") if value is None else value
