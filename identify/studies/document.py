"""The study file: TOML, its tables checked key by key, its lists expanded, made a `Study`.

A list where one value is expected is a list of alternatives, and several lists make every
combination:

    [[logs]]
    kind = "synthetic"
    mass = [0.1, 1.0, 10.0]      # three
    duration = [5.0, 20.0]       # times two: six combinations

An option that is a vector itself (three numbers, a list of names) takes a list of lists as its
alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from identify.documents import lookup, read_toml, validate
from identify.errors import LogError, StudyError
from identify.studies.estimators import ESTIMATORS, Estimator, OwnEstimator, is_own
from identify.studies.metrics import METRICS
from identify.studies.options import Options, Positive
from identify.studies.perturbations import PERTURBATIONS
from identify.studies.perturbations.perturbation import Perturbation, PerturbationSequence
from identify.studies.sources import MOST_LOGS, SOURCES
from identify.studies.study import LogItem, NamedEstimator, Published, Study, Target
from identify.texts import plain_name

O = TypeVar("O", bound=Options)
T = TypeVar("T")

Entry: TypeAlias = dict[str, object] | str
"""A table with its `kind`, or the kind alone where there is nothing to add."""

Seed: TypeAlias = Annotated[StrictInt, Field(ge=0, lt=2**64)]

_MOST_COMBINATIONS = 100_000
"""Entries one table may expand to: more is most likely a slip."""


class StudyDocument(BaseModel):
    """A study file.

    Attributes:
        name: of the study.
        seed: from which all that is random is made.
        seeds: how many noises for each log and perturbation, or their numbers.
        metrics: names; all where not given.
        cutoff_hz: of the low-pass [Hz]; chosen for each log where not given.
        timeout: seconds that a trial may take; any time where not given.
        note: text below the scores in the summary.
        targets: what the scores are to keep to.
        published: scores of others to show beside.
        logs, perturbations, estimators: tables, expanded elsewhere.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[StrictStr, Field(min_length=1)]
    seed: Seed
    seeds: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | list[Seed] = 1
    metrics: list[StrictStr] | None = None
    cutoff_hz: Positive | None = None
    timeout: Positive | None = None
    note: StrictStr = ""
    targets: list[Target] = []
    published: Published | None = None
    logs: list[Entry]
    perturbations: list[Entry] = ["none"]
    estimators: list[Entry]


def tables(entries: list[Entry], key: str, where: str) -> Iterator[tuple[dict[str, object], str]]:
    """Each entry as a table, with the words that say where it stands.

    Raises:
        StudyError: there is none.
    """
    if not entries:
        raise StudyError(f"{where}: {key} = []: an empty grid; a study needs at least one")
    for number, entry in enumerate(entries, 1):
        table: dict[str, object] = {"kind": entry} if isinstance(entry, str) else dict(entry)
        yield table, f"{where}: [[{key}]] no. {number}"


def settings_of(
    table: Mapping[str, object], registry: Mapping[str, type[O]], what: str, where: str
) -> list[O]:
    """Every combination of the options in one table, the last key moving fastest.

    Raises:
        StudyError: unknown kind or key (the nearest is named), wrong value, empty list.
    """
    options = dict(table)
    kind = options.pop("kind", None)
    if not isinstance(kind, str):
        raise StudyError(f"{where}: the key 'kind' is missing; one of {', '.join(registry)}")
    with located(where):
        model = lookup(registry, kind, what, StudyError)
        axes = [_alternatives(key, value, model) for key, value in options.items()]
    return [
        validate(model, dict(zip(options, each, strict=True)), f"{where} ({kind})", StudyError)
        for each in combinations(axes, where)
    ]


@contextmanager
def located(where: str) -> Iterator[None]:
    """A `StudyError` that arises within begins with where in the file it did."""
    try:
        yield
    except StudyError as error:
        raise StudyError(f"{where}: {error}") from error


def combinations(axes: Sequence[Sequence[T]], where: str) -> list[tuple[T, ...]]:
    """Every combination of the alternatives, as long as they are not too many to be meant.

    Raises:
        StudyError: they are.
    """
    if prod(map(len, axes)) > _MOST_COMBINATIONS:
        raise StudyError(f"{where}: the lists make more than {_MOST_COMBINATIONS} combinations")
    return list(product(*axes))


def _alternatives(key: str, value: object, model: type[Options]) -> list[object]:
    if not isinstance(value, list):
        return [value]
    if not any(isinstance(entry, list) for entry in value) and key in model.model_fields:
        kind = model.model_fields[key].annotation
        if any(get_origin(each) is tuple for each in (kind, *get_args(kind))):
            return [tuple(value)]
    if not value:
        raise StudyError(f"{key} = []: an empty grid; give it a value, or leave the key out")
    return [tuple(entry) if isinstance(entry, list) else entry for entry in value]


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


def parse_study(content: Mapping[str, object], folder: Path | None = None) -> Study:
    """The study of dictionaries as a TOML file would give them.

    Args:
        content: keys and values.
        folder: where relative paths begin; the current one where not given.

    Raises:
        StudyError: it is not a study.
        DatasetError: a data set it names is not there.
    """
    return _study(content, folder or Path.cwd(), "study", None)


def _study(content: Mapping[str, object], folder: Path, where: str, path: Path | None) -> Study:
    """The study in a file's tables."""
    document = validate(StudyDocument, content, where, StudyError)
    return Study(
        name=document.name,
        seed=document.seed,
        seeds=_seeds(document.seeds, where),
        logs=tuple(_logs(document, folder, where)),
        perturbations=tuple(_perturbations(document.perturbations, where)),
        estimators=tuple(_estimators(document.estimators, folder, where)),
        metrics=_metrics(document.metrics, where),
        cutoff_hz=document.cutoff_hz,
        timeout=document.timeout,
        note=document.note,
        targets=tuple(document.targets),
        published=document.published,
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
    with located(f"{where}: metrics"):
        for name in names:
            lookup(METRICS, name, "metric", StudyError)
    return tuple(name for name in METRICS if name in names)


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


def _estimators(entries: list[Entry], folder: Path, where: str) -> list[NamedEstimator]:
    found = []
    for table, here in tables(entries, "estimators", where):
        label = table.pop("label", None)
        if is_own(table.get("kind")):
            options = _own_estimators(table, folder, here)
        else:
            options = settings_of(table, ESTIMATORS, "estimator", here)
        labels = _labels(label, [each.spelled() for each in options], here)
        found += [NamedEstimator(*pair) for pair in zip(labels, options, strict=True)]
    _require_different([each.label for each in found], "estimator", where)
    return found


def _own_estimators(table: dict[str, object], folder: Path, where: str) -> Sequence[Estimator]:
    """Every combination of the options of one's own estimator."""
    kind = str(table.pop("kind"))
    with located(where):
        axes = [_alternatives(key, value, OwnEstimator) for key, value in table.items()]
        return [
            OwnEstimator.read(kind, dict(zip(table, each, strict=True)), folder)
            for each in combinations(axes, where)
        ]


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


def _sequences(table: dict[str, object], where: str) -> Sequence[tuple[Perturbation, ...]]:
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
