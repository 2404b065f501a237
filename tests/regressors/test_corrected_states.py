import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.pipeline import fit
from identify.regressors import summarise_log
from identify.regressors.corrected_states import corrected_states
from identify.regressors.log_corrections import (
    clock_rate_map,
    delay_map,
    gravity_map,
    misalignment_map,
    point_offset_map,
)
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.regressors.wrench import WIDE_LAYOUT
from identify.signals import full_rate_segments
from identify.spatial.columns import FEATURES
from tests.close import assert_close
from tests.recordings import GRAVITY
from tests.small_faults import PHI, displaced, exact, late, logged, misaligned, slow_clock, tilted

LOG = exact(3, 8.0)
TURN = np.array([0.02, -0.01, 0.03])
TILT = np.array([0.02, -0.03, 0.0])


@pytest.mark.parametrize(
    ("faulty", "M"),
    [
        (late(LOG, 0.004), delay_map(0.004)),
        (misaligned(LOG, TURN), misalignment_map(-TURN)),
        (displaced(LOG, TURN), point_offset_map(-TURN)),
        (slow_clock(LOG, 0.02), clock_rate_map(0.02, GRAVITY)),
        (tilted(LOG, TILT), gravity_map(Rotation.from_rotvec(TILT).apply(GRAVITY) - GRAVITY)),
    ],
    ids=["delay", "turn", "point", "clock", "tilt"],
)
def test_corrected_wrench_matches_logged_motion(faulty, M):
    whole = np.eye(len(WIDE_LAYOUT.columns))
    whole[:, : M.shape[1]] = M
    (segment,), (samples,) = summarise_log(faulty).segments, full_rate_segments(faulty)
    offset = np.full((len(segment.time), 6), 0.2)
    corrected = corrected_states(segment, [(whole, offset)], PHI).wrench + offset
    of_motion = np.asarray(samples.columns[:, FEATURES] @ (FEATURE_TENSOR @ PHI))
    inner = slice(100, -100)
    for half in (slice(0, 3), slice(3, 6)):
        assert not np.allclose(
            segment.wrench[inner, half],
            of_motion[inner, half],
            rtol=0.0,
            atol=0.01 * np.abs(of_motion[:, half]).max(),
        )
        assert_close(corrected[inner, half], of_motion[inner, half], 3e-5)


def test_tilted_world_does_not_degrade_replay():
    """Of the wrench as it is logged the replay would be off by over four times as much."""
    replays = [fit(logged(log)).validation.replay for log in (LOG, tilted(LOG, TILT))]
    clean, corrected = (replay.errors["estimate"].position[-1] for replay in replays if replay)
    assert_close(corrected, clean, 0.1)
