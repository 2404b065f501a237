"""Data sets of LeRobot: a folder with `meta/info.json` and Parquet files of lists.

Versions 2.0 and 2.1 have a file for each episode, version 3.0 several episodes in one; stamps start
at zero in each episode. `meta/info.json` names the elements of the lists. Without `topic` all
episodes are read, one after the other; `topic = "episode 3"` is one of them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from identify.errors import LogError
from identify.files import read_bytes, wrap_decode_errors
from identify.logs.readers.array_columns import requested_topic
from identify.logs.readers.nested_columns import nested_columns, read_nested
from identify.logs.table import ColumnSource, Table, TableInfo

_EPISODE, _FORMAT = "episode_index", "LeRobot data set"


def read_lerobot(source: ColumnSource) -> Table:
    """Read the requested columns of all episodes, or of the one that the topic names."""
    path = source.path
    files, descriptions = _open(path)
    single_episode = source.layout.topic is not None
    asked = dict.fromkeys((*source.columns, *((_EPISODE,) if single_episode else ())))
    with wrap_decode_errors(path, _FORMAT):
        table = read_nested(replace(source, columns=tuple(asked)), files, descriptions)
    if not single_episode:
        return table
    episodes = table.columns[_EPISODE]
    names = {f"episode {int(number)}": "" for number in np.unique(episodes)}
    number = int(requested_topic(source, names, "episode").split()[1])
    return table.select_rows(np.flatnonzero(episodes == number))


def list_contents(path: Path) -> tuple[TableInfo, ...]:
    """List the columns of a data set."""
    files, descriptions = _open(path)
    with wrap_decode_errors(path, _FORMAT):
        return (TableInfo(tuple(ref.name for ref in nested_columns(files, descriptions))),)


def _open(path: Path) -> tuple[list[pq.ParquetFile], dict[str, object]]:
    """Open the files of all episodes; return also the names of the elements of their lists."""
    with wrap_decode_errors(path, _FORMAT):
        features = json.loads(read_bytes(path / "meta" / "info.json"))["features"]
        descriptions = {name: feature.get("names") for name, feature in features.items()}
        files = [pq.ParquetFile(part) for part in sorted(path.glob("data/**/*.parquet"))]
    if not files:
        raise LogError(f"{path}: a LeRobot data set without data/**/*.parquet", path=path)
    return files, descriptions
