import json
import logging
from dataclasses import replace

import numpy as np
import pytest

from identify.logs import LogFile, Recording, log_file, open_log, read_log
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording
from identify.pipeline import Result, fit
from identify.pipeline.scanned_log import scan_log
from identify.regressors import log_scan
from identify.signals import Interpretation
from tests.close import assert_close
from tests.recordings import POSE, Path, record
from tests.stages import stages_logged
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(4))
RATE = 60.03
NOISE = {"force": 0.05, "torque": 0.005}


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch) -> None:
    monkeypatch.setattr(log_file, "MIN_ROWS_IN_CHUNKS", 500)
    monkeypatch.setattr(log_scan, "CHUNK_ROWS", 1200)


def moving(fastest_hz: float, seconds: float, seed: int = 1) -> Recording:
    time = np.arange(round(seconds * RATE)) / RATE
    path = Path.random(seed, fastest_hz=fastest_hz, distance=0.3 / fastest_hz**2)
    return record(path, PHI, time, POSE, noise=NOISE, seed=seed)


@pytest.fixture
def files(tmp_path):
    recording = synthetic_recording(
        np.array([0.6, 0.012, -0.018, 0.03, 3e-3, 1e-4, 1e-4, 3e-3, 1e-4, 2e-3]),
        rng=np.random.default_rng(3),
        duration=35.0,
        rate_hz=RATE,
        noise=Noise(force=0.05, torque=0.005),
    )
    write_log(recording, tmp_path / "log.csv", tmp_path / "schema.toml")
    return tmp_path / "log.csv", tmp_path / "schema.toml"


@pytest.mark.slow
def test_an_opened_file_is_fitted_as_its_recording(files):
    opened = open_log(*files)
    assert isinstance(opened, LogFile)
    with stages_logged(logging.DEBUG) as lines:
        one = fit(opened)
    other = fit(read_log(*files))
    assert_close(one.estimate.parameters.phi, other.estimate.parameters.phi, 1e-9)
    assert one.to_dict()["logs"] == other.to_dict()["logs"]
    digests = [[bias.sha256 for bias in each.estimate.bias] for each in (one, other)]
    assert digests[0] == digests[1]
    assert "preparing log: 1200 of 2101 rows" in lines
    unlike = ("command", "versions")
    first, second = (dict(each.estimate.provenance) for each in (one, other))
    assert {k: v for k, v in first.items() if k not in unlike} == {
        k: v for k, v in second.items() if k not in unlike
    }


def joined(first: Recording, second: Recording, pause: float) -> Recording:
    assert first.time is not None
    assert second.time is not None
    signals = {
        name: np.concatenate((values, second.signals[name]))
        for name, values in first.signals.items()
    }
    time = np.concatenate((first.time, first.time[-1] + pause + second.time))
    return replace(first, time=time, signals=signals, rows=len(time))


def test_a_later_part_that_is_faster_is_scanned_again_with_a_higher_cutoff():
    slow = moving(0.8, 20.0)
    log = joined(slow, moving(6.0, 40.0, seed=2), pause=5.0)
    assert scan_log(slow, Interpretation()).summary.cutoff_hz == 5.0
    (found,) = fit(log).logs
    chosen = found.reading.cutoff_hz
    assert chosen is not None
    assert found.cutoff_hz == chosen > 5.0
    assert scan_log(log, Interpretation(cutoff_hz=5.0)).summary.cutoff_hz == 5.0


def digest_of(result: Result) -> str:
    document = json.loads(json.dumps(result.estimate.to_dict()))
    return document["provenance"]["logs"][0]["reading"]


def test_the_provenance_has_the_digest_of_the_reading():
    log = moving(0.8, 20.0)
    assert digest_of(fit(log)) == Interpretation().digest
    gravity = (0.0, 0.0, -9.8)
    read = Interpretation().with_patch({"world.gravity": gravity})
    assert digest_of(fit(log, gravity=gravity)) == read.digest


def test_further_column_maps_give_the_summary_of_a_new_scan():
    log = moving(0.5, 20.0)
    first, second = np.eye(43) + 0.01 * np.random.default_rng(2).normal(size=(2, 43, 43))
    mapped = scan_log(log, Interpretation(), all_columns=True)
    for M in (first, second):  # the second on a log that is mapped already
        reading = mapped.summary.reading.with_map(M)
        mapped = mapped.rescan(reading)
        again = scan_log(log, replace(reading, cutoff_hz=mapped.summary.cutoff_hz))
        for part in ("factors", "noise"):  # triangular, up to signs of their rows
            factors = [getattr(each.summary.statistics, part) for each in (mapped, again)]
            assert_close(*(R.swapaxes(-1, -2) @ R for R in factors), 1e-9)
        assert_close(mapped.summary.rows, again.summary.rows, 1e-9)
        assert mapped.summary.reading == again.summary.reading
        assert mapped.spans == again.spans
