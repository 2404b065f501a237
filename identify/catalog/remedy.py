"""What to do about a data set that is missing or damaged, said so that it can be done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from identify.catalog.dataset import Dataset, DatasetFile
from identify.catalog.errors import DamagedDataset, MissingDataset
from identify.catalog.holdings import Holding
from identify.catalog.places import MIRROR_VARIABLES, Place

_SHOWN = 4
"""Files that a message names one by one; `identify datasets list NAME` names all."""


def missing(found: Sequence[Holding]) -> MissingDataset:
    """The error of a data set that no place holds whole, with how to get it.

    Args:
        found: what the places hold, the cache last; none is complete or damaged.
    """
    dataset = found[-1].dataset
    target = min(reversed(found), key=lambda holding: len(holding.missing))  # the cache in a tie
    return MissingDataset(
        dataset.name,
        [target.path / file.path for file in target.missing],
        f"not on this machine: {_tried(found)}\n{_way(dataset)}"
        f"{by_hand(dataset, target.missing, target.place)}",
    )


def damaged(holding: Holding) -> DamagedDataset:
    """The error of files that differ from what is registered, with how to mend them."""
    first, *others = holding.damaged
    more = f" (and {len(others)} more)" if others else ""
    if not holding.place.is_cache:
        mend = f"replace it with the file as published, or unset {holding.place.variable}"
    elif holding.dataset.not_downloaded:
        mend = "replace it with the file as published"
    else:
        mend = f"`identify datasets fetch {holding.dataset.name}` downloads it again"
    return DamagedDataset(
        holding.dataset.name,
        [file.path for file in holding.damaged],
        f"{first.path} {first.reason}{more}: it is damaged or was changed (line ends count); "
        f"{mend}",
    )


def by_hand(dataset: Dataset, absent: Sequence[DatasetFile], place: Place) -> str:
    """How to place files by hand, a line each: exact path, sha256 and address."""
    lines = [_placed(dataset, file, place.root) for file in absent[:_SHOWN]]
    if len(absent) > _SHOWN:
        count = len(absent) - _SHOWN
        lines.append(f"and {count} more, which `identify datasets list {dataset.name}` names")
    return "place by hand" + "".join(f"\n  {line}" for line in lines)


def _placed(dataset: Dataset, file: DatasetFile, root: Path) -> str:
    source = f"\n    from {file.url}" if file.url else ""
    return f"{root / dataset.folder / file.path}\n    sha256 {file.sha256}{source}"


def _tried(found: Sequence[Holding]) -> str:
    set_ = [holding.place.variable for holding in found if not holding.place.is_cache]
    tried = [_lack(holding) for holding in found]
    return "; ".join(tried if set_ else [f"{MIRROR_VARIABLES[0]} is not set", *tried])


def _lack(holding: Holding) -> str:
    if not holding.place.is_cache and not holding.place.root.is_dir():
        return f"{holding.place} is no folder"
    count, total = len(holding.missing), len(holding.dataset.files)
    return f"{holding.place} lacks {count} of {total} files in {holding.dataset.folder}/"


def _way(dataset: Dataset) -> str:
    if dataset.not_downloaded is None:
        return f"run `identify datasets fetch {dataset.name}`; or, offline, "
    return (
        f"it is not downloaded: {dataset.not_downloaded}\n"
        f"let {MIRROR_VARIABLES[0]} name a folder that holds {dataset.folder}/; or "
    )
