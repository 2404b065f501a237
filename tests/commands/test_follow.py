"""A log that grows between two looks at it; what sleeps writes the next part."""

import json

import numpy as np
import pytest

from identify.commands import follow
from identify.logs import Noise, log_file, read_log, synthetic_recording
from identify.logs.log_writing import write_log
from tests.slow import mostly_slow

PHI = np.array([1.2, 0.024, 0.012, 0.06, 6e-3, -2e-4, -1e-3, 6e-3, 5e-4, 3e-3])
NOISE = Noise(position=2e-5, orientation=1e-4, force=0.1, torque=0.01)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    rng = np.random.default_rng(5)
    log = synthetic_recording(PHI, rng=rng, duration=60.0, rate_hz=100.0, noise=NOISE)
    folder = tmp_path_factory.mktemp("whole")
    schema = write_log(log, folder / "log.csv")
    return (folder / "log.csv").read_bytes(), schema


@pytest.fixture
def growing(whole, monkeypatch, tmp_path):
    """The log's first part, of which a look is followed by the next one, and at last by Ctrl-C."""
    content, schema = whole
    path = tmp_path / "log.csv"

    def grow(first: int, part: int) -> tuple:
        ends = iter(range(first, len(content) + part, part))
        path.write_bytes(content[: next(ends)])

        def sleep(seconds: float) -> None:
            end = next(ends, None)
            if end is None:
                raise KeyboardInterrupt
            path.write_bytes(content[:end])

        monkeypatch.setattr(follow.time, "sleep", sleep)
        return path, schema

    return grow


def call(cli, log, schema, out, *words):
    return cli("fit", log, "--schema", schema, "-o", out, "--no-report", "--follow", *words)


@pytest.mark.parametrize("first", mostly_slow([7, 40, 50_001], {7}))
def test_follow_ends_when_needs_are_met(cli, growing, tmp_path, first):
    log, schema = growing(first, 40_009)
    status, out, err = call(cli, log, schema, tmp_path / "out", "--need", "mass 1%, com 1mm")
    assert (status, err) == (0, "")
    said = out.splitlines()
    assert (
        said[0] == f"Following {log} until mass 1%, com 1mm; Ctrl-C fits the rows recorded so far."
    )
    assert said[1].startswith("10 s, 1.2 kg: mass ±0.0")
    assert "com ±" in said[1]
    assert "Interrupted" not in out
    read = read_log(log, schema)
    assert 15.0 < read.time[-1] < 40.0
    document = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert document["verdict"]["needs"] == {"mass 1%": True, "com 1mm": True}
    assert [each["sha256"] for each in document["bias"]] == [read.sha256]


def test_interruption_fits_log_so_far_and_blocks_advise_rotations(cli, growing, tmp_path):
    log, schema = growing(60_000, 60_000)
    status, out, err = call(cli, log, schema, tmp_path / "out", "--need", "com 0.01mm")
    assert status == 4
    assert "this estimate must not be used (need_unmet)" in err
    lines = [line for line in out.splitlines() if " kg: com ±" in line]
    seconds = [float(line.partition(" s, ")[0]) for line in lines]
    assert seconds == sorted(seconds)
    assert len(seconds) >= 3
    assert all("(needed 0.01). Next: turn to and fro about " in line for line in lines)
    assert "Interrupted: fitting the rows recorded so far." in out
    document = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert document["verdict"]["needs"] == {"com 0.01mm": False}


def test_follow_resumes_reading_at_last_position(cli, growing, monkeypatch, tmp_path):
    monkeypatch.setattr(log_file, "MIN_ROWS_IN_CHUNKS", 1000)
    monkeypatch.setattr(log_file, "_HEAD_ROWS", 200)
    log, schema = growing(250_000, 50_000)
    words = ("--need", "com 0.01mm", "--quiet")
    taken: list[float] = []
    extend = follow_fit().extend

    def watched(self, rows) -> None:
        taken.extend(rows.time.tolist())
        extend(self, rows)

    monkeypatch.setattr(follow_fit(), "extend", watched)
    status, out, err = call(cli, log, schema, tmp_path / "out", *words)
    assert (status, out) == (4, "")
    assert "need_unmet" in err
    np.testing.assert_allclose(taken, read_log(log, schema).time[:-1], rtol=0, atol=1e-9)


def follow_fit() -> type:
    from identify.pipeline import OnlineFit

    return OnlineFit


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--follow watches one log until --need is met"),
        (("--need", "mass 1%", "--apply", "delay"), "--follow watches one log"),
        (("--need", "mass 1%", "--unloaded", "x.csv"), "--follow watches one log"),
        (("--need", "mass 1%", "--each"), "--follow cannot be combined with --each"),
    ],
)
def test_invalid_follow_arguments_are_rejected(cli, growing, tmp_path, words, message):
    log, schema = growing(50_000, 50_000)
    status, out, err = call(cli, log, schema, tmp_path / "out", *words)
    assert (status, out) == (2, "")
    assert message in err


def test_a_log_that_is_wrong_and_does_not_grow_is_an_error(cli, growing, monkeypatch, tmp_path):
    log, schema = growing(50_000, 50_000)
    monkeypatch.setattr(follow.time, "sleep", lambda seconds: None)
    log.write_text("a,b\n1,2\n3,4\n")
    for path, message in (
        (log, "line 1 should name the columns"),
        (tmp_path / "other.csv", "no such file"),
    ):
        status, _, err = call(cli, path, schema, tmp_path / "out", "--need", "mass 1%")
        assert status == 2
        assert message in err
    text = schema.read_text().replace('time = "t"', "still = true")
    (tmp_path / "still.toml").write_text(text)
    log, _ = growing(50_000, 50_000)
    status, _, err = call(cli, log, tmp_path / "still.toml", tmp_path / "out", "--need", "mass 1%")
    assert (status, "--follow needs time" in err) == (2, True)
