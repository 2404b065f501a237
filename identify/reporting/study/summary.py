"""Summary of a study: summary.md with figures, and text for a terminal."""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from identify.files import write_bytes, write_text
from identify.progress import format_duration
from identify.reporting.canvas import png_bytes
from identify.reporting.content import (
    TERMINAL_WIDTH,
    Head,
    ReportTable,
    Section,
    Text,
    make_row,
    make_table,
    terminal_lines,
    with_headings,
)
from identify.reporting.study.accuracy import StudyFigure, accuracy_figures
from identify.reporting.study.error_tables import (
    format_score,
    headline_section,
    scores_by_log,
    scores_by_option,
    scores_section,
    targets_section,
)
from identify.reporting.study.intervals import coverage_figures, coverage_section
from identify.reporting.study.rows import (
    StudyRows,
    failure_count,
    format_metric_narrow,
    format_number,
    format_percent,
    inline_code,
    partial_metrics,
    with_count,
)
from identify.reporting.study.writing import page_html, section_markdown
from identify.studies import Results, table
from identify.studies.keys import code_fingerprint, numerics_digest
from identify.studies.metrics import find_heading
from identify.studies.results import DEFAULT_GROUPING, default_metrics, in_study_order

if TYPE_CHECKING:
    import pandas as pd

SUMMARY, PAGE = "summary.md", "summary.html"

_MAX_LISTED_WORDS = 8
"""Maximum number of listed words, such as names of logs."""
_MAX_MESSAGES = 20
"""Maximum number of error messages in a table."""
_MAX_MESSAGE_LENGTH = 300
"""Maximum length of an error message in a table [characters]."""


def overview_section(rows: StudyRows) -> Section:
    """Return the overview of a study: numbers of trials, logs and estimators, time and code."""
    frame = rows.frame
    study = rows.study
    run = rows.run
    count = str(len(frame))
    if study is not None and len(study) > len(frame):
        count += f" of {len(study)}: the run is not complete"
    facts = [("trials", f"{count}, {failure_count(frame)} failed")]
    if study is not None:
        file = "" if study.path is None else f"{inline_code(study.path.name)}, "
        facts.append(("study file", f"{file}seed {study.seed}"))
    logs = Counter(name.rpartition("/")[0] or name for name in rows.labels("log"))
    sources = [f"{count} of {inline_code(source)}" for source, count in logs.most_common()]
    facts += [
        ("logs", f"{logs.total()}: {_join_first_words(sources)}"),
        ("perturbations", _join_labels(rows.labels("perturbation"))),
        ("seeds", str(frame["seed"].nunique())),
        ("estimators", _join_labels(rows.labels("estimator"))),
    ]
    times = [f"{format_duration(rows.seconds)} in all runs"] * bool(rows.seconds)
    if run is not None and run.done:
        workers = f"{run.workers} worker{'s' * (run.workers != 1)}"
        duration = format_duration(run.seconds)
        times.append(f"{run.done} trials in the last one, in {duration}, {workers}")
    facts += [("time", "; ".join(times))] * bool(times)
    mark = rows.results.code or ""
    known = rows.results.info.codes.get(mark, {})
    versions = ", ".join(f"{name} {version}" for name, version in known.get("versions", {}).items())
    source = f"source sha256 {str(known.get('source_sha256', ''))[:16]}…"
    python = f"Python {platform.python_version()}"
    facts.append(("code", f"{inline_code(mark)}: {source}, {versions}, {python}"))
    if study is not None and study.path is not None and _is_complete_and_current(rows):
        facts.append(("numerics", numerics_fingerprint_line(STUDY_PACKAGES, [study.path])))
    return Section("ran", "Run", (make_table(("item", Head("value", "prose")), facts),))


def _is_complete_and_current(rows: StudyRows) -> bool:
    complete = rows.study is not None and len(rows.frame) == len(rows.study)
    current = code_fingerprint()
    return complete and rows.results.code == current.short and current.source == numerics_digest()


def _join_labels(labels: list[str]) -> str:
    return f"{len(labels)}: {_join_first_words([*map(inline_code, labels)])}"


def _join_first_words(words: list[str]) -> str:
    return ", ".join([*words[:_MAX_LISTED_WORDS], *["…"] * (len(words) > _MAX_LISTED_WORDS)])


_SENTENCES = ("StudyError", "NotForTask")


def failures_section(rows: StudyRows) -> Section:
    """Return the section of failed and refused trials: messages with their numbers and logs."""
    raised = rows.frame[rows.frame["error_type"].notna()]
    blocks: list[Text | ReportTable] = [Text("None.")]
    if len(raised):
        # A message of this package is a sentence; a foreign one may be a word.
        text = raised["error_type"] + ": " + raised["error"].fillna("")
        text = text.where(~raised["error_type"].isin(_SENTENCES), raised["error"])
        blocks = [_message_table(raised.assign(text=text), "error")]
    for column, title in (("reasons", "Refused:"), ("warnings", "Warnings:")):
        subset = rows.frame[rows.frame[column].notna()]
        if len(subset):
            table = _message_table(subset.assign(text=subset[column]), column.removesuffix("s"))
            blocks += [Text(title), table]
    return Section("failed", "Trials without an estimate", tuple(blocks))


def _message_table(subset: pd.DataFrame, kind: str) -> ReportTable:
    groups = subset.groupby(["estimator", "perturbation", "text"], sort=False)
    messages = sorted(groups, key=lambda group: -len(group[1]))
    lines = []
    for (estimator, perturbation, text), part in messages[:_MAX_MESSAGES]:
        logs = list(map(inline_code, dict.fromkeys(part["log"])))
        where = ", ".join(logs[:3]) + (f", … ({len(logs)})" if len(logs) > 3 else "")
        names = inline_code(str(estimator)), inline_code(str(perturbation))
        lines.append((*names, str(len(part)), where, inline_code(str(text)[:_MAX_MESSAGE_LENGTH])))
    heads = ("estimator", "perturbation", "trials", "logs", kind)
    remaining = len(messages) - _MAX_MESSAGES
    more = f"… and {remaining} other messages." if remaining > 0 else ""
    return make_table(heads, lines, more, word_columns=5)


def times_section(rows: StudyRows) -> Section | None:
    """Return the section of run times and solvers of each estimator, the fastest first."""
    worked = rows.frame[rows.frame["error_type"].isna()]
    if worked.empty:
        return None
    lines = []
    medians = worked.groupby("estimator")["seconds"].median().sort_values(kind="stable")
    for estimator in medians.index:
        part = worked[worked["estimator"] == estimator]
        milliseconds = 1e3 * part["seconds"]
        quantiles = [format_number(float(milliseconds.quantile(q))) for q in (0.5, 0.95)]
        solvers = part["solver"].value_counts()
        solved = ", ".join(f"{name} {count}" for name, count in sorted(solvers.items()))
        lines.append([inline_code(estimator), *quantiles, solved])
    prepare = 1e3 * float(worked["prepare_seconds"].median())
    note = (
        f"Reading, perturbing and preparing a log, which its estimators share: median "
        f"{format_number(prepare)} ms. Solver none: the least-squares estimate was already "
        "consistent."
    )
    heads = ("estimator", "median ms a fit", "95th percentile", "solved by")
    return Section("times", "Times", (make_table(heads, lines), Text(note)))


STUDY_PACKAGES = (
    *("significance", "relevance", "spatial", "inertia", "logs", "signals", "regressors"),
    *("estimation", "robots", "arms", "studies"),
)
"""Subpackages of `identify` that compute the trials of a study file."""

_DIGEST_DIGITS = 12


def numerics_fingerprint_line(packages: Sequence[str], files: Sequence[Path]) -> str:
    """Return a line with the fingerprint of the code, by which outdated reports are detected.

    Raises `SchemaError`: there is no package of that name; `OSError`: a file cannot be read.
    """
    contents = sorted((path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files)
    study = hashlib.sha256(repr(contents).encode()).hexdigest()
    digest = numerics_digest(packages)[:_DIGEST_DIGITS]
    return f"`{digest}` of {', '.join(packages)}; of the study itself `{study[:_DIGEST_DIGITS]}`"


_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


def _rows_by_columns(
    rows: StudyRows, by: Sequence[str]
) -> Iterator[tuple[*tuple[str, ...], pd.DataFrame]]:
    """Yield the rows of each combination of values of some columns, in the study file's order."""
    table(rows.results, (), by=by)  # raises for an unknown column
    groups = rows.frame.groupby(list(by), sort=False, dropna=False)
    numbers, kinds = groups.ngroup(), groups.size().reset_index()[list(by)]
    ordered = in_study_order(kinds.assign(kind=kinds.index), rows.results.info, by)
    for *values, kind in ordered.itertuples(index=False):
        shown = ("–" if v != v else f"{v:g}" if isinstance(v, float) else str(v) for v in values)
        yield *shown, rows.frame[numbers == kind]


def scores_text(
    results: Results, metrics: Sequence[str] | None = None, by: Sequence[str] = DEFAULT_GROUPING
) -> str:
    """Format means of metrics with intervals, in groups by all but the last of `by`.

    Wide tables are split. A failed fit counts as not consistent; a mean over a part of the
    estimates is shown with their number.

    `metrics`: columns, by default all metrics with a single column and a value; `by`: columns that
    identify a line.
    Raises `StudyError`: the results lack a column; the message names the nearest.
    """
    rows = StudyRows(results)
    names = rows.metrics or default_metrics(results)[:1]
    if metrics:
        names = results.selected_metrics(metrics)
    partial = partial_metrics(rows.frame, names)
    lines, groups = [], []
    trials: dict[str, list[int]] = {}
    for *group, name, part in _rows_by_columns(rows, by):
        cells = {metric: format_score(part, metric, format_metric_narrow) for metric in names}
        cells |= {
            metric: with_count(cells[metric], int(part[metric].count())) for metric in partial
        }
        lines.append(make_row(name, *cells.values(), failure_count(part)))
        groups.append(", ".join(group))
        trials.setdefault(groups[-1], []).append(len(part))
    counts = {group: "–".join(map(str, sorted({min(n), max(n)}))) for group, n in trials.items()}
    titles = {group: f"{group} ({n} trials each)".lstrip() for group, n in counts.items()}
    heads = ["", *(find_heading(name).short_text for name in names), "failed"]
    shown = with_headings([titles[group] for group in groups], lines)
    text = [*terminal_lines(make_table(heads, shown))]
    if any("[" in cell.text for line in lines for cell in line.cells[1:]):
        text.append("[low, high]: 95 % interval over trials, as in summary.html")
    if partial:
        text.append("(n …): number of fits in the mean; the other estimates lack the value")
    if "consistent" in names and rows.frame["error_type"].notna().any():
        text.append("cons.%: of all attempted fits; a failed fit counts as not consistent")
    return "\n".join([*text, *_heading_legend(names)])


def comparison_text(frame: pd.DataFrame, first: str, second: str) -> str:
    """Format a comparison of two estimators: means, paired difference with interval."""
    heads = ["", "A", "B", "B − A", "low", "high ", "B < A", "pairs"]
    same, other = frame[frame["identical"]], frame[~frame["identical"]]
    if other.empty:
        pairs = int(frame.groupby("perturbation")["pairs"].max().sum())
        return f"A: {first}\nB: {second}\nidentical in every metric of all {pairs} pairs"
    groups, lines = [], []
    for record in other.to_dict("records"):
        metric = record["metric"]
        numbers = [record[key] for key in ("first", "second", "difference", "low", "high")]
        cells = [format_metric_narrow(metric, value) for value in numbers]
        cells[-1] += "*" if record["low"] > 0.0 or record["high"] < 0.0 else " "
        better = format_percent(record["better"])
        cells += [better if better == "–" else f"{better} %", str(record["pairs"])]
        groups.append(str(record["perturbation"]))
        lines.append(make_row(find_heading(metric).short_text, *cells))
    shown = terminal_lines(make_table(heads, with_headings(groups, lines)))
    notes = (*_identical_metrics(same), *_comparison_notes(other))
    return "\n".join([f"A: {first}", f"B: {second}", *shown, *notes])


def _identical_metrics(same: pd.DataFrame) -> Iterator[str]:
    """Yield the metrics that are equal for both estimators in all trials, by perturbation."""
    if not same.empty:
        labels = (
            f"{label}: {', '.join(find_heading(name).short_text for name in part['metric'])}"
            for label, part in same.groupby("perturbation", sort=False)
        )
        yield from wrap(f"identical in all pairs: {'; '.join(labels)}", TERMINAL_WIDTH)


def _comparison_notes(frame: pd.DataFrame) -> Iterator[str]:
    logs = int(frame["logs"].max())
    units = f"the {logs} logs, each averaged over its seeds" if logs > 1 else "the seeds"
    yield "low, high: 95 % interval of the difference; * zero is outside"
    yield f"           over {units}"
    yield "B < A: share of the pairs in which B has the smaller value"
    if unpaired := int(frame["unpaired"].max()):
        yield f"pairs: without up to {unpaired} noisy logs that lack a value of A or B"
    yield from _heading_legend(list(frame["metric"].unique()))


def _heading_legend(names: Sequence[str]) -> list[str]:
    """Explain the short headings that differ from the names of the metrics."""
    short = {name: find_heading(name).short_text for name in names}
    entries = [f"{words}: {name}" for name, words in short.items() if words.split()[0] != name]
    legend = "; ".join(text.replace(" ", _NO_BREAK_SPACE) for text in entries)
    return [
        line.replace(_NO_BREAK_SPACE, " ")
        for line in wrap(legend, TERMINAL_WIDTH, break_long_words=False)
    ]


SECTIONS: tuple[Callable[[StudyRows], Section | None], ...] = (
    headline_section,
    overview_section,
    targets_section,
    scores_section,
    scores_by_option,
    failures_section,
    coverage_section,
    scores_by_log,
    times_section,
)
"""Functions that make the sections of a study's summary; each may return None."""

FIGURES: tuple[Callable[[StudyRows], list[StudyFigure]], ...] = (accuracy_figures, coverage_figures)
"""Functions that make the figures of a study's summary."""


def write_summary(rows: StudyRows, folder: Path) -> tuple[Path, ...]:
    """Write the summary as Markdown with PNG figures, and as a page; replace earlier files.

    Returns the paths of the files, summary.md and summary.html first.
    Raises `OSError`: the folder cannot be written to.
    """
    figures = [figure for draw in FIGURES for figure in draw(rows)]
    sections = [section for make in SECTIONS if (section := make(rows))]
    study = rows.results.info.study if rows.study is None else rows.study.name
    title = f"Study {study}"
    origin = "Written by `identify study run`; nothing here is entered by hand."
    text = [f"# {title}\n\n{origin}", *map(section_markdown, sections)]
    pages = sorted(path for path in folder.glob("*.md") if path.name != SUMMARY)
    if pages:
        text[1:1] = ["Other pages: " + ", ".join(f"[{path.stem}]({path.name})" for path in pages)]
    text += ["## Figures"] * bool(figures)
    text += [f"![{figure.title}]({figure.name}.png)\n\n{figure.caption}" for figure in figures]
    write_text(folder / SUMMARY, "\n\n".join(filter(None, text)) + "\n")
    write_text(folder / PAGE, page_html(title, sections, figures))
    paths = [folder / f"{figure.name}.png" for figure in figures]
    for figure, path in zip(figures, paths, strict=True):
        write_bytes(path, png_bytes(figure.figure))
    return (folder / SUMMARY, folder / PAGE, *paths)
