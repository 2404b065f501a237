"""A replay reads a log as the fit of its estimate read it."""

import numpy as np
import pytest

import identify
from identify.exchange import read_estimate, write_estimate
from identify.logs import read_log
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording
from identify.pipeline import replay_log
from identify.pipeline.log_replay import interpretation_from_estimate
from tests.slow import mostly_slow
from tests.small_faults import PHI, with_wrench, wrench_of

NOISE = Noise(position=2e-5, orientation=1e-4, force=0.01, torque=0.001)


def moving(seed, noise=NOISE):
    rng = np.random.default_rng(seed)
    return synthetic_recording(PHI, rng=rng, rate_hz=200.0, noise=noise)


def written(folder, log, name="log"):
    paths = folder / f"{name}.csv", folder / f"{name}.toml"
    write_log(log, *paths)
    return paths


def fitted(folder, log, *codes):
    """The estimate of a fit, from its file, and the log as its schema reads it."""
    paths = written(folder, log)
    found = identify.fit(read_log(*paths), apply=codes).estimate
    return read_estimate(write_estimate(found, folder / "estimate.json")), read_log(*paths)


def last(done):
    return done.windows.errors["estimate"].position[-1]


@pytest.mark.slow
def test_a_key_that_the_fit_corrected_is_corrected_in_the_replay_of_any_log(tmp_path):
    log, other = moving(3), moving(4)
    estimate, as_read = fitted(tmp_path, in_newton_millimetres(log), "torque_unit")
    clean, _ = fitted(tmp_path, log)
    expected = last(replay_log(read_log(*written(tmp_path, log)), clean))
    assert last(replay_log(as_read, estimate)) < 1.2 * expected
    again = read_log(*written(tmp_path, in_newton_millimetres(other), "other"))
    assert last(replay_log(again, estimate)) < 2.0 * expected
    assert interpretation_from_estimate(again, estimate)[0].patch == (
        ("wrench.torque_unit", "Nmm"),
    )


def in_newton_millimetres(log):
    return with_wrench(log, wrench_of(log) * np.repeat([1.0, 1e3], 3))


CODES = ["contact", "bias_step", "spikes"]


@pytest.mark.parametrize("code", mostly_slow(CODES, {"contact", "spikes"}))
def test_replay_of_fitted_log_applies_its_corrections(tmp_path, code):
    log = moving(3)
    wrench = wrench_of(log)
    if code == "contact":
        wrench[1000:1400, :3] += [4.0, -3.0, 5.0]
    elif code == "bias_step":
        wrench[2000:] -= wrench[2000]
    else:
        rows = np.arange(100, 3900, 173)
        wrench[rows, 2] += 60.0
    estimate, as_read = fitted(tmp_path, with_wrench(log, wrench), code)
    reading, unlike = interpretation_from_estimate(as_read, estimate)
    assert unlike == ()
    assert reading.excluded_spans or reading.offset_steps or reading.without_spikes
    clean, _ = fitted(tmp_path, log)  # of another log, as its digest says
    assert last(replay_log(as_read, estimate)) < 0.2 * last(replay_log(as_read, clean))


def test_a_log_whose_schema_was_changed_since_is_read_as_the_fit_read_it(tmp_path):
    estimate, log = fitted(tmp_path, moving(3))
    schema = tmp_path / "log.toml"
    schema.write_text(schema.read_text().replace("-9.80665", "-9.7"))
    other = read_log(tmp_path / "log.csv", schema)
    assert (
        dict(interpretation_from_estimate(other, estimate)[0].patch)["world.gravity"][2] == -9.80665
    )
    assert last(replay_log(other, estimate)) == pytest.approx(last(replay_log(log, estimate)))
