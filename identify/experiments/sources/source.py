"""`Source`: one `[[logs]]` table of a study file; `LogItem`: one of the logs that it names."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from identify.arrays import Phi, Vec3
from identify.experiments.options import Options, Scalar
from identify.logs import Recording

MOST_LOGS = 100_000
"""Logs a study may have: more is most likely a slip, and each is kept in memory."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The true body, for the metrics; of it an estimator may be told the mass, if it asks.

    Attributes:
        phi: the ten parameters about Bo in B, shape (10,).
        sides: sides of its bounding box along the axes of B [m], shape (3,), where known.
    """

    phi: Phi
    sides: Vec3 | None = None


@dataclass(frozen=True, slots=True)
class LogItem:
    """One log of a study, small enough to send to a worker, which loads it.

    Attributes:
        name: in the results; no two logs of a study share it.
        data: digest of the log's data, of all its files: the seeds of noise are made of it.
        identity: digest of all that decides what is loaded (data, schema, truth): part of the key.
        load: reads or makes the log, and the true body where it is known; it pickles. It raises
            `LogError` where the log cannot be read as its schema says.
        options: columns of the results that describe the log.
    """

    name: str
    data: str
    identity: str
    load: Callable[[], tuple[Recording, Truth | None]]
    options: Mapping[str, Scalar] = field(default_factory=dict)


def joint_digest(parts: Sequence[str]) -> str:
    """The sha256 of several digests or texts (hexadecimal)."""
    return hashlib.sha256(" ".join(parts).encode("utf-8")).hexdigest()


class Source(Options):
    """Base of the sources of logs."""

    @abstractmethod
    def logs(self, folder: Path, seed: int) -> Sequence[LogItem]:
        """The logs, in a fixed order; their files are hashed, not read.

        Args:
            folder: of the study file: relative paths begin there.
            seed: of the study: synthetic logs are made of it.

        Raises:
            StudyError: it names no log.
            DatasetError: a data set is not there.
        """
