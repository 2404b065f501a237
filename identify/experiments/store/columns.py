"""The table of results: fixed columns first, then what settings and metrics add; sealed on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from identify.errors import StudyError
from identify.experiments.work import Row
from identify.files import write_bytes

if TYPE_CHECKING:
    import pyarrow as pa

RESULTS = "results.parquet"

COLUMNS: Mapping[str, str] = {
    "key": "string",
    "code": "string",
    "study": "string",
    "current": "bool",
    "log": "string",
    "log_data": "string",
    "perturbation": "string",
    "seed": "int64",
    "noise_seed": "string",
    "estimator": "string",
    "estimator_kind": "string",
    "solver": "string",
    "status": "string",
    "error_type": "string",
    "error": "string",
    "warnings": "string",
    "seconds": "double",
    "prepare_seconds": "double",
    "finished": "string",
}
"""Columns that every results file has, and their types."""

VOLATILE = ("seconds", "prepare_seconds", "finished")
"""Columns that differ from run to run; all others come out the same to the bit."""

ORDER = ("code", "log", "perturbation", "estimator", "seed", "key")
"""What rows are sorted by."""


def table_of(rows: Iterable[Row]) -> pa.Table:
    """Rows as a sorted Arrow table.

    A column of options that holds texts as well as numbers becomes one of texts.

    Args:
        rows: each key once.
    """
    import pyarrow as pa

    rows = list(rows)
    names = [*COLUMNS, *sorted({name for row in rows for name in row}.difference(COLUMNS))]
    columns = {name: [row.get(name) for row in rows] for name in names}
    table = pa.table({name: _array(columns[name], COLUMNS.get(name)) for name in names})
    return table.sort_by([(name, "ascending") for name in ORDER])


def write_table(folder: Path, table: pa.Table) -> None:
    """Write `results.parquet`, whole or not at all.

    Its pages carry checksums. The sha256 of the whole file stands between the last page and the
    footer, where readers of Parquet look for nothing.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, write_page_checksum=True)
    content = stream.getvalue().to_pybytes()
    body, footer = content[: -_footer(content)], content[-_footer(content) :]
    write_bytes(folder / RESULTS, body + _digest(body, footer) + footer)


def read_table(folder: Path) -> pa.Table | None:
    """The table of a folder, verified; None where there is none.

    Raises:
        StudyError: it is damaged, or cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / RESULTS
    try:
        content = path.read_bytes()
        footer = _footer(content)
        seal = len(content) - footer - hashlib.sha256().digest_size
        if seal < 0 or content[seal:-footer] != _digest(content[:seal], content[-footer:]):
            raise StudyError(f"{path}: is damaged: its checksum does not hold")
        source = pa.BufferReader(content)
        return pq.read_table(source, use_threads=False, page_checksum_verification=True)
    except FileNotFoundError:
        return None
    except (OSError, pa.ArrowException) as error:
        raise StudyError(f"{path}: cannot be read: {error}; move it away") from error


def _footer(content: bytes) -> int:
    """Length of what follows the last page: the footer, its length, the magic number."""
    return 8 + int.from_bytes(content[-8:-4], "little")


def _digest(body: bytes, footer: bytes) -> bytes:
    digest = hashlib.sha256(body)
    digest.update(footer)
    return digest.digest()


def _array(values: list[Any], kind: str | None) -> pa.Array:
    """A column of the type of that name, or of the one that fits."""
    import pyarrow as pa

    if kind is not None:
        return pa.array(values, type=pa.type_for_alias(kind))
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], type=pa.float64())
    if len(kinds) > 1:
        values = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return pa.array(values)
