"""The chunks of a long log made into statistics by workers, against the scan in one process."""

from __future__ import annotations

import numpy as np
import pytest

from identify.experiments.executor import InProcess, reduce_statistics
from identify.experiments.local_processes import LocalProcesses
from identify.inertia import InertialParameters
from identify.logs.synthetic import synthetic_recording
from identify.regressors import chunk_statistics, join_blocks, scan, scan_chunks, scanning

BODY = InertialParameters.from_com(0.6, (0.02, -0.03, 0.05), np.diag([9e-4, 7e-4, 5e-4]))


def test_workers_give_the_statistics_of_the_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "CHUNK_ROWS", 1000)
    recording = synthetic_recording(
        BODY.phi, rng=np.random.default_rng(7), duration=60.0, rate_hz=100.0
    )
    chunks = scan_chunks(recording)
    assert [chunk.start for chunk in chunks] == [0, 1000, 2000, 3000, 4000, 5000]
    here = reduce_statistics(chunks, chunk_statistics, join_blocks, InProcess())
    with LocalProcesses(2) as executor:
        there = reduce_statistics(chunks, chunk_statistics, join_blocks, executor)
    alone = scan(recording).statistics
    assert here is not None
    assert there is not None
    assert here.factors.tobytes() == there.factors.tobytes() == alone.factors.tobytes()
    assert here.noise.tobytes() == there.noise.tobytes()
    assert here.block.tolist() == alone.block.tolist()
