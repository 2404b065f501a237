"""`Study`: what a study file says, checked; its cells in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from identify.documents import lookup, read_toml, validate
from identify.errors import LogError, StudyError, did_you_mean
from identify.experiments.cell import Cell, NamedEstimator, NoisyLog
from identify.experiments.code_mark import code_mark
from identify.experiments.document import (
    Entry,
    StudyDocument,
    combinations,
    located,
    settings_of,
    tables,
)
from identify.experiments.estimators import ESTIMATORS
from identify.experiments.keys import fields_but, key_of
from identify.experiments.metrics import METRICS
from identify.experiments.perturbations.perturbation import Perturbation, PerturbationSequence
from identify.experiments.perturbations.registry import PERTURBATIONS
from identify.experiments.seeds import noise_seed
from identify.experiments.sources.registry import SOURCES
from identify.experiments.sources.source import MOST_LOGS, LogItem
from identify.texts import plain_name

_OLDER_METRICS = {"told": "n_identifiable"}
"""Older names of metrics, which are still read."""

_NOT_OF_A_CELL = (
    *("name", "seed", "seeds", "logs", "perturbations", "estimators"),
    *("timeout", "path"),
)
"""Fields of a study that are no part of each cell's key: a cell has its own log, perturbation, seed
and estimator, and the same study may get more of them. All other fields count."""


@dataclass(frozen=True, slots=True)
class Study:
    """A study: every log with every perturbation and seed, through every estimator.

    Attributes:
        name: of the study.
        seed: from which all that is random is made.
        seeds: numbers of the noises; a perturbation that draws nothing uses the first alone.
        logs, perturbations, estimators: in the order of the file.
        metrics: names.
        cutoff_hz: of the low-pass [Hz], or None.
        timeout: seconds that a cell may take, or None; no part of what a cell is.
        path: the study file, where there is one.
    """

    name: str
    seed: int
    seeds: tuple[int, ...]
    logs: tuple[LogItem, ...]
    perturbations: tuple[PerturbationSequence, ...]
    estimators: tuple[NamedEstimator, ...]
    metrics: tuple[str, ...]
    cutoff_hz: float | None = None
    timeout: float | None = None
    path: Path | None = None

    def noisy_logs(self) -> Iterator[NoisyLog]:
        """Every log with every perturbation and seed; one log's come together."""
        for log in self.logs:
            for perturbation in self.perturbations:
                identity = perturbation.identity()
                for index in self.seeds if perturbation.random else self.seeds[:1]:
                    yield NoisyLog(
                        log=log,
                        perturbation=perturbation,
                        seed_index=index,
                        noise_seed=noise_seed(self.seed, log.data, identity, index),
                        cutoff_hz=self.cutoff_hz,
                    )

    def cells(self) -> Iterator[Cell]:
        """Every cell; those of one noisy log come together."""
        made_by = key_of(fields_but(self, *_NOT_OF_A_CELL), code_mark().short)
        estimators = [(estimator, key_of(estimator)) for estimator in self.estimators]
        for noisy in self.noisy_logs():
            shared = noisy.key()
            for estimator, key in estimators:
                yield Cell(key_of(shared, key, made_by), noisy, estimator)

    def labels(self) -> dict[str, list[str]]:
        """Names of the logs, perturbations and estimators, by their column of the results."""
        return {
            "log": [log.name for log in self.logs],
            "perturbation": [perturbation.label for perturbation in self.perturbations],
            "estimator": [estimator.label for estimator in self.estimators],
        }

    def selected(self, only: Sequence[str]) -> Callable[[Cell], bool]:
        """The test of whether a cell is asked for.

        Args:
            only: `choice=pattern`, as in `estimator=psd` or `log=stars/H*`; a cell must match one
                pattern of each choice that is named.

        Raises:
            StudyError: a choice that does not exist, or a pattern that matches nothing.
        """
        known = self.labels()
        admitted: dict[str, set[str]] = {choice: set() for choice in known}
        for text in only:
            choice, _, pattern = text.partition("=")
            choice = "perturbation" if choice == "corruption" else choice  # an older name of it
            if not pattern:
                expected = " or ".join(f"{each}=NAME" for each in known)
                raise StudyError(f"only {text!r}: expected {expected}")
            if choice not in known:
                raise StudyError(f"only {text!r}: unknown {choice!r}{did_you_mean(choice, known)}")
            names = known[choice]
            found = {name for name in names if name == pattern or fnmatchcase(name, pattern)}
            if not found:
                hint = did_you_mean(pattern, names)
                raise StudyError(f"only {choice}={pattern}: the study has no such {choice}{hint}")
            admitted[choice] |= found
        asked = {choice: names for choice, names in admitted.items() if names}

        def test(cell: Cell) -> bool:
            labels = cell.labels()
            return all(labels[choice] in names for choice, names in asked.items())

        return test

    def __len__(self) -> int:
        """How many cells there are."""
        noises = sum(len(self.seeds) if each.random else 1 for each in self.perturbations)
        return len(self.logs) * noises * len(self.estimators)


def load_study(path: Path | str) -> Study:
    """Read and check a study file; files it names are hashed, nothing runs.

    Raises:
        StudyError: it is not a study: the message has file, table, key, and the nearest name.
        DatasetError: a data set it names is not there.
    """
    path = Path(path)
    try:
        content = read_toml(path, StudyError)
    except LogError as error:  # it cannot be read
        raise StudyError(str(error)) from error
    return _study(content, path.parent, str(path), path)


def parse_study(content: Mapping[str, Any], folder: Path | None = None) -> Study:
    """The study of dictionaries as a TOML file would give them.

    Args:
        content: keys and values.
        folder: where relative paths begin; the current one where not given.

    Raises:
        StudyError: it is not a study.
        DatasetError: a data set it names is not there.
    """
    return _study(content, folder or Path.cwd(), "study", None)


def _study(content: Mapping[str, Any], folder: Path, where: str, path: Path | None) -> Study:
    """The study in a file's tables; `corruptions`, the older name, is read as well."""
    content = dict(content)
    if "corruptions" in content:
        if "perturbations" in content:
            raise StudyError(
                f"{where}: has perturbations, and corruptions, which is their older name; keep one"
            )
        content["perturbations"] = content.pop("corruptions")
    document = validate(StudyDocument, content, where, StudyError)
    return Study(
        name=document.name,
        seed=document.seed,
        seeds=_seeds(document.seeds, where),
        logs=tuple(_logs(document, folder, where)),
        perturbations=tuple(_perturbations(document.perturbations, where)),
        estimators=tuple(_estimators(document.estimators, where)),
        metrics=_metrics(document.metrics, where),
        cutoff_hz=document.cutoff_hz,
        timeout=document.timeout,
        path=path,
    )


def _seeds(seeds: int | list[int], where: str) -> tuple[int, ...]:
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise StudyError(f"{where}: seeds = []: an empty grid; give a number of seeds")
    _require_different([str(number) for number in numbers], "seed", where)
    return numbers


def _metrics(names: list[str] | None, where: str) -> tuple[str, ...]:
    if names is None:
        return tuple(METRICS)
    if not names:
        raise StudyError(f"{where}: metrics = []: leave the key out for all of them")
    wanted = [_OLDER_METRICS.get(name, name) for name in names]
    with located(f"{where}: metrics"):
        for name in wanted:
            lookup(METRICS, name, "metric", StudyError)
    return tuple(name for name in METRICS if name in wanted)


def _logs(document: StudyDocument, folder: Path, where: str) -> Iterator[LogItem]:
    seen: dict[str, str] = {}
    for table, here in tables(document.logs, "logs", where):
        for source in settings_of(table, SOURCES, "source of logs", here):
            with located(here):
                logs = source.logs(folder, document.seed)
            for log in logs:
                if log.name in seen:
                    raise StudyError(f"{here}: the log {log.name!r} is in {seen[log.name]} already")
                if len(seen) == MOST_LOGS:
                    raise StudyError(f"{here}: with these the study has more than {MOST_LOGS} logs")
                seen[log.name] = here.removeprefix(f"{where}: ")
                yield log


def _estimators(entries: list[Entry], where: str) -> list[NamedEstimator]:
    found = []
    for table, here in tables(entries, "estimators", where):
        label = table.pop("label", None)
        options = settings_of(table, ESTIMATORS, "estimator", here)
        labels = _labels(label, [each.spelled() for each in options], here)
        found += [NamedEstimator(*pair) for pair in zip(labels, options, strict=True)]
    _require_different([each.label for each in found], "estimator", where)
    return found


def _perturbations(entries: list[Entry], where: str) -> list[PerturbationSequence]:
    found = []
    for table, here in tables(entries, "perturbations", where):
        label = table.pop("label", None)
        sequences = _sequences(table, here)
        spelled = [" + ".join(step.spelled() for step in steps) for steps in sequences]
        found += [
            PerturbationSequence(name, tuple(step for step in steps if step.kind != "none"))
            for name, steps in zip(_labels(label, spelled, here), sequences, strict=True)
        ]
    _require_different([each.label for each in found], "perturbation", where)
    return found


def _sequences(table: dict[str, Any], where: str) -> Sequence[tuple[Perturbation, ...]]:
    """Every combination of the steps' options: one step in the table, or several in `steps`."""
    if "steps" not in table:
        return [(step,) for step in settings_of(table, PERTURBATIONS, "perturbation", where)]
    steps = table.pop("steps")
    if table:
        raise StudyError(f"{where}: unknown key {next(iter(table))!r} beside 'steps'")
    if not isinstance(steps, list) or not steps:
        raise StudyError(f"{where}: steps: expected a list of tables, got {steps!r}")
    alternatives = [
        settings_of(step, PERTURBATIONS, "perturbation", here.replace("[[steps]]", "step"))
        for step, here in tables(steps, "steps", where)
    ]
    return combinations(alternatives, where)


def _labels(label: object, spelled: Sequence[str], where: str) -> list[str]:
    """The label that was given, with the options where it stands for several; else the options."""
    if label is None:
        return [plain_name(each) for each in spelled]
    if not (isinstance(label, str) and label.strip()):
        raise StudyError(f"{where}: label: expected a text, got {label!r}")
    several = [f"{label}: {each}" for each in spelled]
    return [plain_name(each) for each in ([label] if len(spelled) == 1 else several)]


def _require_different(names: Sequence[str], what: str, where: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise StudyError(f"{where}: the {what} {name!r} is there twice")
        seen.add(name)
