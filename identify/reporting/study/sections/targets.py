"""What the estimate is held to on the STARS tools, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from identify.reporting.study.markdown import table
from identify.reporting.study.published import TARGETED, TARGETS, published_levels
from identify.reporting.study.study_rows import StudyRows
from identify.reporting.study.wording import heading, percent


def targets(rows: StudyRows) -> str:
    """Reached beside wanted; nothing where the study is another one."""
    lines = target_lines(rows)
    if not lines:
        return ""
    heads = (f"estimator {TARGETED}", "noise", "reached", "target", "met")
    return f"## Targets\n\n{table(heads, lines, words=2)}"


def target_lines(rows: StudyRows) -> list[tuple[str, ...]]:
    """One line a target: what, noise, reached, target, met."""
    levels = published_levels(rows.results)
    chosen = rows.frame[rows.frame["estimator"] == TARGETED]
    chosen = chosen[chosen["perturbation"].isin(list(levels))]
    if chosen.empty:
        return []
    ordered = {name: levels[name] for name in rows.labels("perturbation") if name in levels}
    return [*_errors(chosen, ordered), *_failures(chosen)]


def _errors(chosen: Any, levels: dict[str, str]) -> Iterator[tuple[str, ...]]:
    for corruption, level in levels.items():
        part = chosen[chosen["perturbation"] == corruption]
        for metric, limits in TARGETS.items():
            if level in limits and metric in part:
                mean, limit = float(part[metric].mean()), limits[level]
                what = f"mean {heading(metric).text}"
                yield what, level, f"{mean:.3f}", f"≤ {limit:g}", _yes(mean <= limit)


def _failures(chosen: Any) -> Iterator[tuple[str, ...]]:
    if "consistent" in chosen:
        share = float(chosen["consistent"].fillna(0.0).mean())
        yield "consistent, of all tried %", "all", percent(share), "100", _yes(share == 1.0)
    solver = int((chosen["error_type"] == "SolveError").sum())
    others = int(chosen["error_type"].notna().sum()) - solver
    yield "failures of the solver", "all", str(solver), "0", _yes(solver == 0)
    yield "fits refused", "all", str(others), "0", _yes(others == 0)


def _yes(met: bool) -> str:
    return "yes" if met else "**no**"
