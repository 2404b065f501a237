"""Downloads, by pooch: verified under a temporary name, and only then under their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from identify.catalog.holdings import Holding, by_hand, first_complete, look_for, missing
from identify.catalog.registry import Dataset, DatasetFile
from identify.errors import DatasetError

_TIMEOUT_SECONDS, _CHUNK_BYTES = 20.0, 1 << 16


class FetchError(DatasetError, OSError):
    """A download failed; what it brought was not kept.

    Attributes:
        url: the address, or None where nothing could be written.
    """

    def __init__(self, message: str, url: str | None = None) -> None:
        self.url = url
        super().__init__(message)


def fetch(dataset: str | Dataset, *, progress: Callable[[str], None] | None = None) -> Path:
    """Have a data set on this machine: found and verified, or downloaded to the cache.

    Args:
        dataset: its name.
        progress: called with what is going on, a line a file.

    Returns:
        The folder of the data set, as `dataset_path` gives it.

    Raises:
        DatasetError: there is no such data set.
        MissingDataset: it is not here and is not downloaded; the message says why, and how to
            place it by hand.
        DamagedDataset: a file of a mirror differs from what is registered; a mirror is only read.
        FetchError: an address cannot be reached, gives something else than what is registered, or
            the cache cannot be written to. Nothing partial is left.
    """
    found = look_for(dataset)
    cache = found[-1]
    may_download = cache.dataset.not_downloaded is None
    if path := first_complete(found, cache_may_be_damaged=may_download):
        return path
    if not may_download:
        raise missing(found)
    left = [*cache.missing, *cache.damaged]
    for k, file in enumerate(left):
        if progress is not None:
            progress(f"downloading {file.path}, {file.size / 1e6:.1f} MB")
        _download(cache, left[k:])
    return cache.path


def _download(cache: Holding, left: Sequence[DatasetFile]) -> None:
    """Download the first of the files that are left."""
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")  # it would announce each download, as `progress` does
    file, name, got = left[0], cache.dataset.name, 0

    def stream(url: str, temporary: str, _: object) -> None:
        """Download to a temporary name, no more than the length that is registered."""
        nonlocal got
        with (
            requests.get(url, stream=True, timeout=_TIMEOUT_SECONDS) as response,
            open(temporary, "wb") as content,
        ):
            response.raise_for_status()
            for chunk in response.iter_content(_CHUNK_BYTES):
                got += len(chunk)
                if got > file.size:
                    raise ValueError("it is longer than registered; nothing was kept")
                content.write(chunk)

    try:
        cache.path.mkdir(parents=True, exist_ok=True)
        downloader: Any = stream  # pooch's type has other names for its arguments
        whole = pooch.retrieve(
            str(file.url), f"sha256:{file.sha256}", file.path, cache.path, downloader=downloader
        )
        os.chmod(whole, 0o644)  # a temporary file is its maker's alone, a cache may be shared
    except requests.RequestException as error:
        reason = f"did not give the file ({type(error).__name__})"
        if error.response is not None:
            reason = f"answered HTTP {error.response.status_code}"
        again = f"nothing partial was kept. Try again; or {by_hand(cache, left)}"
        raise FetchError(f"{name}: {file.url} {reason}; {again}", file.url) from error
    except ValueError as error:  # of pooch or of `stream`: it is not what was registered
        what = f"{got} bytes, expected {file.size}: {error}"
        raise FetchError(f"{name}: {file.url} gave {what}", file.url) from error
    except OSError as error:
        raise FetchError(
            f"{name}: {cache.root} cannot be written to: {error.strerror or error}; make "
            f"room or give the right to write there; or {by_hand(cache, left)}"
        ) from error
