"""Page and tables of `identify benchmark`: scores with intervals, and paired comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from identify.files import write_text
from identify.reporting.content import Section, Text, make_table
from identify.reporting.study.error_tables import scores_section
from identify.reporting.study.intervals import coverage_section
from identify.reporting.study.rows import StudyRows, format_number
from identify.reporting.study.summary import (
    STUDY_PACKAGES,
    failures_section,
    numerics_fingerprint_line,
    overview_section,
)
from identify.reporting.study.writing import page_html, section_markdown
from identify.studies import Results, compare
from identify.studies.metrics import find_heading
from identify.studies.results import default_metrics, mean_interval
from identify.studies.study_log import NotForTask

if TYPE_CHECKING:
    import pandas as pd

BENCHMARK_PACKAGES = (*STUDY_PACKAGES, "diagnosis", "validation", "pipeline")
"""Packages whose numbers the page has."""

OURS = "identify"
"""Label of the estimator with which the others are compared."""

_ERRORS = ("mass_error", "com_distance", "inertia_error", "central_inertia_error", "held_out_error")
_WEAK_EXCITATION = 0.5
"""Factor on the size of motions below which a task is one of weak motion."""

_LEGEND = """Errors are of answers that were not refused. *Rightly answered or refused*: an answer
that is off by more than 10 % of the mass, 20 mm or half of the largest moment ought to be refused,
any other to be given; what is refused without an answer is least squares. The findings that refuse
are below the scores. Processor time and memory of a program are those of its process with its
start; the others run in a worker, whose first fit loads their libraries."""


def write_benchmark(
    parts: Mapping[str, Results],
    not_run: Mapping[str, str],
    folder: Path,
    note: str,
    files: Sequence[Path],
) -> tuple[Path, ...]:
    """Write benchmark.html, .md, .csv and .tex, and return their paths.

    `parts`: results by name of the tasks; `not_run`: why other tasks were not run; `note`: about
    the run, such as its seeds; `files`: of the tasks.
    """
    import pandas as pd

    numerics = f"Numerics: {numerics_fingerprint_line(BENCHMARK_PACKAGES, files)}."
    sections = [Section("about", "Tasks", (Text(note), Text(_LEGEND), Text(numerics)))]
    sections += [Section(name, name, (Text(f"Not run: {why}"),)) for name, why in not_run.items()]
    tables: list[pd.DataFrame] = []
    for name, results in parts.items():
        frame = _with_families(results.frame)
        every = StudyRows(replace(results, frame=frame))
        by_family = replace(results, frame=frame[frame["error_type"] != NotForTask.__name__])
        rows = StudyRows(by_family)
        tables.append(_scores(by_family).assign(tasks=name))
        made = (
            scores_section(rows),
            _pairs_section(by_family),
            coverage_section(rows),
            failures_section(every),
            overview_section(every),
        )
        sections += [
            replace(section, key=f"{name}-{section.key}", title=f"{section.title}: {name}")
            for section in made
            if section is not None
        ]
    frame = pd.concat(tables)
    paths = tuple(folder / f"benchmark.{kind}" for kind in ("html", "md", "csv", "tex"))
    write_text(paths[0], page_html("Benchmark", sections, ()))
    write_text(paths[1], "\n\n".join(["# Benchmark", *map(section_markdown, sections)]) + "\n")
    write_text(paths[2], frame.to_csv(index=False))
    write_text(paths[3], frame.to_latex(index=False, float_format="%.3g", escape=True))
    return paths


def _with_families(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the family of the task as perturbation, and no errors of refused answers."""
    frame = frame.copy()
    if "log_excitation" in frame:
        frame.loc[frame["log_excitation"] < _WEAK_EXCITATION, "perturbation"] += ", weak motion"
    names = [name for name in frame if name in _ERRORS or str(name).startswith("covered_")]
    if "refused" in frame:
        frame.loc[frame["refused"] == 1.0, names] = None
    return frame


def _scores(results: Results) -> pd.DataFrame:
    """Return mean and interval of each score, one row a family, method and score or reason."""
    import pandas as pd

    columns = ["family", "method", "score", "n", "mean", "low", "high"]
    rows = []
    for key, part in results.frame.groupby(["perturbation", "estimator"], sort=False):
        scores = {name: part[name] for name in default_metrics(results)}
        texts = part.loc[part["error_type"].isna(), "reasons"].fillna("")
        reasons = texts.str.get_dummies(", ").drop(columns="", errors="ignore")
        scores |= reasons.add_prefix("refused: ").to_dict("series")
        rows += [
            (*key, name, len(values), values.mean(), *mean_interval(values))
            for name, column in scores.items()
            if len(values := column.dropna().astype(float))
        ]
    return pd.DataFrame(rows, columns=columns)


def _pairs_section(results: Results) -> Section:
    """Return the section of differences from this toolkit on the same logs."""
    lines = list(_pairs(results))
    heads = ("family", "score", "method", OURS, "other", "difference, 95 %", "better")
    better = sum(line[-1] == "other" for line in lines)
    text = (
        f"Another method is better, beyond its interval, in {better} of {len(lines)} comparisons."
    )
    return Section("pairs", "Compared in pairs", (Text(text), make_table(heads, lines)))


def _pairs(results: Results) -> Iterator[tuple[str, ...]]:
    names = [name for name in _ERRORS if name in results.metrics]
    answered = results.frame.groupby("estimator", sort=False)[names].count().max(axis=1)
    methods = [method for method, count in answered.items() if count and method != OURS]
    for method in methods if answered.get(OURS, 0) else ():
        for row in compare(results, OURS, str(method), names).to_dict("records"):
            low, high = row["low"], row["high"]
            if row["pairs"]:
                first, second, middle, *ends = (
                    format_number(row[key])
                    for key in ("first", "second", "difference", "low", "high")
                )
                difference = f"{middle} [{', '.join(ends)}]"
                mark = "other" if high < 0.0 else OURS if low > 0.0 else ""
                score = find_heading(row["metric"]).text
                yield row["perturbation"], score, str(method), first, second, difference, mark
