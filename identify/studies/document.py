"""Reader of study files: TOML tables are validated and expanded to a `Study`.

A list instead of a single value is a list of alternatives, and several lists make every
combination:

    [[logs]]
    kind = "synthetic"
    mass = [0.1, 1.0, 10.0]      # three
    duration = [5.0, 20.0]       # times two: six combinations

An option that is a vector (three numbers, a list of names) takes a list of lists as its
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
from identify.errors import LogError, SchemaError, StudyError
from identify.studies.estimator import Estimator
from identify.studies.estimators import ESTIMATORS, FunctionEstimator, is_function_kind
from identify.studies.metrics import METRICS
from identify.studies.options import Options, Positive
from identify.studies.perturbations import PERTURBATIONS
from identify.studies.perturbations.perturbation import Perturbation, PerturbationSequence
from identify.studies.sources import MAX_LOGS, SOURCES
from identify.studies.study import LogItem, NamedEstimator, Published, Study, Target
from identify.texts import plain_name

OptionsT = TypeVar("OptionsT", bound=Options)
ValueT = TypeVar("ValueT")

TableEntry: TypeAlias = dict[str, object] | str
"""Entry of a list in a study file: a table with its `kind`, or only the kind as text."""

Seed: TypeAlias = Annotated[StrictInt, Field(ge=0, lt=2**64)]

_MAX_COMBINATIONS = 100_000
"""Maximum number of combinations of a table's alternatives; more are probably a mistake."""


class StudyDocument(BaseModel):
    """Validated tables and keys of a study file.

    Attributes:
        name: of the study.
        seed: of all random numbers of the study.
        seeds: number of noise realisations for each log and perturbation, or their numbers.
        metrics: names; all by default.
        cutoff_hz: of the low-pass [Hz]; by default chosen for each log.
        timeout: longest time for a trial [s]; unlimited by default.
        note: text below the scores in the summary.
        targets: limits of the scores.
        published: published scores for comparison.
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
    logs: list[TableEntry]
    perturbations: list[TableEntry] = ["none"]
    estimators: list[TableEntry]


def tables(
    entries: list[TableEntry], key: str, where: str
) -> Iterator[tuple[dict[str, object], str]]:
    """Yield each entry of a study file's list as a table, with its position for messages.

    Raises `StudyError`: there are no entries.
    """
    if not entries:
        raise StudyError(f"{where}: {key} = []: an empty grid; a study needs at least one")
    for number, entry in enumerate(entries, 1):
        table: dict[str, object] = {"kind": entry} if isinstance(entry, str) else dict(entry)
        yield table, f"{where}: [[{key}]] no. {number}"


def expand_table(
    table: Mapping[str, object], registry: Mapping[str, type[OptionsT]], label: str, where: str
) -> list[OptionsT]:
    """Expand a table to every combination of its options; the last key varies fastest.

    Raises `StudyError`: unknown kind or key (the nearest is named), wrong value, empty list.
    """
    options = dict(table)
    kind = options.pop("kind", None)
    if not isinstance(kind, str):
        raise StudyError(f"{where}: the key 'kind' is missing; one of {', '.join(registry)}")
    with prefix_errors(where):
        model = lookup(registry, kind, label, StudyError)
        axes = [_option_alternatives(key, value, model) for key, value in options.items()]
    return [
        validate(model, dict(zip(options, values, strict=True)), f"{where} ({kind})", StudyError)
        for values in combinations(axes, where)
    ]


@contextmanager
def prefix_errors(where: str) -> Iterator[None]:
    """Raise an error of a study, log or schema as a `StudyError` with its position in the file."""
    try:
        yield
    except (StudyError, LogError, SchemaError) as error:
        raise StudyError(f"{where}: {error}") from error


def combinations(alternatives: Sequence[Sequence[ValueT]], where: str) -> list[tuple[ValueT, ...]]:
    """Return every combination of alternatives, one alternative from each list.

    Raises `StudyError`: there are more than `_MAX_COMBINATIONS`.
    """
    if prod(map(len, alternatives)) > _MAX_COMBINATIONS:
        raise StudyError(f"{where}: the lists make more than {_MAX_COMBINATIONS} combinations")
    return list(product(*alternatives))


def _option_alternatives(key: str, value: object, model: type[Options]) -> list[object]:
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
    """Read and check a study file; logs are hashed, but nothing is run.

    Raises:
        StudyError: it is not a study: the message has file, table, key, and the nearest name.
        DatasetError: one of its data sets is missing.
    """
    path = Path(path)
    try:
        content = read_toml(path, StudyError)
    except LogError as error:  # it cannot be read
        raise StudyError(str(error)) from error
    return _build_study(content, path.parent, str(path), path)


def parse_study(content: Mapping[str, object], folder: Path | None = None) -> Study:
    """Return the study of a dictionary with the content of a study file.

    Args:
        content: keys and values.
        folder: base of relative paths; by default the current one.

    Raises:
        StudyError: it is not a study.
        DatasetError: one of its data sets is missing.
    """
    return _build_study(content, folder or Path.cwd(), "study", None)


def _build_study(
    content: Mapping[str, object], folder: Path, where: str, path: Path | None
) -> Study:
    document = validate(StudyDocument, content, where, StudyError)
    return Study(
        name=document.name,
        seed=document.seed,
        seeds=_parse_seeds(document.seeds, where),
        logs=tuple(_parse_logs(document, folder, where)),
        perturbations=tuple(_parse_perturbations(document.perturbations, where)),
        estimators=tuple(_parse_estimators(document.estimators, folder, where)),
        metrics=_parse_metrics(document.metrics, where),
        cutoff_hz=document.cutoff_hz,
        timeout=document.timeout,
        note=document.note,
        targets=tuple(document.targets),
        published=document.published,
        path=path,
    )


def _parse_seeds(seeds: int | list[int], where: str) -> tuple[int, ...]:
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise StudyError(f"{where}: seeds = []: an empty grid; give a number of seeds")
    _require_unique([str(number) for number in numbers], "seed", where)
    return numbers


def _parse_metrics(names: list[str] | None, where: str) -> tuple[str, ...]:
    if names is None:
        return tuple(METRICS)
    if not names:
        raise StudyError(f"{where}: metrics = []: leave the key out for all of them")
    with prefix_errors(f"{where}: metrics"):
        for name in names:
            lookup(METRICS, name, "metric", StudyError)
    return tuple(name for name in METRICS if name in names)


def _parse_logs(document: StudyDocument, folder: Path, where: str) -> Iterator[LogItem]:
    seen: dict[str, str] = {}
    for table, here in tables(document.logs, "logs", where):
        for source in expand_table(table, SOURCES, "source of logs", here):
            with prefix_errors(here):
                logs = source.logs(folder, document.seed)
            for log in logs:
                if log.name in seen:
                    raise StudyError(f"{here}: the log {log.name!r} is in {seen[log.name]} already")
                if len(seen) == MAX_LOGS:
                    raise StudyError(f"{here}: with these the study has more than {MAX_LOGS} logs")
                seen[log.name] = here.removeprefix(f"{where}: ")
                yield log


def _parse_estimators(entries: list[TableEntry], folder: Path, where: str) -> list[NamedEstimator]:
    estimators = []
    for table, here in tables(entries, "estimators", where):
        label = table.pop("label", None)
        if is_function_kind(table.get("kind")):
            options = _expand_function_estimators(table, folder, here)
        else:
            options = expand_table(table, ESTIMATORS, "estimator", here)
        labels = _entry_labels(label, [each.display_name() for each in options], here)
        estimators += [NamedEstimator(*pair) for pair in zip(labels, options, strict=True)]
    _require_unique([each.label for each in estimators], "estimator", where)
    return estimators


def _expand_function_estimators(
    table: dict[str, object], folder: Path, where: str
) -> Sequence[Estimator]:
    """Expand a table of a user's estimator to every combination of its options."""
    kind = str(table.pop("kind"))
    with prefix_errors(where):
        axes = [_option_alternatives(key, value, FunctionEstimator) for key, value in table.items()]
        return [
            FunctionEstimator.read(kind, dict(zip(table, values, strict=True)), folder)
            for values in combinations(axes, where)
        ]


def _parse_perturbations(entries: list[TableEntry], where: str) -> list[PerturbationSequence]:
    perturbations = []
    for table, here in tables(entries, "perturbations", where):
        label = table.pop("label", None)
        sequences = _expand_sequences(table, here)
        names = [" + ".join(step.display_name() for step in steps) for steps in sequences]
        perturbations += [
            PerturbationSequence(name, tuple(step for step in steps if step.kind != "none"))
            for name, steps in zip(_entry_labels(label, names, here), sequences, strict=True)
        ]
    _require_unique([each.label for each in perturbations], "perturbation", where)
    return perturbations


def _expand_sequences(table: dict[str, object], where: str) -> Sequence[tuple[Perturbation, ...]]:
    """Expand a perturbation's table to every combination of its steps' options."""
    if "steps" not in table:
        return [(step,) for step in expand_table(table, PERTURBATIONS, "perturbation", where)]
    steps = table.pop("steps")
    if table:
        raise StudyError(f"{where}: unknown key {next(iter(table))!r} beside 'steps'")
    if not isinstance(steps, list) or not steps:
        raise StudyError(f"{where}: steps: expected a list of tables, got {steps!r}")
    alternatives = [
        expand_table(step, PERTURBATIONS, "perturbation", here.replace("[[steps]]", "step"))
        for step, here in tables(steps, "steps", where)
    ]
    return combinations(alternatives, where)


def _entry_labels(label: object, names: Sequence[str], where: str) -> list[str]:
    """Return the labels of a table's entries: its `label`, with the entry's name if several."""
    if label is None:
        return [plain_name(name) for name in names]
    if not (isinstance(label, str) and label.strip()):
        raise StudyError(f"{where}: label: expected a text, got {label!r}")
    labels = [label] if len(names) == 1 else [f"{label}: {name}" for name in names]
    return [plain_name(text) for text in labels]


def _require_unique(names: Sequence[str], noun: str, where: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise StudyError(f"{where}: duplicate {noun} {name!r}")
        seen.add(name)
