import json
import re
from pathlib import Path

import pytest

from identify.catalog import dataset_names, find_dataset
from identify.catalog.registry import load_registry
from identify.errors import DatasetError
from identify.logs import load_schema
from tests.catalog.serving import ENTRY, files as two_files


def registry(tmp_path, name="two", drop=(), **changes) -> Path:
    """A registry of one data set, with some keys of a valid entry changed or left out."""
    entry = {**ENTRY, "files": two_files("https://example.org/data"), **changes}
    for key in drop:
        del entry[key]
    return written(tmp_path, f"format = 1\n[{name}]\n" + as_toml(entry))


def as_toml(entry) -> str:
    def value(item: object) -> str:
        if isinstance(item, dict):
            return "{" + ", ".join(f"{json.dumps(k)} = {value(v)}" for k, v in item.items()) + "}"
        return json.dumps(item)

    return "".join(f"{key} = {value(item)}\n" for key, item in entry.items())


def written(tmp_path, text) -> Path:
    path = tmp_path / "registry.toml"
    path.write_text(text, encoding="utf-8")
    return path


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
            assert re.search(r"/[0-9a-f]{40}/", file.url)


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


@pytest.mark.parametrize("key", [*ENTRY, "files"])
def test_every_key_is_needed(tmp_path, key):
    with pytest.raises(
        DatasetError, match=rf"\[two\]: the (key '{key}'|table \[{key}\]) is missing"
    ):
        load_registry(registry(tmp_path, drop=[key]))


@pytest.mark.parametrize("key", ["role", "size", "sha256", "url"])
def test_every_key_of_a_file_is_needed(tmp_path, key):
    table = two_files("https://example.org/data")
    del table["one.csv"][key]
    with pytest.raises(
        DatasetError, match=rf"one\.csv.* has no url|\[\[files\]\] 1: the key '{key}'"
    ):
        load_registry(registry(tmp_path, files=table))


@pytest.mark.parametrize(
    "path",
    [
        *("../one.csv", "a/../../one.csv", "/etc/passwd", "a//b.csv", "./one.csv", "~/one.csv"),
        *("C:/one.csv", "a\\..\\one.csv", "one.csv\n", "", ".", ".."),
    ],
)
@pytest.mark.parametrize("key", ["folder", "schema", "files"])
def test_a_path_that_may_leave_its_folder_is_refused(tmp_path, key, path):
    entry = next(iter(two_files("https://example.org/data").values()))
    with pytest.raises(DatasetError, match="expected a relative path"):
        load_registry(registry(tmp_path, **{key: {path: entry} if key == "files" else path}))


@pytest.mark.parametrize(
    ("path", "key", "value", "why"),
    [
        *((f"Hammer.{end}", "size", 1, "is a pickle") for end in ("pkl", "PICKLE", "pkl.gz")),
        *((f"all.{end}", "size", 1, "is an archive") for end in ("zip", "tar.gz")),
        *(
            ("one.csv", "url", url, "begins with https://")
            for url in (
                "http://example.org/a",
                "file:///etc/passwd",
                "ftp://a.org/a",
                "https://",
                "a",
            )
        ),
        ("one.csv", "sha256", "abc", r"\[\[files\]\] 1: sha256: "),
    ],
)
def test_a_file_that_must_not_be_fetched_is_refused(tmp_path, path, key, value, why):
    entry = two_files("https://example.org/data")["one.csv"] | {key: value}
    with pytest.raises(DatasetError, match=why):
        load_registry(registry(tmp_path, files={path: entry}))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"licens": "MIT"}, "unknown key 'licens'; did you mean 'licence'"),
        ({"licence": " "}, "licence: string should have at least 1"),
        ({"files": {}}, r"\[files\] tuple should have at least 1"),
        ({"files": 3}, r"expected tables \[\[files\]\], got 3"),
        ({"kind": "sound"}, "kind: "),
        ({"not_downloaded": "no"}, "some have one"),
        ({"schema": "schemas/none.toml"}, "schema: no file"),
    ],
)
def test_a_wrong_value_is_named(tmp_path, changes, why):
    with pytest.raises(DatasetError, match=why):
        load_registry(registry(tmp_path, **changes))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("format = 2\n", "expected format = 1, got 2"),
        ("", "expected format = 1, got None"),
        ("format = ", "not a TOML file"),
        ("format = 1\ntwo = 3\n", r"expected a table \[two\], got 3"),
        ("format = 1\n[Two]\n", "name: "),
    ],
)
def test_what_is_no_registry_is_refused(tmp_path, text, why):
    with pytest.raises(DatasetError, match=why):
        load_registry(written(tmp_path, text))
