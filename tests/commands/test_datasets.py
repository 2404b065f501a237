import sys

import pytest

from identify.catalog import cache_folder, find_dataset


@pytest.fixture(autouse=True)
def nothing_here(tmp_path, monkeypatch):
    monkeypatch.delenv("IDENTIFY_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_list_is_plain_without_terminal(cli):
    header, *rows = cli.done("datasets", "list").splitlines()
    assert header == "name\twhat\tlicence\there"
    cells = {row.split("\t")[0]: row.split("\t") for row in rows}
    assert cells["stars"][2:] == ["MIT", "missing: identify datasets list stars"]
    assert cells["tx40"][2:] == ["Apache-2.0", "missing: identify datasets fetch tx40"]


def test_list_is_a_table_in_a_terminal(cli, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    out = cli.done("datasets", "list")
    assert "\t" not in out
    assert "│ stars" in out


def test_list_marks_damaged_or_incomplete_datasets(cli):
    folder = cache_folder() / "tx40"
    folder.mkdir(parents=True)
    (folder / "tx40.urdf").write_text("<robot/>")
    assert "damaged: " in cli.done("datasets", "list")
    out = cli.done("datasets", "list", "tx40")
    assert "tx40.urdf  [has 8 bytes, expected 7448 from https://" in out
    assert "curr_data.csv  [missing from https://" in out


def test_list_of_a_dataset_shows_hashes_and_citation(cli):
    out = cli.done("datasets", "list", "stars")
    stars = find_dataset("stars")
    for said in (stars.licence, stars.citation, stars.home, str(stars.not_downloaded)):
        assert said in out
    for file in stars.files:
        assert f"{file.sha256} {file.size:>9} {file.path}  [missing]\n" in out
    assert f"files in {cache_folder() / 'stars_tools'} (" in out


def test_path_prints_the_folder_alone(mirror_of_sets, cli):
    assert cli("datasets", "path", "tx40") == (0, f"{mirror_of_sets / 'tx40'}\n", "")


def test_fetch_uses_and_reports_local_copy(mirror_of_sets, cli):
    status, out, err = cli("datasets", "fetch", "stars")
    assert (status, out) == (0, f"{mirror_of_sets / 'stars_tools'}\n")
    assert "pickles" in err
    stars = find_dataset("stars")
    assert f"{len(stars.files)} files, {stars.size / 1e6:.1f} MB, sha256 verified" in err


@pytest.mark.parametrize("command", ["fetch", "path"])
def test_unavailable_dataset_states_remedy(command, cli):
    status, out, err = cli("datasets", command, "stars")
    assert (status, out) == (2, "")
    assert "let IDENTIFY_DATA name a folder" in err


def test_list_shows_location_of_each_dataset(mirror_of_sets, cli):
    out = cli.done("datasets", "list")
    assert f"\t{mirror_of_sets / 'stars_tools'}\n" in out
    assert f"\t{mirror_of_sets / 'tx40'}\n" in out
