from collections.abc import Iterator
from pathlib import Path

import pytest

from identify.catalog import cache_folder
from tests.catalog.serving import CONTENT, Site, serving


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("IDENTIFY_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert cache_folder().is_relative_to(tmp_path)
    return cache_folder()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def mirror(tmp_path, monkeypatch) -> Path:
    """A mirror with the two files, named by IDENTIFY_DATA."""
    root = tmp_path / "mirror"
    for path, body in CONTENT.items():
        (root / "two_files" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "two_files" / path).write_bytes(body)
    monkeypatch.setenv("IDENTIFY_DATA", str(root))
    return root
