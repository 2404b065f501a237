import numpy as np
import pytest

from identify.validation import Replays, posterior_bodies
from tests.validation.test_replay import BIAS, PHI, segment
from tests.validation.test_single_shot import SPREAD

TINY = PHI * 1e-9
"""A possible body that the log's wrench throws out of all bounds."""


def test_all_bodies_in_both_ways_with_bands():
    samples = posterior_bodies(PHI, SPREAD, np.random.default_rng(0))
    done = Replays(((segment(200.0, 3.0), BIAS),), {"estimate": PHI, "b": PHI}, samples=samples)
    assert list(done.windows.errors) == list(done.single_shot.errors) == ["estimate", "b"]
    assert done.windows.band is not None
    assert done.single_shot.band is not None
    assert done.missing == ()


def test_diverged_replay_does_not_affect_other_bodies():
    done = Replays(((segment(200.0, 3.0), BIAS),), {"estimate": PHI, "truth": TINY})
    assert list(done.windows.errors) == list(done.single_shot.errors) == ["estimate"]
    assert len(done.missing) == 2
    assert done.missing[0].startswith("No replay in windows with the truth: ")
    assert done.missing[1].startswith("No replay in one shot with the truth: ")


def test_diverged_estimate_has_no_replay_and_a_reason():
    done = Replays(((segment(200.0, 3.0), BIAS),), {"estimate": TINY, "truth": PHI})
    assert done.windows is None
    assert done.single_shot is None
    assert all("with the estimate: " in reason for reason in done.missing)


def test_diverged_band_is_reported():
    samples = np.concatenate((np.tile(PHI, (3, 1)), TINY[None]))
    done = Replays(((segment(200.0, 3.0), BIAS),), {"estimate": PHI}, samples=samples)
    assert done.windows.band is None
    assert done.single_shot.band is None
    assert [reason.split(":")[0] for reason in done.missing] == [
        "No band in windows",
        "No band in one shot",
    ]


@pytest.mark.parametrize("interpolation", ["linear", "hold"])
def test_the_wrench_between_samples(interpolation):
    """At 50 Hz a wrench that is held in place of a straight line is 10 ms late."""
    parts = [(segment(50.0, 4.0), BIAS)]
    error = Replays(tuple(parts), {"estimate": PHI}, interpolation=interpolation).windows.errors
    position = error["estimate"].position[-1]
    assert position < 0.02 if interpolation == "linear" else position > 0.02
