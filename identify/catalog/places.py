"""Where the files of public data sets may lie: mirrors that the environment names, the cache."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

MIRROR_VARIABLES = ("IDENTIFY_DATA", "IDENTIFY_SHARED_DATA")
"""Environment variables that may name a local mirror, the first that is complete counts."""

_PROJECT = "inertia-identify"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with one folder a data set in it.

    Attributes:
        root: the folder.
        variable: the environment variable that names it; None for the cache.
    """

    root: Path
    variable: str | None = None

    @property
    def is_cache(self) -> bool:
        """Whether downloads go there; a mirror is only ever read."""
        return self.variable is None

    def __str__(self) -> str:
        return f"the cache {self.root}" if self.is_cache else f"{self.variable}={self.root}"


def places() -> tuple[Place, ...]:
    """The mirrors that the environment names, then the cache."""
    mirrors: dict[Path, str] = {}
    for name in MIRROR_VARIABLES:
        if value := os.environ.get(name):
            mirrors.setdefault(Path(os.path.abspath(os.path.expanduser(value))), name)
    return (*(Place(root, name) for root, name in mirrors.items()), Place(cache_folder()))


def cache_folder() -> Path:
    """The folder that downloads go to: the system's for caches, below it ours.

    On Linux that is `$XDG_CACHE_HOME/inertia-identify`, by default `~/.cache/inertia-identify`.
    """
    import pooch

    return Path(os.path.abspath(pooch.os_cache(_PROJECT)))
