"""`identify datasets list`, `fetch` and `path`: list, download and locate public data sets."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Outcome, option
from identify.commands.output import print_text
from identify.texts import escape_unprintable

if TYPE_CHECKING:
    from rich.table import Table

    from identify.catalog import Dataset

_TABLE_HEADER = ("name", "what", "licence", "here")


@dataclass(frozen=True, slots=True)
class DatasetsList(Command):
    """List the public data sets, or the files of one, and whether they are on this machine.

    If the output is not a terminal, columns are separated by tabs.
    """

    name: Annotated[str | None, Positional, option("[NAME]")] = None
    """Data set whose licence, citation, layout and file locations are printed."""

    def run(self, invocation: str) -> Outcome:
        """List all data sets, or describe the named one."""
        from identify.catalog import dataset_names, find_dataset

        names = dataset_names() if self.name is None else (self.name,)
        datasets = list(map(find_dataset, names))

        def document() -> dict[str, object]:
            return {"datasets": list(map(_dataset_record, datasets))}

        if self.name is not None:
            return Outcome(lines=_describe_dataset(*datasets), document=document)
        rows = [
            (data.name, data.description, data.licence, _describe_state(data)) for data in datasets
        ]
        if sys.stdout.isatty():
            return Outcome(lines=[_format_table(rows)], document=document)
        tabbed = ("\t".join(map(escape_unprintable, row)) for row in (_TABLE_HEADER, *rows))
        return Outcome(text="".join(f"{row}\n" for row in tabbed), document=document)


@dataclass(frozen=True, slots=True)
class DatasetsFetch(Command):
    """Download and verify a public data set.

    Prints its folder. A complete copy on this machine or in the mirror IDENTIFY_DATA is used
    without a download. Exit status: 2 if the data set is not available; the message says which
    files to place where.
    """

    name: Annotated[str, Positional, option("NAME", "(required)")]
    """Name of the data set."""

    def run(self, invocation: str) -> Outcome:
        """Find or download the data set."""
        from identify.catalog import fetch, find_dataset

        dataset = find_dataset(self.name)
        shown = partial(print_text, file=sys.stderr)  # the output is the folder alone
        folder = fetch(dataset, progress=shown if sys.stderr.isatty() else None)
        notes = [f"{len(dataset.files)} files, {dataset.size / 1e6:.1f} MB, sha256 verified"]
        if dataset.not_downloaded:
            notes.insert(0, f"{dataset.name}: using the local copy: {dataset.not_downloaded}")
        return Outcome(lines=[str(folder)], messages=notes, document=lambda: {"folder": folder})


@dataclass(frozen=True, slots=True)
class DatasetsPath(Command):
    """Print the folder of a public data set on this machine, after verifying its files.

    Nothing is downloaded. Exit status: 2 if the data set is missing or damaged.
    """

    name: Annotated[str, Positional, option("NAME", "(required)")]
    """Name of the data set."""

    def run(self, invocation: str) -> Outcome:
        """Find the data set."""
        from identify.catalog import dataset_path

        folder = dataset_path(self.name)
        return Outcome(lines=[str(folder)], document=lambda: {"folder": folder})


def _format_table(rows: Sequence[Sequence[str]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(*_TABLE_HEADER)
    for row in rows:
        table.add_row(*(Text(escape_unprintable(cell), overflow="fold") for cell in row))
    return table


def _dataset_record(dataset: Dataset) -> Mapping[str, object]:
    keys = ("licence", "citation", "doi", "home", "version")
    names = {"name": dataset.name, "what": dataset.description}
    return (
        names | {key: getattr(dataset, key) for key in keys} | {"state": _describe_state(dataset)}
    )


def _describe_state(dataset: Dataset) -> str:
    """Return the path of a data set, or the reason why it is incomplete."""
    from identify.catalog import find_copy

    copies = find_copy(dataset)
    for holding in copies:
        if holding.complete:
            return str(holding.path)
        if holding.damaged:
            file, reason = next(iter(holding.damaged.items()))
            return f"damaged: {holding.path / file.path} {reason}"
    most_complete = min(copies, key=lambda holding: len(holding.missing))
    missing = len(most_complete.missing)
    if missing < len(dataset.files):
        return f"incomplete: {most_complete.path} lacks {missing} of {len(dataset.files)} files"
    verb = "list" if dataset.not_downloaded else "fetch"
    return f"missing: identify datasets {verb} {dataset.name}"


def _describe_dataset(dataset: Dataset) -> Iterator[str]:
    """Format the registry entry of a data set and the locations of its files."""
    from identify.catalog import find_copy

    entry = {
        "what": dataset.description,
        "licence": ". ".join(filter(None, (dataset.licence, dataset.licence_note))),
        "citation": dataset.citation + (f" doi:{dataset.doi}" if dataset.doi else ""),
        "home": dataset.home,
        "version": dataset.version,
        "schema": str(dataset.schema_path),
        "evidence": dataset.evidence,
        "not downloaded": dataset.not_downloaded,
        "here": _describe_state(dataset),
    }
    yield dataset.name
    yield from (f"  {key}: {text}" for key, text in entry.items() if text)
    yield "  layout:"
    yield from (f"    {line}" for line in dataset.layout.splitlines())
    copies = find_copy(dataset)
    holding = min(copies, key=lambda other: (not other.complete, len(other.missing)))
    if len(holding.missing) == len(dataset.files):
        holding = copies[-1]
    yield f"  files in {holding.path} (sha256, bytes, path):"
    for file in dataset.files:
        state = "missing" if file in holding.missing else holding.damaged.get(file, "")
        source = f" from {file.url}" if state and file.url else ""
        note = f"  [{state}{source}]" if state else ""
        yield f"    {file.sha256} {file.size:>9} {file.path}{note}"
