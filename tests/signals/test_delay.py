from dataclasses import replace

import numpy as np
import pytest

from identify.estimation import estimate_body
from identify.logs import Recording
from identify.regressors import log_scan, summarise_log
from identify.signals import Interpretation, prepare
from tests.close import assert_close, group_errors
from tests.recordings import Path, record
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(6))
PATH = Path.random(6)
RATE = 100.0
TIME = np.arange(3000) / RATE


def late(delay: float) -> Recording:
    log = record(PATH, PHI, TIME)
    wrench = PATH.wrench(PHI, TIME - delay)
    signals = {**log.signals, "force": wrench[:, :3], "torque": wrench[:, 3:]}
    return replace(log, signals=signals, wrench_delay=delay)


@pytest.mark.parametrize("delay", [0.02, 0.0137, -0.03, 0.25])
def test_delay_correction_aligns_wrench_with_motion(delay):
    log = late(delay)
    assert group_errors(estimate(log), PHI).inertia < 1e-4  # of the resampling
    assert group_errors(estimate(replace(log, wrench_delay=0.0)), PHI).inertia > 1e-2


def estimate(log: Recording) -> np.ndarray:
    return estimate_body([summarise_log(log).statistics]).parameters.phi


def test_whole_samples_are_the_rows_themselves():
    moved, plain = prepare(late(0.02)), prepare(record(PATH, PHI, TIME[:-2]))
    assert_close(moved.rows, plain.rows, 1e-12)


def test_delay_correction_in_chunks_equals_whole(monkeypatch):
    log, whole = late(0.0137), estimate(late(0.0137))
    monkeypatch.setattr(log_scan, "CHUNK_ROWS", 1000)
    assert_close(estimate(log), whole, 1e-4)
    assert (
        summarise_log(log).statistics.samples.sum()
        == summarise_log(log, Interpretation()).statistics.samples.sum()
    )


def test_segment_shorter_than_delay_is_discarded():
    with pytest.raises(Exception, match="gaps and jumps leave no segment"):
        prepare(replace(late(0.02), wrench_delay=40.0))
