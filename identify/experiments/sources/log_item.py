"""`LogItem`: one log of a study; `LoadedLog`: the log itself, with what is known of its body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from identify.arrays import Phi, Vec3
from identify.experiments.options import Scalar
from identify.logs import Recording


@dataclass(frozen=True, slots=True)
class Truth:
    """The true body, for the metrics; estimators never see it.

    Attributes:
        phi: the ten parameters about Bo in B, shape (10,).
        sides: sides of its bounding box along the axes of B [m], shape (3,), where known.
    """

    phi: Phi
    sides: Vec3 | None = None


@dataclass(frozen=True, slots=True)
class KnownBody:
    """What an estimator may be told of the body besides the log, if its options ask for it.

    Attributes:
        mass: as weighed [kg].
        shape: file of points `x y z` that fill the body, in B [m].
        sides: sides of its bounding box along the axes of B [m], shape (3,).
    """

    mass: float | None = None
    shape: Path | None = None
    sides: Vec3 | None = None


@dataclass(frozen=True, slots=True)
class LoadedLog:
    """A log in memory.

    Attributes:
        recording: without any corruption of the study's.
        truth: the true body, where known.
        known: what estimators may be told.
    """

    recording: Recording
    truth: Truth | None = None
    known: KnownBody = field(default_factory=KnownBody)


class LogItem(Protocol):
    """One log of a study, small enough to send to a worker, which loads it.

    Attributes:
        name: in the results; no two logs of a study share it.
        data: digest of the log's data: the seeds of noise are made of it.
        identity: digest of all that decides what is loaded (data, schema, truth): part of the key.
        options: columns of the results that describe the log.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def data(self) -> str: ...  # noqa: D102
    @property
    def identity(self) -> str: ...  # noqa: D102
    @property
    def options(self) -> Mapping[str, Scalar]: ...  # noqa: D102

    def load(self) -> LoadedLog:
        """Read or make the log.

        Raises:
            LogError: it cannot be read as its schema says.
        """
        ...
