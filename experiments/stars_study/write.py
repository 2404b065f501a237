"""The study's tables as Markdown."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version

import pandas as pd

from experiments.stars_study.corruptions import LEVELS
from experiments.stars_study.run import NAMES, Outcome
from identify.arrays import Phi

ESTIMATE = "PSD estimate"
TARGETS = {
    "mass_error": {"low": 0.4, "moderate": 0.9, "high": 1.6},
    "first_moment_error": {"low": 0.9, "moderate": 1.9, "high": 3.5},
}
"""What the means of the PSD estimate are to stay within [%]."""

METRICS = {
    "mass_error": "mass %",
    "first_moment_error": "‖Δh‖/‖h‖ %",
    "com_error": "CoM % of box",
    "inertia_error": "inertia %",
    "riemannian": "Riemannian",
}
_PUBLISHED = {
    "mass_error": "mass_error_percent",
    "com_error": "com_error_percent",
    "inertia_error": "inertia_error_percent",
    "riemannian": "riemannian",
}
_PACKAGES = ("numpy", "scipy", "cvxpy", "clarabel")
_SHOWN_ERRORS = 20


@dataclass(frozen=True, slots=True)
class Study:
    """What ran.

    Attributes:
        outcomes: every fit.
        published: scores of the publication.
        bodies: true parameters of each tool by name.
        seconds: wall time.
        workers: processes.
    """

    outcomes: Sequence[Outcome]
    published: pd.DataFrame
    bodies: dict[str, Phi]
    seconds: float
    workers: int

    @property
    def frame(self) -> pd.DataFrame:
        """The outcomes as a table, in order of level and estimator."""
        frame = pd.DataFrame([asdict(outcome) for outcome in self.outcomes])
        for column in ("level", "estimator", "tool"):
            frame[column] = pd.Categorical(frame[column], frame[column].unique(), ordered=True)
        return frame


def report(study: Study) -> str:
    """The whole report."""
    frame = study.frame
    sections = [
        _head(study, frame),
        _targets(frame),
        _scores(frame, study.published),
        _failures(frame),
        _by_tool(frame, study.bodies),
        _intervals(frame),
        _times(study, frame),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def targets_met(frame: pd.DataFrame) -> bool:
    """Whether the PSD estimate is within every target that the levels run allow to judge."""
    return all(row[-1] == "yes" for row in _target_rows(frame))


def _head(study: Study, frame: pd.DataFrame) -> str:
    tools, seeds = frame["tool"].nunique(), frame["seed"].nunique()
    return (
        "# Noisy fits of the STARS tools\n\n"
        "Written by `make study`; nothing here is entered by hand.\n\n"
        f"{tools} workshop tools on a wrist force-torque sensor, 10 s at 100 Hz, simulated by "
        f"Nadeau, Giamou and Kelly (ICRA 2023), with their white noise on acceleration and wrench; "
        f"pose and twist are exact and never differentiated. {seeds} seed(s) a tool and level, "
        f"default options: low-pass, sensor bias fitted, no prior for the shape, mass not given. "
        f"Means are over tools and seeds, and over the fits that gave an estimate."
    )


def _targets(frame: pd.DataFrame) -> str:
    heads = ("PSD estimate", "noise", "reached", "target", "met")
    return "## Targets\n\n" + table(heads, _target_rows(frame))


def _target_rows(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    chosen = frame[frame["estimator"] == ESTIMATE]
    rows = []
    for level, part in chosen.groupby("level", observed=True):
        for metric, limits in TARGETS.items():
            if level in limits:
                mean, limit = part[metric].mean(), limits[str(level)]
                text = (f"mean {METRICS[metric]}", str(level), f"{mean:.3f}", f"≤ {limit:g}")
                rows.append((*text, _yes(mean <= limit)))
    share, failed = 100.0 * chosen["consistent"].mean(), int(chosen["solver_failed"].sum())
    refused = int((chosen["error"] != "").sum()) - failed
    rows.append(("consistent estimates %", "all", f"{share:.2f}", "100", _yes(share == 100.0)))
    rows.append(("solver failures", "all", str(failed), "0", _yes(failed == 0)))
    rows.append(("fits refused", "all", str(refused), "0", _yes(refused == 0)))
    return rows


def _scores(frame: pd.DataFrame, published: pd.DataFrame) -> str:
    heads = (
        "noise",
        "estimator",
        "consistent %",
        *METRICS.values(),
        "told of 10",
        "solver failures",
        "refused",
    )
    rows = []
    for level in frame["level"].cat.categories:
        for name, part in frame[frame["level"] == level].groupby("estimator", observed=True):
            rows.append((level, str(name), *_score(part)))
        for _, line in published[published["noise"] == level].iterrows():
            values = [
                number(line[_PUBLISHED[metric]]) if metric in _PUBLISHED else "–"
                for metric in METRICS
            ]
            share = f"{line['consistent_percent']:g}"
            rows.append((level, f"published {line['method']}", share, *values, "–", "–", "–"))
    return (
        "## Scores\n\n"
        + table(heads, rows)
        + "\n\nConsistent: Π ≻ 0, of all fits tried. Inertia: about the sensor's origin, relative "
        "to the bounding box. Riemannian: over the consistent estimates only. Told: parameters the "
        "log tells; the others are completed by a stated default body and score as they stand. "
        "Refused: fits that ended with another error than the solver's. Published values are those "
        "of one run of the authors; GEO and HPS know the shape, and CoM errors were cut to whole "
        "numbers."
    )


def _score(part: pd.DataFrame) -> list[str]:
    failed = int(part["solver_failed"].sum())
    return [
        f"{100.0 * part['consistent'].mean():.4g}",
        *(number(part[metric].mean()) for metric in METRICS),
        number(part["told"].mean()),
        str(failed),
        str(int((part["error"] != "").sum()) - failed),
    ]


def _failures(frame: pd.DataFrame) -> str:
    failed = frame[frame["error"] != ""]
    if failed.empty:
        return "## Fits without an estimate\n\nNone."
    grouped = failed.groupby(["estimator", "level", "tool", "error"], observed=True)["seed"]
    rows = [
        (*(str(key) for key in keys), ", ".join(map(str, seeds)))
        for keys, seeds in grouped.unique().items()
    ]
    shown = table(("estimator", "noise", "tool", "error", "seeds"), rows[:_SHOWN_ERRORS])
    more = len(rows) - _SHOWN_ERRORS
    rest = f"\n\n… and {more} more." if more > 0 else ""
    return f"## Fits without an estimate\n\n{shown}{rest}"


def _by_tool(frame: pd.DataFrame, bodies: dict[str, Phi]) -> str:
    chosen = frame[(frame["estimator"] == ESTIMATE) & (frame["level"] != LEVELS[0].name)]
    levels = [level for level in frame["level"].cat.categories if level != LEVELS[0].name]
    if not levels:
        return ""
    shown = {key: METRICS[key] for key in ("mass_error", "first_moment_error", "inertia_error")}
    rows = []
    for name, part in chosen.groupby("tool", observed=True):
        means = part.groupby("level", observed=True)[[*shown, "told"]].mean()
        cells = [
            " / ".join(number(means[key].get(level)) for level in levels) for key in means.columns
        ]
        refused = str(int((part["error"] != "").sum()))
        rows.append((str(name), f"{1e3 * bodies[str(name)][0]:.4g}", *cells, refused))
    heads = ("tool", "mass g", *shown.values(), "told of 10", "no estimate")
    return f"## By tool: the PSD estimate at {' / '.join(levels)} noise\n\n" + table(heads, rows)


def _intervals(frame: pd.DataFrame) -> str:
    chosen = frame[(frame["estimator"] == ESTIMATE) & (frame["level"] != LEVELS[0].name)]
    rows = []
    for level, part in chosen.groupby("level", observed=True):
        hits = pd.DataFrame(part["covered"].tolist(), columns=list(NAMES))
        rows.append((str(level), *(number(100.0 * hits[name].mean(), 3) for name in NAMES)))
        given = [f"({100.0 * hits[name].notna().mean():.0f})" for name in NAMES]
        rows.append(("", *given))
    if not rows:
        return ""
    return (
        "## Intervals: how often a 95 % interval holds the truth [%]\n\n"
        + table(("noise", *NAMES), rows)
        + "\n\nIn parentheses: share of fits that give an interval. These intervals come from "
        "blocks of residuals; noise of the motion, which biases an estimate, is not counted."
    )


def _times(study: Study, frame: pd.DataFrame) -> str:
    worked = frame[frame["error"] == ""]
    rows = []
    for name, part in worked.groupby("estimator", observed=True):
        milliseconds = 1e3 * part["seconds"]
        quantiles = (milliseconds.median(), milliseconds.quantile(0.95))
        rows.append((str(name), *(f"{value:.2f}" for value in quantiles)))
    solvers = worked[worked["estimator"] == ESTIMATE]["solver"].value_counts()
    solved = ", ".join(f"{name} {count}" for name, count in sorted(solvers.items()))
    versions = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
    return (
        "## Times\n\n"
        + table(("estimator", "median ms a fit", "95th percentile"), rows)
        + f"\n\n{len(frame)} fits in {study.seconds:.1f} s of wall time with {study.workers} "
        f"worker(s), reading and preparation included. Solver of the PSD estimates (none: least "
        f"squares was consistent already): {solved}. Python {platform.python_version()}, "
        f"{versions}."
    )


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [
        " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row)
        for row in (heads, ["---"] * len(heads), *rows)
    ]
    return "\n".join(f"| {line} |" for line in lines)


def number(value: float | None, digits: int = 3) -> str:
    """A number with a few significant digits, a dash where there is none."""
    if value is None or value != value:
        return "–"
    return f"{value:.{digits}g}" if abs(value) < 1000.0 else f"{value:.0f}"


def _yes(met: bool) -> str:
    return "yes" if met else "**no**"
