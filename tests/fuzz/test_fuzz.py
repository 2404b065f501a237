import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.fuzz.cases import Case, cases
from tests.fuzz.estimate_flips import fitted, flips_read_as_other_contents
from tests.fuzz.running import LIMIT, MEMORY, ROOT, escape, left_behind
from tests.slow import few_or_many

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

KINDS = 10


@pytest.mark.parametrize("count", few_or_many(KINDS, 3 * KINDS))
def test_damaged_inputs_of_every_kind_end_in_errors_that_are_ours(count: int) -> None:
    """In a process of its own: it forks, and other tests leave threads."""
    words = ("--seed", "4", "--count", str(count), "--flips", "0", "--cold")
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.run", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} cases of seed 4" in done.stdout
    assert ": 0 escaped" in done.stdout


def test_no_flipped_bit_of_an_estimate_is_read_as_other_contents() -> None:
    assert flips_read_as_other_contents(fitted(), seed=4, count=200) == []


def test_other_contents_that_are_read_are_found() -> None:
    """A body of another hand has no digest: flips of its digits are read."""
    phi = json.dumps({"phi": json.loads(fitted())["phi"]}).encode()
    assert flips_read_as_other_contents(phi, seed=4, count=100)


def test_a_seed_and_a_number_are_one_case() -> None:
    first, second = (list(islice(cases(3), KINDS)) for _ in range(2))
    assert [(case.words, case.files) for case in first] == [
        (case.words, case.files) for case in second
    ]
    assert len({case.kind for case in first}) == KINDS


FIT = Case("", {}, ("fit",))


@pytest.mark.parametrize(
    ("status", "seconds", "megabytes", "errors", "what"),
    [
        (2, 1.0, 100.0, "identify: error: no such file\n", ""),
        (0, 1.0, 100.0, "", ""),
        (1, 1.0, 100.0, "Traceback (most recent call last):\nE\n", "Traceback"),
        (0, 1.0, 100.0, "x.py:1: RuntimeWarning: overflow\n", "Warning"),
        (1, 1.0, 100.0, "killed\n", "status 1"),
        (-9, 1.0, 100.0, "", "status -9"),
        (2, 1.0, 100.0, "", "without a word"),
        (2, LIMIT + 1.0, 100.0, "late\n", "over"),
        (2, 1.0, MEMORY + 1.0, "large\n", "MB"),
        (2, 1.0, 100.0, "x" * 30_000, "characters"),
    ],
)
def test_what_counts_as_an_escape(
    status: int, seconds: float, megabytes: float, errors: str, what: str
) -> None:
    found = escape(FIT, status, seconds, megabytes, errors)
    assert what in found
    assert bool(found) == bool(what)


def test_files_that_a_call_leaves_behind_are_found(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("1")
    before = {tmp_path / "log.csv": b"1"}
    assert left_behind(FIT, tmp_path, before, 2) == ""
    (tmp_path / "out.json").write_text("{")
    assert left_behind(FIT, tmp_path, before, 0) == ""
    assert left_behind(FIT, tmp_path, before, 2) == "out.json of a call that failed"
    (tmp_path / ".out.json.x").write_text("{")
    assert left_behind(FIT, tmp_path, before, 0) == ".out.json.x was left"
    (tmp_path / "log.csv").write_text("2")
    assert left_behind(FIT, tmp_path, before, 0) == "log.csv was changed"
