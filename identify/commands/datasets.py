"""`identify datasets list`, `fetch` and `path`: the public data sets and whether they are here."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Outcome, option
from identify.commands.output import print_text
from identify.texts import printable

if TYPE_CHECKING:
    from rich.table import Table

    from identify.catalog import Dataset

_HEADER = ("name", "what", "licence", "here")


@dataclass(frozen=True, slots=True)
class DatasetsList(Command):
    """List the public data sets, or the files of one, and say what is on this machine.

    Where the output is not a terminal the columns are separated by tabs.
    """

    name: Annotated[str | None, Positional, option("[NAME]")] = None
    """A data set: its licence, citation and layout, and where each file is or has to be placed."""

    def run(self, invocation: str) -> Outcome:
        """List all data sets, or the entry of one."""
        from identify.catalog import dataset_names, find_dataset

        names = dataset_names() if self.name is None else (self.name,)
        found = list(map(find_dataset, names))
        rows = [(each.name, each.description, each.licence, _state(each)) for each in found]
        plain = self.name is None and not sys.stdout.isatty()
        return Outcome(
            text="".join(map(_tabbed, (_HEADER, *rows))) if plain else "",
            lines=() if plain else [_table(rows)] if self.name is None else _entry(*found),
            document=lambda: {"datasets": list(map(_record, found))},
        )


@dataclass(frozen=True, slots=True)
class DatasetsFetch(Command):
    """Have a public data set on this machine: found and verified, or downloaded to the cache.

    Prints its folder. A mirror that IDENTIFY_DATA names is used where it has the data set. Exit
    status: 2 when it cannot be had; the message says which file to place where.
    """

    name: Annotated[str, Positional, option("NAME", "(required)")]
    """The data set."""

    def run(self, invocation: str) -> Outcome:
        """Find or download it."""
        from identify.catalog import fetch, find_dataset

        dataset = find_dataset(self.name)
        shown = partial(print_text, file=sys.stderr)  # the output is the folder alone
        folder = fetch(dataset, progress=shown if sys.stderr.isatty() else None)
        notes = [f"{len(dataset.files)} files, {dataset.size / 1e6:.1f} MB, sha256 verified"]
        if dataset.not_downloaded:
            notes.insert(0, f"{dataset.name} is used as placed here: {dataset.not_downloaded}")
        return Outcome(lines=[str(folder)], messages=notes, document=lambda: {"folder": folder})


@dataclass(frozen=True, slots=True)
class DatasetsPath(Command):
    """Print the folder of a public data set that is on this machine, its files verified.

    Nothing is downloaded. Exit status: 2 when it is missing or damaged.
    """

    name: Annotated[str, Positional, option("NAME", "(required)")]
    """The data set."""

    def run(self, invocation: str) -> Outcome:
        """Find it."""
        from identify.catalog import dataset_path

        folder = dataset_path(self.name)
        return Outcome(lines=[str(folder)], document=lambda: {"folder": folder})


def _tabbed(row: Sequence[str]) -> str:
    return "\t".join(map(printable, row)) + "\n"


def _table(rows: Sequence[Sequence[str]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(*_HEADER)
    for row in rows:
        table.add_row(*(Text(printable(cell), overflow="fold") for cell in row))
    return table


def _record(dataset: Dataset) -> Mapping[str, object]:
    """What the document says of a data set."""
    keys = ("licence", "citation", "doi", "home", "version")
    record = {"name": dataset.name, "what": dataset.description}
    return record | {name: getattr(dataset, name) for name in keys} | {"state": _state(dataset)}


def _state(dataset: Dataset) -> str:
    """Where the data set is, or what it lacks."""
    from identify.catalog import locate

    found = locate(dataset)
    for holding in found:
        if holding.complete:
            return str(holding.path)
        if holding.damaged:
            file, reason = next(iter(holding.damaged.items()))
            return f"damaged: {holding.path / file.path} {reason}"
    fewest = min(found, key=lambda holding: len(holding.missing))
    lacks = len(fewest.missing)
    if lacks < len(dataset.files):
        return f"incomplete: {fewest.path} lacks {lacks} of {len(dataset.files)} files"
    verb = "list" if dataset.not_downloaded else "fetch"
    return f"missing: identify datasets {verb} {dataset.name}"


def _entry(dataset: Dataset) -> Iterator[str]:
    """All that is registered about a data set, then where its files are."""
    from identify.catalog import locate

    said = {
        "what": dataset.description,
        "licence": ". ".join(filter(None, (dataset.licence, dataset.licence_note))),
        "citation": dataset.citation + (f" doi:{dataset.doi}" if dataset.doi else ""),
        "home": dataset.home,
        "version": dataset.version,
        "schema": str(dataset.schema_path),
        "evidence": dataset.evidence,
        "not downloaded": dataset.not_downloaded,
        "here": _state(dataset),
    }
    yield dataset.name
    yield from (f"  {key}: {text}" for key, text in said.items() if text)
    yield "  layout:"
    yield from (f"    {line}" for line in dataset.layout.splitlines())
    found = locate(dataset)
    holding = min(found, key=lambda other: (not other.complete, len(other.missing)))
    if len(holding.missing) == len(dataset.files):
        holding = found[-1]
    yield f"  files in {holding.path} (sha256, bytes, path):"
    for file in dataset.files:
        state = "missing" if file in holding.missing else holding.damaged.get(file, "")
        source = f" from {file.url}" if state and file.url else ""
        note = f"  [{state}{source}]" if state else ""
        yield f"    {file.sha256} {file.size:>9} {file.path}{note}"
