"""What ran, what failed and how long a fit took."""

from __future__ import annotations

import platform
from collections import Counter
from typing import Any

from identify.experiments.progress import duration
from identify.reporting.study.rows import StudyRows
from identify.reporting.study.wording import code, number, table

_SHOWN = 8
_MOST_MESSAGES = 20
_LONGEST = 300
"""Characters of a message."""


def head(rows: StudyRows) -> str:
    """Title, what was run on what, and with which code."""
    name = rows.study.name if rows.study is not None else rows.results.info.study
    text = f"# Study {name}\n\nWritten by `identify study run`; nothing here is entered by hand."
    return f"{text}\n\n{table(('what', 'which'), _facts(rows), words=2)}"


def _facts(rows: StudyRows) -> list[tuple[str, str]]:
    frame = rows.frame
    facts = [("cells", _cells(rows))]
    if rows.study is not None:
        file = "" if rows.study.path is None else f"{code(rows.study.path.name)}, "
        facts.append(("study file", f"{file}seed {rows.study.seed}"))
    facts += [
        ("logs", _logs(rows.labels("log"))),
        ("perturbations", _named(rows.labels("perturbation"))),
        ("seeds", str(frame["seed"].nunique())),
        ("estimators", _named(rows.labels("estimator"))),
    ]
    if rows.run is not None and rows.run.done:
        run = rows.run
        facts.append(
            ("time", f"{run.done} cells in {duration(run.seconds)}, {run.workers} workers")
        )
    return [*facts, ("code", _code(rows))]


def _cells(rows: StudyRows) -> str:
    frame = rows.frame
    count = str(len(frame))
    if rows.study is not None and len(rows.study) > len(frame):
        count += f" of {len(rows.study)}: the run is not complete"
    return f"{count}, {int(frame['error_type'].notna().sum())} failed"


def _named(labels: list[str]) -> str:
    shown = ", ".join(map(code, labels[:_SHOWN]))
    return f"{len(labels)}: {shown}{', …' if len(labels) > _SHOWN else ''}"


def _logs(names: list[str]) -> str:
    """How many of each source."""
    groups = Counter(name.rpartition("/")[0] or name for name in names)
    shown = ", ".join(f"{count} of {code(group)}" for group, count in groups.most_common(_SHOWN))
    return f"{len(names)}: {shown}{', …' if len(groups) > _SHOWN else ''}"


def _code(rows: StudyRows) -> str:
    mark = rows.results.code or ""
    known = rows.results.info.codes.get(mark, {})
    versions = ", ".join(f"{name} {one}" for name, one in known.get("versions", {}).items())
    source = str(known.get("source_sha256", ""))[:16]
    return f"{code(mark)}: source sha256 {source}…, {versions}, Python {platform.python_version()}"


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


def _messages(chosen: Any, what: str) -> str:
    groups = chosen.groupby(["estimator", "perturbation", "said"], sort=False)
    found = sorted(groups, key=lambda group: -len(group[1]))
    lines = [
        (code(estimator), code(perturbation), str(len(part)), _where(part), code(said[:_LONGEST]))
        for (estimator, perturbation, said), part in found[:_MOST_MESSAGES]
    ]
    heads = ("estimator", "perturbation", "cells", "logs", what)
    left = len(found) - _MOST_MESSAGES
    return table(heads, lines, words=5) + (f"\n\n… and {left} other messages." if left > 0 else "")


def _where(part: Any) -> str:
    names = list(dict.fromkeys(part["log"]))
    return ", ".join(map(code, names[:3])) + (f", … ({len(names)})" if len(names) > 3 else "")


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
