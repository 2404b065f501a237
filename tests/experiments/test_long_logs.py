"""A long log in chunks against the same log at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from identify.errors import LogError
from identify.estimation import estimate_body
from identify.experiments.executors import InProcess
from identify.experiments.local_processes import LocalProcesses
from identify.experiments.long_logs import chunk_blocks, join_blocks, log_chunks
from identify.experiments.reduction import reduce_statistics
from identify.inertia import InertialParameters
from identify.logs import read_log
from identify.logs.synthetic import Noise, synthetic_recording
from identify.logs.writing import write_log
from identify.pipeline import block_statistics
from identify.signals import prepare
from tests.close import assert_close

BODY = InertialParameters.from_com(0.6, (0.02, -0.03, 0.05), np.diag([9e-4, 7e-4, 5e-4]))
ROWS = 6000


def write(folder: Path, noise: Noise | None = None) -> tuple[Path, Path]:
    recording = synthetic_recording(
        BODY.phi,
        rng=np.random.default_rng(7),
        duration=ROWS / 100.0,
        rate_hz=100.0,
        noise=noise,
        bias=(1.0, 2.0, 3.0, 0.1, 0.2, 0.3),
    )
    log, schema = folder / "long.parquet", folder / "schema.toml"
    write_log(recording, log, schema)
    pq.write_table(pq.read_table(log), log, row_group_size=700)
    return log, schema


def test_chunks_cover_the_log_once(tmp_path: Path) -> None:
    log, schema = write(tmp_path)
    chunks = log_chunks(log, schema, rows=1500)
    assert [chunk.start for chunk in chunks] == [0, 1500, 3000, 4500]
    assert chunks[-1].stop == ROWS
    whole = prepare(read_log(log, schema), chunks[0].cutoff_hz)
    rows = sum(float(chunk_blocks(chunk).samples.sum()) for chunk in chunks)
    assert abs(rows - len(whole.rows)) <= len(chunks)


def test_the_body_is_that_of_the_whole_log(tmp_path: Path) -> None:
    log, schema = write(tmp_path, Noise(force=0.02, torque=0.002))
    chunks = log_chunks(log, schema, rows=1500)
    blocks = reduce_statistics(chunks, chunk_blocks, join_blocks, InProcess())
    whole = block_statistics(prepare(read_log(log, schema), chunks[0].cutoff_hz))
    assert_close(blocks.effective_samples.sum(), whole.effective_samples.sum(), rtol=0.02)
    there, here = estimate_body([blocks]), estimate_body([whole])
    errors = np.sqrt(np.diag(here.covariance))
    assert (np.abs(there.parameters.phi - here.parameters.phi) < errors).all()
    assert_close(there.biases[0, :3], (1.0, 2.0, 3.0), rtol=0.05)


def test_without_noise_the_body_is_exact(tmp_path: Path) -> None:
    log, schema = write(tmp_path)
    blocks = reduce_statistics(
        log_chunks(log, schema, rows=900), chunk_blocks, join_blocks, InProcess()
    )
    assert_close(estimate_body([blocks]).parameters.phi, BODY.phi, rtol=1e-3)


def test_workers_give_the_same_bits(tmp_path: Path) -> None:
    log, schema = write(tmp_path)
    chunks = log_chunks(log, schema, rows=1000)
    here = reduce_statistics(chunks, chunk_blocks, join_blocks, InProcess())
    with LocalProcesses(2) as executor:
        there = reduce_statistics(chunks, chunk_blocks, join_blocks, executor)
    assert here.factors.tobytes() == there.factors.tobytes()
    assert here.noise.tobytes() == there.noise.tobytes()


def test_text_is_not_cut(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("t,x\n0,1\n")
    with pytest.raises(LogError, match="is not Parquet; convert it"):
        log_chunks(tmp_path / "log.csv", tmp_path / "schema.toml")


def test_chunks_too_short_for_the_filters(tmp_path: Path) -> None:
    log, schema = write(tmp_path)
    with pytest.raises(LogError, match="long enough for a cut-off"):
        log_chunks(log, schema, rows=20, cutoff_hz=5.0)


def test_some_rows_of_text_cannot_be_read(tmp_path: Path) -> None:
    recording = synthetic_recording(BODY.phi, rng=np.random.default_rng(7), duration=2.0)
    write_log(recording, tmp_path / "log.csv", tmp_path / "schema.toml")
    with pytest.raises(LogError, match="is not Parquet, of which alone some rows can be read"):
        read_log(tmp_path / "log.csv", tmp_path / "schema.toml", rows=(0, 10))
