from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.errors import LogError
from identify.estimation import estimate_body
from identify.logs import Recording
from identify.regressors import (
    block_statistics,
    fold_statistics,
    log_scan,
    log_summary,
    summarise_log,
)
from identify.signals import Interpretation, prepare
from tests.close import assert_close
from tests.recordings import ALL, POSE, Path, record, still_poses
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(4))
BIAS = np.array([1.0, -2.0, 3.0, 0.1, 0.05, -0.1])
NOISE = {"force": 0.2, "torque": 0.02}
PATH = Path.random(3)
RATE = 60.03
"""Rows of a block of 600 samples are not on an edge of a band: rounding would decide there."""
BLOCK = 600
CUTOFF = Interpretation(cutoff_hz=4.97)


def log(seconds: float, give=ALL, **options) -> Recording:
    time = np.arange(round(seconds * RATE)) / RATE
    return record(PATH, PHI, time, give, bias=BIAS, noise=NOISE, seed=1, **options)


def without(recording: Recording, gone: slice | np.ndarray) -> Recording:
    kept = np.delete(np.arange(len(recording)), gone)
    assert recording.time is not None
    signals = {name: values[kept] for name, values in recording.signals.items()}
    return replace(recording, time=recording.time[kept], signals=signals, rows=len(kept))


@pytest.fixture
def small_chunks(monkeypatch) -> None:
    monkeypatch.setattr(log_scan, "CHUNK_ROWS", 2 * BLOCK)


def test_single_chunk_scan_equals_prepare():
    recording = log(30.0, POSE)
    found, whole = summarise_log(recording), prepare(recording)
    assert_close(found.statistics.factors, block_statistics(whole).factors, 0.0)
    assert_close(found.folds.factors, fold_statistics(whole).factors, 0.0)
    assert_close(found.rows, whole.rows, 0.0)
    assert found.kept_fraction == 1.0
    assert found.independent_rows == found.statistics.effective_samples.sum()
    assert_close(found.segments[0].position, whole.segments[0].position, 0.0)
    assert found.duration == whole.time[-1] - whole.time[0]
    assert len(found.recording) == 0
    assert found.rows_kept == found.recording.rows == len(recording)


@pytest.mark.usefixtures("small_chunks")
def test_chunks_of_whole_blocks_give_the_same_statistics():
    """Where nothing is differentiated, blocks of chunks are those of the whole."""
    recording = log(3600 / RATE)
    found, whole = summarise_log(recording, CUTOFF), prepare(recording, CUTOFF.cutoff_hz)
    expected = block_statistics(whole)
    assert found.cutoff_hz == whole.cutoff_hz
    assert (found.statistics.block == expected.block).all()
    assert_close(found.statistics.samples, expected.samples, 1e-12)
    for ours, theirs in zip(found.statistics.factors, expected.factors, strict=True):
        assert_close(ours.T @ ours, theirs.T @ theirs, 1e-10)
    assert_close(found.rows, whole.rows, 1e-10)
    assert (found.segment_ids == whole.segment_ids).all()
    assert found.duration == pytest.approx(whole.time[-1] - whole.time[0])
    assert found.unused_rows == 0


@pytest.mark.usefixtures("small_chunks")
def test_the_estimate_matches_the_whole_where_derivatives_cross_the_edges():
    recording = log(100.0, POSE)
    found, whole = summarise_log(recording, CUTOFF), prepare(recording, CUTOFF.cutoff_hz)
    ours, theirs = estimate_body([found.statistics]), estimate_body([block_statistics(whole)])
    errors = np.sqrt(np.diag(theirs.covariance))
    assert (np.abs(ours.parameters.phi - theirs.parameters.phi) < 0.2 * errors).all()
    assert round(found.statistics.samples.sum()) == sum(block.samples for block in whole.blocks)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("gone", [slice(1180, 1200), slice(1190, 1210), slice(1200, 1220)])
def test_gaps_at_the_edge_of_a_chunk_cost_no_more_than_elsewhere(gone):
    found = summarise_log(without(log(3600 / RATE), gone))
    assert 3600 - 20 - 12 <= round(found.statistics.samples.sum()) <= 3600 - 20
    assert_close(estimate_body([found.statistics]).parameters.phi, PHI, 0.1)
    assert len(np.unique(found.segment_ids)) == 2


def broken(recording: Recording, part: slice) -> Recording:
    """The recording with gaps in a part, between which no segment is long enough."""
    rows = np.arange(len(recording))[part]
    return without(recording, rows[rows % 45 >= 15])


@pytest.mark.usefixtures("small_chunks")
def test_a_chunk_without_a_segment_is_not_used():
    gappy = broken(log(100.0, POSE), slice(1300, 4000))
    found, whole = summarise_log(gappy, CUTOFF), prepare(gappy, CUTOFF.cutoff_hz)
    assert found.unused_rows == whole.unused_rows == 900
    assert_close(estimate_body([found.statistics]).parameters.phi, PHI, 0.1)


@pytest.mark.usefixtures("small_chunks")
def test_scan_keeps_bounded_samples(monkeypatch):
    monkeypatch.setattr(log_summary, "MAX_SERIES_POINTS", 400)
    monkeypatch.setattr(log_summary, "_POINTS_PER_STRETCH", 50)
    monkeypatch.setattr(log_scan, "MAX_REPLAY_STATES", 600)
    taken = []
    whole_prepare = log_scan.prepare
    monkeypatch.setattr(
        log_scan,
        "prepare",
        lambda recording, *args, **options: (
            taken.append(len(recording)) or whole_prepare(recording, *args, **options)
        ),
    )
    found = summarise_log(log(200.0, POSE))
    assert max(taken) < 1300
    assert 200 < len(found.rows) <= 400
    assert found.kept_fraction == pytest.approx(
        len(found.rows) / len(prepare(log(200.0, POSE)).rows), 0.01
    )
    assert sum(len(segment.time) for segment in found.segments) <= 600
    assert len(found.segments[0].time) == 300
    assert found.time[-1] > 150.0
    for segment in found.segments[:2]:
        assert segment.position.base is None


@pytest.mark.usefixtures("small_chunks")
def test_the_first_refusal_is_raised_where_no_chunk_can_be_used():
    gappy = broken(log(120.0, POSE), slice(0, None))
    with pytest.raises(LogError, match="long enough for a cut-off"):
        summarise_log(gappy, Interpretation(cutoff_hz=5.0))


def test_a_thinned_log_has_rows_of_all_of_it():
    recording = log(400.0)
    found = summarise_log(recording, Interpretation(max_rows=4000))
    assert round(found.statistics.samples.sum()) == 4000 - 4000 % 3
    assert len(np.unique(found.segment_ids)) == 3
    assert found.time[0] < 20.0 < 380.0 < found.time[-1]
    few = log(40.0)
    assert round(summarise_log(few, Interpretation(max_rows=4000)).statistics.samples.sum()) == len(
        few
    )


def test_short_log_is_cut_into_folds_and_keeps_its_states():
    whole = summarise_log(log(25.0, POSE))
    assert whole.segments
    assert len(np.unique(whole.folds.block)) == 5


@pytest.mark.parametrize("most", [7, 200, 450, 799])
def test_series_keeps_complete_stretches_within_limit(most):
    whole = summarise_log(log(60.0))
    few = whole.thinned(most)
    assert 0 < len(few.rows) <= most < len(whole.rows)
    assert len(few.rows) >= min(most, 200)
    assert few.points == whole.points
    kept = np.isin(whole.point_indices, few.point_indices)
    np.testing.assert_array_equal(few.rows, whole.rows[kept])
    runs = np.diff(np.flatnonzero(np.diff(few.point_indices, prepend=-2) > 1), append=len(few.rows))
    assert set(runs[:-1]) <= {200}


@pytest.mark.usefixtures("small_chunks")
def test_signal_noise_is_mean_over_chunks_or_given_value():
    recording = log(80.0, POSE)
    found, whole = summarise_log(recording, CUTOFF), prepare(recording, 4.97).signal_noise
    assert found.signal_noise.names == whole.names
    sigma, expected = (np.sqrt(np.diag(n.covariance)) for n in (found.signal_noise, whole))
    assert_close(sigma[-6:] / expected[-6:], np.ones(6), 0.1)
    assert not np.array_equal(sigma, expected)
    given = summarise_log(replace(recording, noise={"force": 0.5}), CUTOFF).signal_noise
    own = slice(3 * whole.names.index("force"), 3 * whole.names.index("force") + 3)
    assert_close(given.covariance[own, own], 0.25 * np.eye(3), 1e-12)
    assert summarise_log(still_poses(PHI, Rotation.random(8, random_state=0))).signal_noise is None
