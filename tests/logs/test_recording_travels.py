import copy
import pickle
from dataclasses import fields

import numpy as np
import pytest

from identify.logs import Recording
from identify.logs.synthetic import synthetic_recording
from tests.recordings import synthetic_still_recording

PHI = [1.0, 0.01, 0.02, 0.1, 0.02, 0.0, 0.0, 0.02, 0.0, 0.01]


@pytest.mark.parametrize("make", [synthetic_recording, synthetic_still_recording])
def test_recording_survives_pickling(make) -> None:
    sent = make(PHI, rng=np.random.default_rng(1))
    for got in (pickle.loads(pickle.dumps(sent)), copy.deepcopy(sent)):  # noqa: S301 - our own
        assert isinstance(got, Recording)
        for field in fields(sent):
            if field.name not in ("signals", "time", "gravity"):
                assert getattr(got, field.name) == getattr(sent, field.name)
        np.testing.assert_array_equal(got.gravity, sent.gravity)
        assert set(got.signals) == set(sent.signals)
        for name, signal in sent.signals.items():
            np.testing.assert_array_equal(got.signals[name], signal)
        assert (got.time is None) == (sent.time is None)


def test_unpickled_recording_is_read_only() -> None:
    got = pickle.loads(pickle.dumps(synthetic_recording(PHI, rng=np.random.default_rng(1))))  # noqa: S301
    with pytest.raises(ValueError, match="read-only"):
        got.signals["force"][0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        got.time[0] = 1.0
    with pytest.raises(TypeError, match="does not support item assignment"):
        got.signals["force"] = got.signals["torque"]
