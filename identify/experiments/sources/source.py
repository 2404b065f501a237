"""`Source`: one `[[logs]]` table of a study file, which names one log or many."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from identify.experiments.options import Options
from identify.experiments.sources.log_item import LogItem


@dataclass(frozen=True, slots=True)
class Place:
    """Where a source stands.

    Attributes:
        folder: of the study file: relative paths begin there.
        seed: of the study: synthetic logs are made of it.
    """

    folder: Path
    seed: int


class Source(Options):
    """Base of the sources of logs."""

    @abstractmethod
    def logs(self, place: Place) -> Sequence[LogItem]:
        """The logs, in a fixed order; their files are hashed, not read.

        Raises:
            StudyError: it names no log.
            DatasetError: a data set is not there.
        """
