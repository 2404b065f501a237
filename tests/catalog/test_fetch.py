import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from identify.catalog import (
    dataset_path,
    fetch,
)
from identify.errors import DatasetError
from tests.catalog.serving import CONTENT, dataset


def left_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path, and every folder of partial downloads."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
        if path.is_file() or path.name.startswith(".")
    }


WHOLE = {f"two_files/{path}": body for path, body in CONTENT.items()}


def test_download_is_complete_and_reused(site, cache):
    two = dataset(site.url)
    assert fetch(two) == dataset_path(two) == cache / "two_files"
    assert left_in(cache) == WHOLE
    assert sorted(site.asked) == ["/deep/two.csv", "/one.csv"]


def test_a_complete_mirror_is_used_without_the_network(site, mirror, cache):
    assert fetch(dataset(site.url)) == mirror / "two_files"
    assert site.asked == []
    assert not cache.exists()


def test_only_what_is_missing_is_downloaded(site, cache):
    two = dataset(site.url)
    fetch(two)
    (cache / "two_files" / "one.csv").unlink()
    site.asked.clear()
    fetch(two)
    assert site.asked == ["/one.csv"]


def test_a_damaged_file_of_the_cache_is_downloaded_again(site, cache):
    two = dataset(site.url)
    fetch(two)
    (cache / "two_files" / "one.csv").write_bytes(b"damage")
    with pytest.raises(DatasetError, match="`identify datasets fetch two` downloads it again"):
        dataset_path(two)
    fetch(two)
    assert left_in(cache) == WHOLE


def test_damaged_mirror_is_reported_and_not_modified(site, mirror):
    (mirror / "two_files" / "one.csv").write_bytes(b"damage")
    with pytest.raises(DatasetError, match="unset IDENTIFY_DATA"):
        fetch(dataset(site.url))
    assert site.asked == []
    assert (mirror / "two_files" / "one.csv").read_bytes() == b"damage"


def test_cache_files_are_readable_by_other_users(site, cache):
    fetch(dataset(site.url))
    assert (cache / "two_files" / "one.csv").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("misbehave", "why"),
    [
        ({"content": CONTENT["one.csv"].replace(b"1", b"7")}, "served another file .* 4000 bytes"),
        ({"content": b"<html>please log in</html>"}, "served another file .* place by hand"),
        ({"cut": True}, r"did not serve the file .*nothing partial was kept"),
    ],
)
def test_file_that_differs_from_registry_is_rejected_and_deleted(site, cache, misbehave, why):
    for name, value in misbehave.items():
        if name == "content":
            site.content["/one.csv"] = value
        else:
            setattr(site, name, value)
    with pytest.raises(DatasetError, match=why):
        fetch(dataset(site.url))
    assert left_in(cache) == {}


def test_http_404_lists_files_still_missing(site, cache):
    del site.content["/deep/two.csv"]
    with pytest.raises(DatasetError, match=r"did not serve the file \(HTTP 404\)") as caught:
        fetch(dataset(site.url))
    assert str(cache / "two_files" / "deep" / "two.csv") in str(caught.value)
    assert str(cache / "two_files" / "one.csv") not in str(caught.value)
    assert f"{site.url}/deep/two.csv" in str(caught.value)
    assert left_in(cache) == {"two_files/one.csv": CONTENT["one.csv"]}  # whole, for the next try


def test_network_error_explains_manual_placement(cache):
    with socket.socket() as closed:  # a port that nobody listens on
        closed.bind(("127.0.0.1", 0))
        two = dataset(f"http://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(DatasetError, match="ConnectionError") as caught:
            fetch(two)
    for file in two.files:
        path = cache / "two_files" / file.path
        assert f"{path}\n    sha256 {file.sha256}\n    from {file.url}" in str(caught.value)


def test_an_interrupt_leaves_nothing_partial(site, cache):
    def stop_at_second(line: str) -> None:
        if "two.csv" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(dataset(site.url), progress=stop_at_second)
    assert left_in(cache) == {"two_files/one.csv": CONTENT["one.csv"]}


FETCHING = """
import sys
from identify.catalog import fetch
from tests.catalog.serving import dataset
fetch(dataset(sys.argv[1]))
"""


def test_killed_download_leaves_no_final_file(site, cache):
    site.holds = True
    process = subprocess.Popen([sys.executable, "-c", FETCHING, site.url])
    try:
        deadline = time.monotonic() + 60.0
        while not list(cache.glob("two_files/*")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (cache / "two_files" / "one.csv").exists()
    with pytest.raises(DatasetError):
        dataset_path(dataset(site.url))
    site.holds = False
    folder = fetch(dataset(site.url))
    assert {path: (folder / path).read_bytes() for path in CONTENT} == CONTENT


def test_unwritable_cache_raises_before_download(site, cache):
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the cache should be")
    with pytest.raises(DatasetError, match="cannot be written to"):
        fetch(dataset(site.url))
    assert site.asked == []


def test_dataset_without_url_is_never_downloaded(site, mirror, monkeypatch):
    hidden = dataset(None)
    assert fetch(hidden) == mirror / "two_files"
    monkeypatch.delenv("IDENTIFY_DATA")
    with pytest.raises(DatasetError, match="it is a secret"):
        fetch(hidden)
    assert site.asked == []


def test_unknown_dataset_name_suggests_nearest():
    with pytest.raises(DatasetError, match="did you mean 'stars'"):
        fetch("stras")
