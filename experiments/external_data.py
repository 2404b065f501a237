"""Data of reports that are not part of the project, and where they are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from identify.catalog.dataset_files import MIRROR_VARIABLE

PUBLIC_LOG = (
    "panda_optoforce",
    "panda_optoforce/run_11-32-28.txt",
    "schemas/panda_optoforce_corrected.toml",
)
"""Name, file and schema of a public log, relative to the folder of data sets."""


def public_log() -> tuple[Path, Path] | None:
    """Return the public log and its schema, or None if they are not available."""
    _, file, schema = PUBLIC_LOG
    folder = Path(os.environ.get(MIRROR_VARIABLE) or os.devnull)
    if (folder / file).is_file() and (folder / schema).is_file():
        return folder / file, folder / schema
    return None


def robots() -> Path:
    """Return the folder of the models installed by pip, near the project or in the environment."""
    beside, prefix = Path(__file__).resolve().parents[2] / "robots", Path(sys.prefix)
    inside = prefix / "lib" / f"python3.{sys.version_info[1]}" / "site-packages" / "cmeel.prefix"
    return beside if beside.is_dir() else inside


def models_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the names and files of the robot models in a folder."""
    for path in sorted(folder.rglob("*.urdf")):
        yield path.relative_to(folder).as_posix().partition("/robots/")[2], path
