"""Downloads: by pooch, to a folder of their own, verified, and only then under their name."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from identify.catalog.dataset import Dataset, DatasetFile
from identify.catalog.errors import FetchError
from identify.catalog.holdings import Holding, holdings
from identify.catalog.remedy import by_hand, damaged, missing

if TYPE_CHECKING:
    from requests import Response
    from requests.exceptions import RequestException

_STAGING, _STALE_SECONDS = ".partial-", 86_400.0
_TIMEOUT_SECONDS, _CHUNK_BYTES = 20.0, 1 << 16


def fetch(dataset: str | Dataset, *, progress: Callable[[str], None] | None = None) -> Path:
    """Have a data set on this machine: found and verified, or downloaded to the cache.

    Args:
        dataset: its name.
        progress: called with what is going on, a line a file.

    Returns:
        The folder of the data set, as `dataset_path` gives it.

    Raises:
        UnknownDataset: there is no such data set.
        MissingDataset: it is not here and is not downloaded; the message says why, and how to
            place it by hand.
        DamagedDataset: a file of a mirror differs from what is registered; a mirror is only read.
        FetchError: an address cannot be reached, gives something else than what is registered, or
            the cache cannot be written to. Nothing partial is left.
    """
    found = holdings(dataset)
    for holding in found:
        if holding.complete:
            return holding.path
        if holding.damaged and (not holding.place.is_cache or holding.dataset.not_downloaded):
            raise damaged(holding)
    cache = found[-1]
    if cache.dataset.not_downloaded:
        raise missing(found)
    _download_into(cache, progress or (lambda line: None))
    return cache.path


def _download_into(cache: Holding, progress: Callable[[str], None]) -> None:
    left = [*cache.missing, *(bad.file for bad in cache.damaged)]
    try:
        with _staging(cache.place.root) as staging:
            while left:
                progress(f"downloading {left[0].path}, {left[0].size / 1e6:.1f} MB")
                _download(cache, left, staging)
                left.pop(0)
    except FetchError:
        raise
    except OSError as error:
        raise FetchError(
            cache.dataset.name,
            None,
            f"{cache.place.root} cannot be written to: {error.strerror or error}; make room or "
            f"give the right to write there; or {by_hand(cache.dataset, left, cache.place)}",
        ) from error


def _download(cache: Holding, left: Sequence[DatasetFile], staging: Path) -> None:
    """Download the first of the files that are left, then rename it into place."""
    import pooch
    from requests.exceptions import RequestException

    file, target = left[0], cache.path / left[0].path
    downloader = _Downloader(file.size)
    try:
        with _quiet(pooch.get_logger()):
            whole = pooch.retrieve(
                str(file.url),
                known_hash=f"sha256:{file.sha256}",
                fname=target.name,
                path=staging,
                downloader=cast(Any, downloader),  # pooch's type has other names for its arguments
            )
    except RequestException as error:
        raise _unreachable(cache, left, error) from error
    except ValueError as error:  # of pooch or of `_Measured`: it is not what was registered
        raise _refused(cache, file, downloader) from error
    target.parent.mkdir(parents=True, exist_ok=True)
    os.chmod(whole, 0o644)  # a temporary file is its maker's alone, a cache may be shared
    os.replace(whole, target)


class _Downloader:
    """pooch's HTTP downloader, which stops at what is longer than registered."""

    def __init__(self, size: int) -> None:
        self.size, self.got, self.sha256 = size, 0, hashlib.sha256()

    def __call__(self, url: str, output_file: Any, pooch: Any, check_only: bool = False) -> None:
        """Called by pooch with a temporary name."""
        from pooch import HTTPDownloader

        with ExitStack() as opened, open(output_file, "wb") as file:

            def close_at_last(response: Response, **_: object) -> None:
                opened.callback(response.close)  # pooch leaves that of a failed download open

            get = HTTPDownloader(
                timeout=_TIMEOUT_SECONDS, chunk_size=_CHUNK_BYTES, hooks={"response": close_at_last}
            )
            get(url, _Measured(file, self), pooch)


class _Measured:
    """A file that counts and hashes what is written to it."""

    def __init__(self, file: BinaryIO, tally: _Downloader) -> None:
        self._file, self._tally = file, tally

    def write(self, chunk: bytes) -> int:
        self._tally.got += len(chunk)
        if self._tally.got > self._tally.size:
            raise ValueError("longer than registered")
        self._tally.sha256.update(chunk)
        return self._file.write(chunk)

    def flush(self) -> None:
        """Nothing: the file is flushed when it is closed."""


def _refused(cache: Holding, file: DatasetFile, came: _Downloader) -> FetchError:
    if came.got > file.size:
        got = f"more than the {file.size} bytes registered"
    else:
        got = f"{came.got} bytes with sha256 {came.sha256.hexdigest()}"
    return FetchError(
        cache.dataset.name,
        file.url,
        f"{file.url} gave {got}, expected {file.size} bytes with sha256 {file.sha256}: it has "
        f"changed there, or on the way; nothing was kept",
    )


def _unreachable(
    cache: Holding, left: Sequence[DatasetFile], error: RequestException
) -> FetchError:
    url = left[0].url
    if error.response is not None:
        reason = f"answered HTTP {error.response.status_code}"
    else:
        reason = f"did not give the file ({type(error).__name__})"
    return FetchError(
        cache.dataset.name,
        url,
        f"{url} {reason}; nothing partial was kept. Try again; or "
        f"{by_hand(cache.dataset, left, cache.place)}",
    )


@contextmanager
def _staging(root: Path) -> Iterator[Path]:
    """A folder for partial downloads; those that a killed run left a day ago are removed."""
    root.mkdir(parents=True, exist_ok=True)
    for left in root.glob(f"{_STAGING}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=_STAGING, dir=root) as folder:
        yield Path(folder)


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """pooch would announce each download on standard error; `progress` does."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
