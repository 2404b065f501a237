"""Fits and checks of paths, with priors by the words of the command."""

import numpy as np
import pytest

import identify
from identify.errors import LogError, SchemaError
from identify.estimation.priors import BodyPrior, ShapePrior
from identify.inertia.shapes import Box
from identify.logs import Noise, synthetic_recording
from identify.logs.log_writing import write_log
from identify.pipeline.settings import merge_settings
from identify.spatial import Pose
from tests.close import assert_close
from tests.recordings import NO_EFFECTS

SIDES, AT = (0.20, 0.08, 0.05), (0.02, -0.03, 0.10, 0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    rng = np.random.default_rng(3)
    body = Box(*SIDES).body(mass=0.9).in_frame(Pose(np.eye(3), np.array(AT[:3])))
    noise = Noise(force=0.05, torque=0.01)
    recording = synthetic_recording(body.phi, rng=rng, duration=8.0, rate_hz=100.0, noise=noise)
    path = tmp_path_factory.mktemp("words") / "log.csv"
    return path, write_log(recording, path)


def test_fit_of_a_path_equals_the_fit_of_its_recording(log):
    path, schema = log
    read = identify.fit(identify.read_log(path, schema)).estimate
    for given in (path, str(path), [path]):
        fitted = identify.fit(given, schema=schema).estimate
        assert_close(fitted.parameters.phi, read.parameters.phi, rtol=0.0)
    with pytest.raises(LogError, match=r"log.csv'; a file, .* need a schema: give schema=…"):
        identify.fit(path)


def test_words_give_the_priors_of_the_classes(log):
    path, schema = log
    box = f"box {SIDES[0]} {SIDES[1]} {SIDES[2]}"
    by_words = identify.fit(path, schema=schema, shape=box, shape_at=AT)
    at = Pose(np.eye(3), np.array(AT[:3]))
    by_class = identify.fit(path, schema=schema, prior=ShapePrior.of_box(np.array(SIDES), at=at))
    assert_close(by_words.estimate.parameters.phi, by_class.estimate.parameters.phi, rtol=1e-12)
    assert by_words.estimate.certificate.optimal_for == "the data and the prior"


def test_a_file_is_a_prior(log, tmp_path):
    path, schema = log
    earlier = identify.fit(path, schema=schema).estimate.save(tmp_path / "estimate.json")
    prior = merge_settings(None, {"prior": str(earlier or tmp_path / "estimate.json")}).prior
    assert isinstance(prior, BodyPrior)
    with pytest.raises(SchemaError, match="prior_error requires prior FILE"):
        merge_settings(None, {"prior": "ball", "prior_error": 0.1})
    words = {"prior": str(tmp_path / "estimate.json"), "prior_weight": "evidence"}
    near = merge_settings(None, words).prior
    assert (near.weight, near.distance) == ("evidence", "entropic")
    assert merge_settings(None, words | {"prior_weight": "2.5"}).prior.weight == 2.5
    with pytest.raises(SchemaError, match="expected a number or one of evidence"):
        merge_settings(None, words | {"prior_weight": "much"})
    with pytest.raises(SchemaError, match="prior_weight both say how near the prior is"):
        merge_settings(None, words | {"prior_error": 0.1})
    with pytest.raises(SchemaError, match="prior_weight requires prior FILE"):
        merge_settings(None, {"prior_weight": 1.0})
    with pytest.raises(SchemaError, match="shape and prior none both define the prior"):
        merge_settings(None, {"prior": "none", "shape": "box 1 1 1"})
    with pytest.raises(SchemaError, match="shape and prior both define the prior"):
        merge_settings(None, {"prior": prior, "shape": "box 1 1 1"})
    with pytest.raises(SchemaError, match="shape box X Y Z: expected three side lengths"):
        merge_settings(None, {"shape": "box 1 1"})
    with pytest.raises(SchemaError, match="expected at most a full turn"):
        merge_settings(None, {"shape": "box 1 1 1", "shape_at": (0, 0, 0, 90, 0, 0)})


def test_check_stands_beside_fit(log):
    path, schema = log
    without_effects = schema.with_name("without_effects.toml")
    without_effects.write_text(f"{schema.read_text()}\n{NO_EFFECTS}")
    check = identify.check(path, schema=without_effects)
    assert check.passed
    assert check.result.settings.check
