import re
from pathlib import PurePosixPath

import pytest

from identify.catalog import dataset_names, find_dataset
from identify.errors import DatasetError
from identify.logs import load_schema


def test_the_public_sets_are_registered():
    assert dataset_names() == ("stars", "tx40")


@pytest.mark.parametrize("name", dataset_names())
def test_every_entry_is_complete(name):
    dataset = find_dataset(name)
    assert dataset.name == name
    assert dataset.schema_path.is_file()
    assert dataset.licence in ("MIT", "Apache-2.0")
    assert len({file.path for file in dataset.files}) == len(dataset.files)
    assert len({file.sha256 for file in dataset.files}) == len(dataset.files)
    for file in dataset.files:
        assert (file.url is None) == (dataset.not_downloaded is not None)
        if file.url:  # an address that names a commit cannot change under the hash
            assert re.match(r"https://.+/[0-9a-f]{40}/", file.url)


@pytest.mark.parametrize("name", dataset_names())
def test_files_stay_in_their_folder_and_are_neither_pickles_nor_archives(name):
    dataset = find_dataset(name)
    for path in (dataset.folder, dataset.schema_file, *(file.path for file in dataset.files)):
        assert re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)*", path)
        assert PurePosixPath(path).suffix in ("", ".csv", ".json", ".toml", ".urdf")


def test_stars_has_twenty_logs_with_points_and_is_not_downloaded():
    stars = find_dataset("stars")
    assert len(stars.of_role("log")) == len(stars.of_role("points")) == 20
    assert "pickles" in str(stars.not_downloaded)
    assert "wrench" in load_schema(stars.schema_path).groups


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("star", "did you mean 'stars'"),
        ("STARS", "did you mean 'stars'"),
        ("panda", "no data set 'panda' among stars, tx40$"),
        ("../stars", "did you mean 'stars'"),
    ],
)
def test_an_unknown_name_gives_the_nearest(word, hint):
    with pytest.raises(DatasetError, match=hint):
        find_dataset(word)
