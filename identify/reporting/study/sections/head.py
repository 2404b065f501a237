"""What ran."""

from __future__ import annotations

import platform
from collections import Counter

from identify.experiments.progress import duration
from identify.reporting.study.markdown import code, table
from identify.reporting.study.study_rows import StudyRows

_SHOWN = 8


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
