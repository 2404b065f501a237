"""Logs of the public data sets that the catalog knows by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import ClassVar

from identify.catalog import DatasetLog, dataset_logs
from identify.errors import StudyError, did_you_mean
from identify.experiments.options import Scalar, canonical
from identify.experiments.sources.log_item import KnownBody, LoadedLog, Truth
from identify.experiments.sources.source import Place, Source
from identify.files import digest
from identify.logs import read_log


@dataclass(frozen=True, slots=True)
class CatalogLog:
    """One log of a data set.

    Attributes:
        name: the data set's and the log's: "stars/Hammer".
        log: where it lies, and what is known of its body.
        data: digest of the log.
        identity: digest of log, schema, truth and shape together.
        options: none.
    """

    name: str
    log: DatasetLog
    data: str
    identity: str
    options: Mapping[str, Scalar] = field(default_factory=dict)

    def load(self) -> LoadedLog:
        """Read the log; the true mass, the shape and its box may be told to estimators."""
        log = self.log
        recording = read_log(log.path, log.schema)
        if log.truth is None:
            return LoadedLog(recording, None, KnownBody(shape=log.points, sides=log.sides))
        known = KnownBody(mass=log.truth.mass, shape=log.points, sides=log.sides)
        return LoadedLog(recording, Truth(log.truth.phi, log.sides), known)


class NamedDataset(Source):
    """The logs of a data set of the catalog.

    Attributes:
        name: of the set: "stars". `identify datasets list` shows them.
        only: names of some of its logs, `*` allowed; all where not given.
    """

    kind: ClassVar[str] = "dataset"

    name: str
    only: tuple[str, ...] | None = None

    def logs(self, place: Place) -> Sequence[CatalogLog]:
        """The logs of the set that are asked for, in alphabetical order, their files verified."""
        found = dataset_logs(self.name)
        if self.only is not None:
            _require_matches(self.only, [log.name for log in found], self.name)
        return [
            _item(log)
            for log in found
            if self.only is None or any(fnmatchcase(log.name, each) for each in self.only)
        ]


def _item(log: DatasetLog) -> CatalogLog:
    truth = None if log.truth is None else log.truth.phi.tolist()
    sides = None if log.sides is None else log.sides.tolist()
    parts = [log.sha256, digest(log.schema), canonical([truth, sides])]
    parts += [] if log.points is None else [digest(log.points)]
    return CatalogLog(
        name=f"{log.dataset}/{log.name}",
        log=log,
        data=log.sha256,
        identity=hashlib.sha256(" ".join(parts).encode("utf-8")).hexdigest(),
    )


def _require_matches(patterns: Sequence[str], names: Sequence[str], dataset: str) -> None:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            hint = did_you_mean(pattern, names)
            raise StudyError(f"only: {dataset} has no log {pattern!r}{hint}")
