"""What ran, what failed and how long a fit took."""

from __future__ import annotations

import platform
from collections import Counter
from typing import Any

from identify.experiments.code_mark import code_mark, numerics_digest
from identify.experiments.progress import duration
from identify.reporting.study.numerics import STUDY_PACKAGES, numerics_mark
from identify.reporting.study.rows import StudyRows
from identify.reporting.study.wording import code, number, table

_SHOWN = 8
_MOST_MESSAGES = 20
_LONGEST = 300
"""Characters of a message."""


def head(rows: StudyRows) -> str:
    """Title, what was run on what, and with which code."""
    frame, study, run = rows.frame, rows.study, rows.run
    count = str(len(frame))
    if study is not None and len(study) > len(frame):
        count += f" of {len(study)}: the run is not complete"
    facts = [("cells", f"{count}, {int(frame['error_type'].notna().sum())} failed")]
    if study is not None:
        file = "" if study.path is None else f"{code(study.path.name)}, "
        facts.append(("study file", f"{file}seed {study.seed}"))
    logs = Counter(name.rpartition("/")[0] or name for name in rows.labels("log"))
    sources = [f"{count} of {code(source)}" for source, count in logs.most_common()]
    facts += [
        ("logs", f"{logs.total()}: {_first(sources)}"),
        ("perturbations", _named(rows.labels("perturbation"))),
        ("seeds", str(frame["seed"].nunique())),
        ("estimators", _named(rows.labels("estimator"))),
    ]
    if run is not None and run.done:
        said = f"{run.done} cells in {duration(run.seconds)}, {run.workers} workers"
        facts.append(("time", said))
    mark = rows.results.code or ""
    known = rows.results.info.codes.get(mark, {})
    versions = ", ".join(f"{name} {one}" for name, one in known.get("versions", {}).items())
    source = f"source sha256 {str(known.get('source_sha256', ''))[:16]}…"
    python = f"Python {platform.python_version()}"
    facts.append(("code", f"{code(mark)}: {source}, {versions}, {python}"))
    if study is not None and study.path is not None and _is_whole_and_of_this_code(rows):
        facts.append(("numerics", numerics_mark(STUDY_PACKAGES, [study.path])))
    name = study.name if study is not None else rows.results.info.study
    text = f"# Study {name}\n\nWritten by `identify study run`; nothing here is entered by hand."
    return f"{text}\n\n{table(('what', 'which'), facts, words=2)}"


def _is_whole_and_of_this_code(rows: StudyRows) -> bool:
    """Whether every cell of the study has its row, and the code that made them is as it was."""
    whole = rows.study is not None and len(rows.frame) == len(rows.study)
    now = code_mark()
    return whole and rows.results.code == now.short and now.source == numerics_digest()


def _named(labels: list[str]) -> str:
    return f"{len(labels)}: {_first([*map(code, labels)])}"


def _first(words: list[str]) -> str:
    return ", ".join([*words[:_SHOWN], *["…"] * (len(words) > _SHOWN)])


def failures(rows: StudyRows) -> str:
    """What was raised, how often and where."""
    failed = rows.frame[rows.frame["error_type"].notna()]
    text = "## Cells without an estimate\n\n"
    if failed.empty:
        text += "None."
    else:
        said = failed["error_type"] + ": " + failed["error"].fillna("")
        text += _messages(failed.assign(said=said), "error")
    warned = rows.frame[rows.frame["warnings"].notna()]
    if len(warned):
        text += f"\n\n## Warnings\n\n{_messages(warned.assign(said=warned['warnings']), 'warning')}"
    return text


def _messages(subset: Any, what: str) -> str:
    groups = subset.groupby(["estimator", "perturbation", "said"], sort=False)
    found = sorted(groups, key=lambda group: -len(group[1]))
    lines = []
    for (estimator, perturbation, said), part in found[:_MOST_MESSAGES]:
        logs = list(map(code, dict.fromkeys(part["log"])))
        where = ", ".join(logs[:3]) + (f", … ({len(logs)})" if len(logs) > 3 else "")
        names = code(estimator), code(perturbation)
        lines.append((*names, str(len(part)), where, code(said[:_LONGEST])))
    heads = ("estimator", "perturbation", "cells", "logs", what)
    left = len(found) - _MOST_MESSAGES
    return table(heads, lines, words=5) + (f"\n\n… and {left} other messages." if left > 0 else "")


def times(rows: StudyRows) -> str:
    """Median and 95th percentile for each estimator, and what solved it."""
    worked = rows.frame[rows.frame["error_type"].isna()]
    if worked.empty:
        return ""
    lines = []
    for estimator in rows.labels("estimator"):
        part = worked[worked["estimator"] == estimator]
        milliseconds = 1e3 * part["seconds"]
        quantiles = [number(float(milliseconds.quantile(q))) for q in (0.5, 0.95)]
        solvers = part["solver"].value_counts()
        solved = ", ".join(f"{name} {count}" for name, count in sorted(solvers.items()))
        lines.append([code(estimator), *quantiles, solved])
    prepare = 1e3 * float(worked["prepare_seconds"].median())
    return (
        "## Times\n\n"
        + table(("estimator", "median ms a fit", "95th percentile", "solved by"), lines)
        + f"\n\nReading, corrupting and preparing a log, which its estimators share: median "
        f"{number(prepare)} ms. Solver none: least squares was consistent already."
    )
