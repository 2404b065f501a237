"""Logs of the public data sets that the catalog knows by name."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import ClassVar

from identify.catalog import DatasetLog, dataset_logs
from identify.errors import StudyError, did_you_mean
from identify.experiments.options import canonical
from identify.experiments.sources.source import LogItem, Source, Truth, joint_digest
from identify.files import digest
from identify.logs import Recording, read_log


class NamedDataset(Source):
    """The logs of a data set of the catalog.

    Attributes:
        name: of the set: "stars". `identify datasets list` shows them.
        only: names of some of its logs, `*` allowed; all where not given.
    """

    kind: ClassVar[str] = "dataset"

    name: str
    only: tuple[str, ...] | None = None

    def logs(self, folder: Path, seed: int) -> Sequence[LogItem]:
        """The logs of the set that are asked for, in alphabetical order, their files verified."""
        found = dataset_logs(self.name)
        patterns = ("*",) if self.only is None else self.only
        names = [log.name for log in found]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                hint = did_you_mean(pattern, names)
                raise StudyError(f"only: {self.name} has no log {pattern!r}{hint}")
        return [
            _item(log) for log in found if any(fnmatchcase(log.name, each) for each in patterns)
        ]


def _item(log: DatasetLog) -> LogItem:
    truth = None if log.truth is None else log.truth.phi.tolist()
    sides = None if log.sides is None else log.sides.tolist()
    return LogItem(
        name=f"{log.dataset}/{log.name}",
        data=log.sha256,
        identity=joint_digest([log.sha256, digest(log.schema), canonical([truth, sides])]),
        load=partial(_load, log),
    )


def _load(log: DatasetLog) -> tuple[Recording, Truth | None]:
    truth = None if log.truth is None else Truth(log.truth.phi, log.sides)
    return read_log(log.path, log.schema), truth
