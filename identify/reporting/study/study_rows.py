"""`StudyRows`: what the sections of a study's summary are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from identify.experiments import Results, RunSummary, Study
from identify.experiments.metrics import NAMES
from identify.experiments.results import default_metrics
from identify.reporting.study.survivors import failures_counted
from identify.reporting.study.swept import swept_settings

_ERRORS = ("mass_error", "first_moment_error", "relative_inertia_error", "inertia_error")


@dataclass(frozen=True)
class StudyRows:
    """The rows of a study, and what ran.

    Attributes:
        results: rows of one code, each cell once.
        study: what was to run, where it is at hand.
        run: of the run that was just done, where there was one.
    """

    results: Results
    study: Study | None = None
    run: RunSummary | None = None

    @cached_property
    def frame(self) -> Any:
        """The rows as a pandas table; a failed fit is one that is not consistent."""
        return failures_counted(self.results.frame)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics of a single column that some row has."""
        found: Any = self.results.frame
        return tuple(name for name in default_metrics(self.results) if found[name].notna().any())

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """The errors that tables by log have room for: three, the published inertia first."""
        found = [name for name in _ERRORS if name in self.metrics]
        if "inertia_error" in found and self.all_from("stars/"):
            found = [name for name in found if name != "relative_inertia_error"]
        return tuple(found[:3])

    @cached_property
    def swept(self) -> tuple[str, ...]:
        """Columns of the options that vary."""
        return swept_settings(self.results)

    @cached_property
    def interval_names(self) -> tuple[str, ...]:
        """Parameters that some row has an interval and a truth for."""
        columns = {name: f"covered_{name}" for name in NAMES}
        return tuple(
            name
            for name, column in columns.items()
            if column in self.frame and self.frame[column].notna().any()
        )

    def labels(self, column: str) -> list[str]:
        """Logs, corruptions or estimators that have rows, in the order of the study file."""
        there = dict.fromkeys(map(str, self.frame[column].unique()))
        listed = [label for label in self.results.info.order.get(column, ()) if label in there]
        return list(dict.fromkeys([*listed, *there]))

    @property
    def noisy(self) -> list[str]:
        """The corruptions, without the one that leaves logs as they are where there are others."""
        labels = self.labels("perturbation")
        return [label for label in labels if label != "none"] or labels

    def all_from(self, prefix: str) -> bool:
        """Whether every log is of one data set."""
        return bool(self.frame["log"].str.startswith(prefix).all())
