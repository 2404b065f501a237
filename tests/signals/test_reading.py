import numpy as np

from identify.signals import Interpretation
from tests.recordings import POSE, Path, record
from tests.strategies import random_body


def test_empty_reading_returns_same_recording():
    log = record(Path.random(1), random_body(np.random.default_rng(0)), np.arange(9) / 9, POSE)
    assert Interpretation().apply(log) is log


def test_reading_digest_is_unique_and_reproducible():
    readings = [
        Interpretation(),
        Interpretation().with_patch({"world.gravity": [0.0, 0.0, 1.0]}),
        Interpretation(cutoff_hz=4.0),
        Interpretation().with_patch({"pose.order": "wxyz"}),
        Interpretation().with_map(np.eye(2)),
        Interpretation(max_rows=10),
        Interpretation(without_spikes=True),
        Interpretation(excluded_spans=((0.0, 1.0),)),
    ]
    assert len({reading.digest for reading in readings}) == len(readings)
    assert len(set(readings)) == len(readings)
    assert (
        Interpretation().digest
        == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )


def test_later_patch_replaces_earlier_one():
    one = Interpretation().with_patch({"pose.order": "wxyz"}).with_patch({"wrench.delay_s": 0.1})
    other = Interpretation().with_patch({"wrench.delay_s": 0.2}).with_patch({"pose.order": "wxyz"})
    assert other.with_patch({"wrench.delay_s": 0.1}) == one
    assert one.patched_wrench_delay == 0.1
