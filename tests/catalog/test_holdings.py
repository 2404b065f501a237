import os

import pytest

from identify.catalog import dataset_path, find_copy
from identify.errors import DatasetError
from tests.catalog.serving import CONTENT, dataset

TWO = dataset(None)
FAR = dataset("https://example.org/data")


def test_a_mirror_that_the_environment_names_is_used(mirror):
    assert dataset_path(TWO) == mirror / "two_files"


def test_empty_variable_is_ignored_and_relative_path_uses_working_directory(
    tmp_path, monkeypatch, mirror
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IDENTIFY_DATA", "mirror")
    assert dataset_path(TWO) == mirror / "two_files"
    monkeypatch.setenv("IDENTIFY_DATA", "")
    assert len(find_copy(TWO)) == 1


def test_complete_cache_is_preferred_to_incomplete_mirror(mirror, cache):
    (cache / "two_files").parent.mkdir(parents=True)
    (mirror / "two_files").rename(cache / "two_files")
    (mirror / "two_files").mkdir()
    assert dataset_path(TWO) == cache / "two_files"


def test_missing_dataset_error_lists_target_paths(cache):
    with pytest.raises(DatasetError) as caught:
        dataset_path(FAR)
    message = str(caught.value)
    assert "IDENTIFY_DATA is not set" in message
    assert "lacks 2 of 2 files" in message
    assert "identify datasets fetch two" in message
    for file in FAR.files:
        assert f"{cache / 'two_files' / file.path}\n    sha256 {file.sha256}" in message
        assert f"from {file.url}" in message
    assert caught.value.files == tuple(cache / "two_files" / path for path in CONTENT)


def test_dataset_without_url_states_reason():
    with pytest.raises(DatasetError, match="it is a secret\nlet IDENTIFY_DATA name") as caught:
        dataset_path(TWO)
    assert "datasets fetch" not in str(caught.value)


def test_error_names_location_with_most_files(mirror):
    (mirror / "two_files" / "one.csv").unlink()
    with pytest.raises(DatasetError, match="lacks 1 of 2 files") as caught:
        dataset_path(TWO)
    assert caught.value.files == (mirror / "two_files" / "one.csv",)


@pytest.mark.parametrize("old_time", [False, True])
def test_a_changed_byte_is_found(mirror, old_time):
    path = mirror / "two_files" / "one.csv"
    dataset_path(TWO)  # whatever is remembered of the whole file must not hide the damage
    before, content = path.stat(), bytearray(path.read_bytes())
    content[17] ^= 1
    path.write_bytes(content)
    if old_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DatasetError, match=r"one\.csv has sha256 .*, expected .*unset") as caught:
        dataset_path(TWO)
    assert caught.value.files == (path,)


def test_a_folder_in_place_of_a_file_is_found(mirror):
    path = mirror / "two_files" / "one.csv"
    path.unlink()
    path.mkdir()
    with pytest.raises(DatasetError, match="cannot be read: Is a directory"):
        dataset_path(TWO)


def test_damaged_mirror_file_is_an_error_despite_complete_cache(mirror, cache):
    for path, body in CONTENT.items():
        (cache / "two_files" / path).parent.mkdir(parents=True, exist_ok=True)
        (cache / "two_files" / path).write_bytes(body)
    (mirror / "two_files" / "one.csv").write_bytes(b"x")
    with pytest.raises(DatasetError, match="unset IDENTIFY_DATA"):
        dataset_path(TWO)


def test_file_in_place_of_dataset_folder_counts_as_missing(mirror):
    for path in ("one.csv", "deep/two.csv"):
        (mirror / "two_files" / path).unlink()
    (mirror / "two_files" / "deep").rmdir()
    (mirror / "two_files").rmdir()
    (mirror / "two_files").write_text("a file")
    assert len(find_copy(TWO)[0].missing) == 2
