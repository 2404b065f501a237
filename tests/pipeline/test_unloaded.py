from dataclasses import replace

import numpy as np
import pytest

import identify
from identify.errors import LogError
from identify.estimation import (
    EstimatorSettings,
    NegativeMass,
    TooLittleMotion,
    estimate_body,
)
from identify.estimation.terms import MassBetween
from identify.inertia import InertialParameters
from identify.logs import Recording
from identify.logs.effect_keys import EFFECT_KEYS
from identify.logs.synthetic import Noise, synthetic_recording
from identify.regressors import summarise_log
from identify.spatial import Pose
from identify.validation import ESTIMATE, TRUTH
from tests.close import assert_close, assert_same_body, body_scale
from tests.recordings import synthetic_still_recording, with_signals, without_effects
from tests.slow import mostly_slow

GRIPPER = InertialParameters.from_com(1.5, [0.01, 0.0, 0.05], np.diag([5e-3, 6e-3, 4e-3]))
PAYLOAD = InertialParameters.from_com(0.6, [0.0, 0.02, 0.15], np.diag([1e-3, 1.2e-3, 0.8e-3]))
NOISE = Noise(force=0.05, torque=2e-3)
BIAS = np.array([1.0, -2.0, 3.0, 0.1, -0.2, 0.05])
HIGHER = Pose.from_quaternion([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.02])


def log(body: InertialParameters, seed: int, noise: Noise = NOISE, **options) -> Recording:
    options = {"bias": seed * BIAS, "include": "all"} | options
    rng = np.random.default_rng(seed)
    recording = synthetic_recording(
        body.phi, rng=rng, duration=10.0, rate_hz=100.0, noise=noise, **options
    )
    return replace(recording, name=f"log {seed}")


def few_effects(recording: Recording) -> Recording:
    """The recording with gains as the only small faults of its sensor: quick to compare."""
    left_out = dict.fromkeys(EFFECT_KEYS.keys() - {"gain"}, False)
    return replace(recording, schema={**recording.schema, "effects": left_out})


def both(payload: InertialParameters, seed: int, **options) -> tuple[Recording, Recording]:
    return log(payload + GRIPPER, seed, **options), log(GRIPPER, seed + 1, **options)


@pytest.fixture(scope="module")
def noisy():
    loaded, empty = both(PAYLOAD, 1)
    return identify.fit(loaded, unloaded=[empty], needs="mass 1%", truth=PAYLOAD)


def test_without_noise_both_are_recovered_as_by_two_fits():
    loaded, empty = map(without_effects, both(PAYLOAD, 1, noise=Noise()))
    result = identify.fit(loaded, unloaded=empty)
    carrier = result.estimate.others["carrier"]
    assert_same_body(result.estimate.parameters.phi, PAYLOAD.phi, 1e-6)
    assert_same_body(carrier.parameters.phi, GRIPPER.phi, 1e-6)
    total, alone = (identify.fit(one).estimate.parameters.phi for one in (loaded, empty))
    scale = body_scale(total)
    assert_close(result.estimate.parameters.phi, total - alone, 1e-9, scale=scale)
    assert_close(carrier.parameters.phi, alone, 1e-9, scale=scale)
    assert_close(result.estimate.biases, [BIAS, 2.0 * BIAS], 1e-6)
    assert result.verdict.usable == result.carrier.verdict.usable == "yes"


def test_logs_repeat_and_each_kind_has_a_weight_and_each_log_an_offset():
    loaded = [log(PAYLOAD + GRIPPER, seed) for seed in (1, 2)]
    loud = Noise(force=0.5, torque=2e-2)
    empty = [log(GRIPPER, 3, loud), replace(log(GRIPPER, 4, loud), name="spare")]
    result = identify.fit(loaded, unloaded=empty)
    assert [one.name for one in result.logs] == [
        *("log 1", "log 2", "log 3 (unloaded)", "spare (unloaded)")
    ]
    assert_close(result.estimate.biases, np.outer([1, 2, 3, 4], BIAS), 0.1)
    ratio = result.carrier.estimate.residual_rms / result.estimate.residual_rms
    assert ((ratio > 7.0) & (ratio < 14.0)).all()
    weights = [np.mean(one.residual_rms) for one in result.estimate.bodies]
    assert weights[1] > 7.0 * weights[0]


def test_shared_bias_covers_loaded_and_unloaded_logs():
    logs = both(PAYLOAD, 1, noise=Noise(), bias=BIAS)
    result = identify.fit(logs[0], unloaded=logs[1], bias="shared")
    assert_close(result.estimate.biases, [BIAS, BIAS], 1e-6)
    assert_same_body(result.estimate.parameters.phi, PAYLOAD.phi, 1e-6)
    assert result.estimate.residual_rms.shape == result.carrier.estimate.residual_rms.shape == (6,)


@pytest.mark.slow
def test_known_values_refer_to_payload_by_default():
    loaded, empty = map(without_effects, both(PAYLOAD, 1))
    result = identify.fit(
        loaded, unloaded=empty, mass=0.602, terms=[MassBetween(1.502, 2.0, "carrier")]
    )
    assert_close(result.estimate.mass, 0.602, 1e-9)
    assert result.estimate.decided_by["m"] == "given"
    assert_close(result.carrier.estimate.mass, 1.502, 1e-6)
    wrong = identify.fit(loaded, unloaded=empty, mass=1.2)
    (finding,) = [one for one in wrong.findings if one.code == "choice_contradicted"]
    assert "with the mass of the payload given as 1.2 kg" in finding.text
    assert finding in wrong.carrier.findings
    assert_close(finding.evidence["mass_by_data"], 0.6, 0.01)


def test_log_findings_are_shared_and_completions_are_per_body():
    rng = np.random.default_rng(3)
    loaded, empty = (
        synthetic_still_recording(body.phi, rng=rng, poses=9, noise=NOISE)
        for body in (PAYLOAD + GRIPPER, GRIPPER)
    )
    dropped = replace(loaded, dropped=replace(loaded.dropped, not_finite=2))
    result = identify.fit(dropped, unloaded=empty)
    carrier = result.carrier
    codes = [[finding.code for finding in one.findings] for one in (result, carrier)]
    assert codes[0].count("rows_dropped") == codes[1].count("rows_dropped") == 1
    assert codes[0].count("completed") == codes[1].count("completed") == 1
    for one in (result, carrier):
        names = [name for name, by in one.estimate.decided_by.items() if by == "default"]
        assert names
        said = next(f.text for f in one.findings if f.code == "completed")
        assert said.startswith(", ".join(names))
    assert "payload.Ixx" in result.validation.missing[0]
    assert result.validation.unloaded.missing[0].startswith("No replay: carrier.Ixx")


def test_replay_uses_moving_bodies(noisy):
    errors = noisy.validation.replay.errors
    assert set(errors) == {ESTIMATE, TRUTH}
    assert errors[ESTIMATE].position[-1] < 1.2 * errors[TRUTH].position[-1]
    alone = noisy.validation.unloaded.windows.errors
    assert set(alone) == {ESTIMATE}
    for done in (errors[ESTIMATE], errors[TRUTH], alone[ESTIMATE]):
        assert done.position[-1] < 0.1  # in a second, in which a body that is 1 % off falls 5 cm


def test_held_out_scores_use_moving_bodies(noisy):
    assert min(noisy.validation.scores.r_squared) > 0.95
    assert noisy.estimate.r_squared == noisy.carrier.estimate.r_squared


def test_covariance_of_moving_bodies_matches_separate_fit():
    loaded, empty = both(PAYLOAD, 1)
    statistics = [summarise_log(one, wide=True).statistics for one in (loaded, empty)]
    together = estimate_body(statistics, EstimatorSettings(unloaded=1))
    for number, one in enumerate(statistics):
        expected = estimate_body([one]).covariance
        error = np.sqrt(np.diag(expected))
        found = together.moving_assembly(number).covariance
        assert_close(found, expected, 0.01, scale=np.outer(error, error))


@pytest.mark.slow
def test_swapped_loaded_and_unloaded_logs_are_reported():
    loaded, empty = both(PAYLOAD, 1)
    with pytest.raises(NegativeMass, match="larger than in those with the payload: swap") as said:
        identify.fit(empty, unloaded=[loaded])
    assert said.value.finding.code == "logs_swapped"
    assert_close(said.value.mass, -0.6, 0.01)
    assert said.value.exit_code == 3
    assert "zeroing" not in said.value.message
    with pytest.raises(NegativeMass, match="without zeroing the sensor between them"):
        identify.fit(empty, unloaded=[loaded], bias="shared")


def with_other_sign(recording: Recording) -> Recording:
    return with_signals(recording, torque=-recording.signals["torque"])


def with_heavier_end(recording: Recording) -> Recording:
    """The recording with a second payload from the middle on: its wrench scaled by 1.3."""
    scale = np.where(np.arange(len(recording)) < len(recording) // 2, 1.0, 1.3)[:, None]
    loads = {name: scale * recording.signals[name] for name in ("force", "torque")}
    return with_signals(recording, **loads)


LOADED, EMPTY, BOTH = slice(1), slice(1, 2), slice(2)
FAULTY = {
    "loaded": (with_other_sign, LOADED, "torque_sign", "log 1", "payload and carrier is 2.1 kg"),
    "empty": (with_other_sign, EMPTY, "torque_sign", "log 2 (unloaded)", "carrier is 1.5 kg"),
    "both": (with_other_sign, BOTH, "torque_sign", "", "payload and carrier is 2.1 kg"),
    "change loaded": (with_heavier_end, LOADED, "body_changed", "log 1", "the body changes"),
    "change": (with_heavier_end, EMPTY, "body_changed", "log 2 (unloaded)", "the body changes"),
}
"""A fault, the logs that have it, and the code, log and text of the finding."""


@pytest.mark.parametrize("case", mostly_slow(FAULTY, {"empty"}))
def test_a_fault_is_found_in_the_logs_that_have_it(case):
    fault, faulty, code, where, text = FAULTY[case]
    logs = [few_effects(one) for one in both(PAYLOAD, 1, bias=np.zeros(6))]
    logs[faulty] = map(fault, logs[faulty])
    cause = identify.fit(logs[0], unloaded=logs[1]).findings[0]
    assert (cause.code, cause.severity, cause.where) == (code, "error", where)
    assert text in cause.text


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "body"), [(0, "payload and carrier"), (1, "carrier")])
def test_sign_error_names_loaded_or_unloaded_body(wrong, body):
    logs = list(both(PAYLOAD, 1))
    loads = {name: -logs[wrong].signals[name] for name in ("force", "torque")}
    logs[wrong] = with_signals(logs[wrong], **loads)
    with pytest.raises(NegativeMass, match=f"mass of the {body} is -.* a sign is wrong"):
        identify.fit(logs[0], unloaded=logs[1])


@pytest.mark.slow
def test_zero_payload_is_not_identifiable():
    with pytest.raises(TooLittleMotion, match=r"payload\."):
        identify.fit(without_effects(log(GRIPPER, 1)), unloaded=without_effects(log(GRIPPER, 2)))


def test_log_given_as_loaded_and_unloaded_is_rejected():
    loaded, empty = both(PAYLOAD, 1)
    with pytest.raises(LogError, match="a log cannot be both with the payload and without it"):
        identify.fit([loaded], unloaded=[empty, loaded])
    with pytest.raises(LogError, match="counted twice"):
        identify.fit([loaded], unloaded=[empty, empty])
    with pytest.raises(LogError, match=r"the path 'empty.csv'; a file, .* need a schema"):
        identify.fit(loaded, unloaded=["empty.csv"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gravity": np.array([0.0, 0.0, 9.80665])}, r"gravity is .*\[world\] gravity"),
        ({"frames": {"wrench": "body"}, "X_BS": None}, r"axes of the wrench is body"),
        ({"X_BS": HIGHER}, r"mount of the sensor is .*\[wrench\] mount"),
    ],
)
def test_logs_in_different_frames_are_rejected(change, said):
    loaded, empty = (
        replace(one, frames={"wrench": "sensor"}, X_BS=Pose.identity())
        for one in both(PAYLOAD, 1, include="pose")
    )
    with pytest.raises(LogError, match=said):
        identify.fit(loaded, unloaded=replace(empty, **change))
