"""The scale and unit of an inertial measurement unit where no pose tells them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import identify
from identify.logs import Recording, read_log
from tests.checks import fit_corrected
from tests.imu import PHI, columns, in_files, schema
from tests.recordings import GRAVITY, WRENCH_ARRAYS, without_effects
from tests.slow import mostly_slow

G = 9.80665
OF_BODY = np.array([0.9, 0.009, -0.018, 0.081])


def still(gain: float, *, seed: int = 0, count: int = 24, tilt: float = np.pi) -> Recording:
    """Poses by an accelerometer with an offset of .01 g, tilted up to an angle."""
    rng = np.random.default_rng(seed)
    turns = rng.uniform(-tilt, tilt, (count, 3)) * (1.0, 1.0, np.pi / tilt)
    up = Rotation.from_euler("xyz", turns).inv().apply(-GRAVITY)
    wrench = np.hstack((OF_BODY[0] * up, np.cross(OF_BODY[1:], up)))
    wrench += np.array([3.0, -2.0, 5.0, 0.1, -0.2, 0.05])
    noise = rng.standard_normal((count, 9)) * [*[0.02] * 3, *[0.03] * 3, *[3e-3] * 3]
    return read_log(
        {
            "accelerometer": gain * (up + noise[:, :3] + 0.1 * rng.standard_normal(3)),
            "force": (wrench + noise[:, 3:])[:, :3],
            "torque": (wrench + noise[:, 3:])[:, 3:],
        },
        {
            "log": {"still": True},
            "imu": {"accelerometer": "accelerometer", "mount": {"translation": [0.0, 0.0, 0.0]}},
            "wrench": WRENCH_ARRAYS,
        },
    )


AT_REST = [
    (1.0 / G, 'unit = "g"'),
    (1e3 / G, 'unit = "mg"'),
    (16384.0 / G, "accelerometer_gain = 0.0006"),
    (0.5, "accelerometer_gain = 2"),
]


@pytest.mark.parametrize(("gain", "line"), mostly_slow(AT_REST, AT_REST[3:]))
def test_another_unit_at_rest_is_named_first_and_read_rightly_on_request(gain, line):
    log = still(gain)
    found = identify.fit(log)
    assert found.verdict.usable == "no"
    assert found.findings[0].code == "imu_scale"
    assert line[:-1] in found.findings[0].remedy
    applied = fit_corrected(log, found, "imu_scale").estimate
    assert abs(applied.parameters.mass - 0.9) < 3.0 * np.sqrt(applied.covariance[0, 0])


@pytest.mark.parametrize("tilt", [np.pi, 0.7])
@pytest.mark.parametrize("seed", mostly_slow(range(4), {0, 1}))
def test_a_scale_at_rest_that_is_little_off_is_divided_out_with_its_error(seed, tilt):
    found = identify.fit(still(1.03, seed=seed, tilt=tilt))
    error = found.estimate.parameters.mass - 0.9
    assert abs(error) < 2.5 * np.sqrt(found.estimate.covariance[0, 0])
    assert np.sqrt(found.estimate.covariance[0, 0]) < 0.01
    if tilt > 1.0:
        assert ("imu_scale", "warning") in [(f.code, f.severity) for f in found.findings]


def test_a_scale_that_is_right_is_no_warning():
    for seed in range(3):
        found = [f for f in identify.fit(still(1.0, seed=seed)).findings if f.code == "imu_scale"]
        assert all(f.severity == "info" for f in found)


DEGREES = 180.0 / np.pi


IN_MOTION = [
    (1.0 / G, 1.0, "imu_scale", ['unit = "g"']),
    (1e3 / G, 1.0, "imu_scale", ['unit = "mg"']),
    (1.1, 1.0, "imu_scale", ["accelerometer_gain = 0.9"]),
    (1.0, DEGREES, "angle_unit", ['angle_unit = "deg"']),
    (1.0 / G, DEGREES, "imu_scale", ['unit = "g"', 'angle_unit = "deg"']),
]


@pytest.mark.parametrize(("gain", "rate", "code", "lines"), mostly_slow(IN_MOTION, IN_MOTION[4:]))
def test_units_and_scale_in_motion_are_named_first_and_corrected_on_request(
    tmp_path, gain, rate, code, lines
):
    given = columns(noise=1.0, gain=gain)
    given["gyro"] = rate * given["gyro"]
    log = without_effects(read_log(*in_files(tmp_path / "log", given, schema(pose=False))))
    found = identify.fit(log)
    assert found.verdict.usable == "no"
    assert found.findings[0].code == code
    assert "equivalent" not in found.findings[0].evidence
    assert all(line in found.findings[0].remedy for line in lines)
    mass = fit_corrected(log, found, code).estimate.parameters.mass
    assert mass == pytest.approx(PHI[0], rel=0.01)


def test_a_log_of_a_unit_that_reads_gravity_passes_the_check(tmp_path):
    log = read_log(*in_files(tmp_path / "log", columns(noise=1.0, seed=4), schema(pose=False)))
    assert identify.fit(log, check=True).verdict.reasons == ("scale_limit",)


def test_gravity_that_was_corrected_is_named_first(tmp_path):
    given = columns(noise=1.0, seed=2)
    rotation = Rotation.from_quat(given["q"])
    nearest = np.searchsorted(given["pose_t"], given["acc_t"]).clip(max=len(rotation) - 1)
    given["acc"] += rotation[nearest].inv().apply(GRAVITY)
    log = read_log(*in_files(tmp_path / "log", given, schema(pose=False)))
    found = identify.fit(log)
    assert found.verdict.usable == "no"
    assert found.findings[0].code == "imu_scale"
    assert "gravity was subtracted" in found.findings[0].text
    with pytest.raises(identify.IdentifyError, match=r"it cannot be corrected.*pose"):
        fit_corrected(log, found, "imu_scale")


def without_position(given: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict]:
    """Columns and schema of a unit that gives its attitude besides."""
    described = schema()
    del described["pose"]["position"]
    return {name: values for name, values in given.items() if name != "p"}, described


@pytest.mark.slow
@pytest.mark.parametrize("gain", mostly_slow([1.0, 1.005, 0.99, 1.03], {1.03}))
def test_intervals_of_a_motion_hold_the_mass_whatever_the_scale_is(tmp_path, gain):
    """The accelerometer has an offset too; what the scale leaves open is of calibration."""
    for seed in range(3):
        given = columns(seed, noise=1.0, gain=gain)
        log = read_log(*in_files(tmp_path / f"{seed}", given, schema(pose=False)))
        found = identify.fit(log).estimate
        low, high = found.intervals["m"]
        assert low < PHI[0] < high
        assert high - low < 0.2 * PHI[0]
        assert np.sqrt(found.repeatability[0, 0]) < 2e-3 * PHI[0]


def test_the_error_of_the_scale_moves_the_estimate_as_another_scale_does():
    """The covariance against a log that is read with another gain."""
    given = columns(1, noise=0.1)
    one, other = (
        identify.fit(read_log(given, schema(pose=False, accelerometer_gain=gain)))
        for gain in (1.0, 1.002)
    )
    imu = one.logs[0].imu
    assert 0.001 < imu.scale_error < 0.03
    moved = other.estimate.parameters.phi - one.estimate.parameters.phi
    sigma = np.abs(moved) * imu.scale_error / 0.002
    expected = np.sqrt(np.diag(one.estimate.calibration))
    np.testing.assert_allclose(sigma[:4], expected[:4], rtol=0.1, atol=1e-2 * expected[0])


@pytest.mark.parametrize("posed", [False, True])
def test_large_rotations_separate_scale_from_offset(posed):
    """By the turns of a gyro, or by an attitude without a position."""
    errors = []
    for angle, seconds in ((0.9, 12.0), (2.5, 40.0)):
        given, described = columns(2, noise=1.0, angle=angle, seconds=seconds), schema(pose=False)
        if posed:
            given, described = without_position(given)
        found = identify.fit(read_log(given, described))
        errors.append(found.logs[0].imu.scale_error)
        low, high = found.estimate.intervals["m"]
        assert low < PHI[0] < high
    assert errors[1] < 0.5 * errors[0] < 0.01


def test_implausible_mass_is_an_error():
    log = still(1.0)
    far = replace(log, signals={**log.signals, "torque": 100.0 * log.signals["torque"]})
    heavy = {name: 4000.0 * log.signals[name] for name in ("force", "torque")}
    for wrong in (far, replace(log, signals={**log.signals, **heavy})):
        found = identify.fit(wrong)
        assert found.verdict.usable == "no"
        assert "not_held" in [f.code for f in found.findings if f.severity == "error"]
