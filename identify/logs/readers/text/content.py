"""The bytes of a text file: unpacked, without byte order mark, and known to be text."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from identify.errors import LogError
from identify.files import check_expansion, read_bytes, unreadable

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 2**24


def read_text_content(path: Path) -> bytes:
    """The content of a text file; one whose name ends in `.gz` is unpacked.

    Raises:
        LogError: it is empty, or not text in an encoding that ASCII is part of.
    """
    content = read_bytes(path)
    if path.suffix.lower() == ".gz":
        content = _unpack(path, content)
    content = content.removeprefix(_BYTE_ORDER_MARK)
    if not content.strip():
        raise LogError(f"{path}: is empty; expected a log with at least one row", path=path)
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise LogError(f"{path}: is text in UTF-16; save it as UTF-8", path=path)
    if b"\0" in content[:65536]:
        raise LogError(
            f"{path}: is not text but a binary file; expected delimited text, or a file whose name "
            "ends in .parquet or .npz",
            path=path,
        )
    return content


def _unpack(path: Path, packed: bytes) -> bytes:
    pieces, size = [], 0
    try:
        with gzip.open(io.BytesIO(packed)) as file:
            while piece := file.read(_CHUNK):
                size += len(piece)
                check_expansion(path, len(packed), size)
                pieces.append(piece)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error, "gzip file") from error
    return b"".join(pieces)
