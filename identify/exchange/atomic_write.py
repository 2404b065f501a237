"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_bytes(path: Path, content: bytes) -> None:
    """Write under a temporary name beside `path`, then rename; the folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_text(path: Path, content: str) -> None:
    """Write text in UTF-8 as `write_bytes` does; what it has no bytes for, as its code."""
    write_bytes(path, content.encode("utf-8", errors="backslashreplace"))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
