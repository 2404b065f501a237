from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.errors import IdentifyError
from identify.estimation import EstimatorSettings, TooLittleMotion, estimate_body
from identify.inertia import PHI, default_body
from identify.regressors import block_statistics, newton_euler_wrench
from identify.signals import prepare
from identify.spatial import BodyMotion
from tests.close import assert_close, group_errors
from tests.estimation.simulated import Samples, samples, wrench_noise
from tests.recordings import GRAVITY, still_poses
from tests.strategies import random_body

INERTIA = PHI[4:]
BIAS = np.array([3.0, -2.0, 4.0, 0.1, 0.2, -0.1])
SENSOR = np.repeat([0.05, 0.003], 3)


def still(phi, count: int, seed: int = 0, noise=SENSOR, bias=BIAS, **options):
    rotations = Rotation.random(count, random_state=seed)
    return still_poses(phi, rotations, bias=bias, noise=noise, seed=seed, **options)


def estimate_of(recording, settings: EstimatorSettings | None = None):
    return estimate_body([block_statistics(prepare(recording))], settings)


def dwells(
    phi,
    seed: int,
    pose_noise: float,
    *,
    move: float = 0.0,
    rate: float = 100.0,
    dwell: float = 2.0,
    count: int = 7,
):
    """Static poses as a log with time: dwells, with jumps or smooth slow moves between them."""
    rng = np.random.default_rng(seed)
    R = Rotation.random(count, random_state=seed)
    p = rng.uniform(-0.5, 0.5, (count, 3))
    steps, rows = int(move * rate), int(dwell * rate)
    u = (np.arange(steps) + 1.0) / (steps + 1.0)
    ramp = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    # Where the body is on the way from pose to pose: 0, …, 0, ramp to 1, 1, …, 1, ramp to 2, …
    way = np.concatenate([np.concatenate((np.full(rows, k), k + ramp)) for k in range(count)])
    way = way[: len(way) - steps] if steps else way
    k = np.minimum(way.astype(int), count - 2)
    share = (way - k)[:, None]
    turn = (R[k].inv() * R[k + 1]).as_rotvec()
    rotations = R[k] * Rotation.from_rotvec(share * turn)
    position = p[k] + share * (p[k + 1] - p[k])
    time = np.arange(len(way)) / rate

    acceleration = np.zeros_like(position)
    w = np.zeros_like(position)
    alpha = np.zeros_like(position)
    if steps:
        # The turn from k to k + 1 is about one axis fixed in the body.
        speed, curve = np.gradient(share[:, 0], time), np.zeros(len(time))
        flat = 30.0 * (u**2 - 2 * u**3 + u**4), 60.0 * (u - 3 * u**2 + 2 * u**3)
        speed[:] = 0.0
        for leg in range(count - 1):
            at = slice(leg * (rows + steps) + rows, (leg + 1) * (rows + steps))
            speed[at], curve[at] = flat[0] / move, flat[1] / move**2
        w, alpha = speed[:, None] * turn, curve[:, None] * turn
        acceleration = curve[:, None] * (p[k + 1] - p[k])
    motion = BodyMotion(rotations.inv().apply(acceleration - GRAVITY), w, alpha)
    wrench = newton_euler_wrench(phi, motion) + BIAS + rng.normal(size=(len(time), 6)) * SENSOR
    q = rotations.as_quat() + rng.normal(0.0, pose_noise, (len(time), 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    template = still(phi, 2)
    return replace(
        template,
        time=time,
        signals={
            "position": position + rng.normal(0.0, pose_noise, position.shape),
            "quaternion": q,
            "force": wrench[:, :3],
            "torque": wrench[:, 3:],
        },
        rows=len(time),
    )


@pytest.mark.parametrize("mass", [None, 1.0])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_single_static_pose_does_not_separate_mass_from_offset(mass, noise):
    phi = random_body(np.random.default_rng(0))
    with pytest.raises(
        TooLittleMotion, match=r"does not identify .*hx, hy, hz: .*--no-bias"
    ) as caught:
        estimate_of(still(phi, 1, noise=noise * SENSOR), EstimatorSettings(mass=mass))
    assert caught.value.unidentifiable == (PHI[:4] if mass is None else PHI[1:4])
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("pose_noise", [0.0, 1e-9, 1e-4, 1e-3])
@pytest.mark.parametrize("wrench_noise_", [0.0, 1.0])
def test_motionless_timed_log_identifies_nothing(pose_noise, wrench_noise_):
    """Six seconds at 100 Hz; the sign of the mass is as random as the noise, and blames nobody."""
    phi = random_body(np.random.default_rng(2))
    outcome = {}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        R = Rotation.random(1, random_state=seed)[np.zeros(600, dtype=int)]
        still_log = still_poses(phi, R, bias=BIAS, noise=wrench_noise_ * SENSOR, seed=seed)
        q = still_log.signals["quaternion"] + rng.normal(0.0, pose_noise, (600, 4))
        q /= np.linalg.norm(q, axis=1, keepdims=True)
        timed = replace(
            still_log,
            time=np.arange(600) / 100.0,
            signals={
                **still_log.signals,
                "quaternion": q,
                "position": rng.normal(0.0, pose_noise, (600, 3)),
            },
        )
        try:
            outcome[seed] = f"mass {estimate_of(timed).parameters.mass:.3g}"
        except TooLittleMotion:
            continue
        except IdentifyError as error:
            outcome[seed] = f"{type(error).__name__}: {error}"[:60]
    assert not outcome


@pytest.mark.parametrize("bias", ["per_log", "none"])
@pytest.mark.parametrize("noise", [0.0, 1e-4, 1e-2])
def test_vertical_rotation_does_not_identify_height_of_com(bias, noise):
    phi = random_body(np.random.default_rng(3))
    time = np.arange(0.0, 10.0, 0.01)
    swing = 1.5 * np.sin(np.pi * time), 1.5 * np.pi * np.cos(np.pi * time)
    zero = np.zeros_like(time)
    motion = BodyMotion(
        np.tile(-GRAVITY, (len(time), 1)),
        np.column_stack((zero, zero, swing[1])),
        np.column_stack((zero, zero, -(np.pi**2) * swing[0])),
    )
    log = samples(phi, np.random.default_rng(4), motion=motion, noise=wrench_noise(phi, noise))
    with pytest.raises(TooLittleMotion, match=r"does not identify .*hz") as caught:
        estimate_body([log.blocks(300.0)], EstimatorSettings(bias=bias))
    assert "hz" in caught.value.unidentifiable


def test_two_poses_without_bias_identify_mass_and_first_moment():
    phi = random_body(np.random.default_rng(5))
    estimate = estimate_of(still(phi, 2, bias=0.0), EstimatorSettings(bias="none"))
    assert_close(estimate.parameters.mass, phi[0], 0.01)
    assert_close(estimate.parameters.phi[1:4], phi[1:4], 0.05)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("frame", ["body", "world"])
def test_seven_static_poses_identify_mass_and_centre_only(seed, frame):
    phi = random_body(np.random.default_rng(seed), mass=1.1)
    estimate = estimate_of(still(phi, 7, seed, wrench=frame))
    assert [estimate.decided_by[name] for name in PHI] == ["data"] * 4 + ["default"] * 6
    assert not estimate.complete
    assert_close(estimate.parameters.mass, phi[0], 0.02)
    assert_close(estimate.parameters.com, phi[1:4] / phi[0], 0.05)
    assert_close(estimate.biases[0], BIAS, 0.03)
    expected = default_body(estimate.parameters.mass, estimate.parameters.com)
    assert_close(
        estimate.parameters.inertia_about_com,
        np.diag(np.full(3, 0.4 * expected[0] * radius_of(estimate.default_body) ** 2)),
        5e-3,
    )
    assert estimate.parameters.consistent
    assert estimate.certificate.rank == 4
    for name in (*INERTIA, "Icxx", "Icyz"):
        assert estimate.intervals[name] is None
    for name in ("m", "hx", "cx", "cz"):
        assert estimate.intervals[name] is not None


def radius_of(words: str) -> float:
    """The radius that the words on the default body say [m]."""
    assert words.startswith("near a solid ball of 1000 kg/m³ about the centre of mass, radius ")
    return 1e-3 * float(words.split()[-2])


def test_seven_static_poses_without_noise_are_exact():
    phi = random_body(np.random.default_rng(6))
    estimate = estimate_of(still(phi, 7, noise=0.0))
    errors = group_errors(estimate.parameters.phi, phi)
    assert max(errors.mass, errors.first_moment) < 1e-12
    assert {estimate.decided_by[name] for name in INERTIA} == {"default"}


@pytest.mark.parametrize("pose_noise", [0.0, 1e-5, 1e-4, 1e-3, 1e-2])
def test_timed_static_poses_with_noisy_pose_do_not_identify_inertia(pose_noise):
    """Dwells with jumps between them: the noise of the pose, differentiated twice, is no motion."""
    for seed in range(4):
        phi = random_body(np.random.default_rng(seed))
        estimate = estimate_of(dwells(phi, seed, pose_noise))
        assert {estimate.decided_by[name] for name in INERTIA} == {"default"}, seed
        assert {estimate.decided_by[name] for name in PHI[:4]} == {"data"}, seed
        # Noise of the attitude shrinks mass and first moment a little: a known limit.
        assert_close(estimate.parameters.mass, phi[0], 0.1 if pose_noise > 1e-3 else 0.01)


def test_slow_moves_between_static_poses_do_not_identify_inertia():
    """Fifteen seconds from pose to pose: inertia asks for far less than the noise fakes."""
    for seed in range(2):
        phi = random_body(np.random.default_rng(seed))
        estimate = estimate_of(dwells(phi, seed, 2e-3, move=15.0))
        assert "data" not in {estimate.decided_by[name] for name in INERTIA}, seed
        assert_close(estimate.parameters.mass, phi[0], 0.02)


def test_brisk_moves_between_static_poses_identify_inertia():
    phi = random_body(np.random.default_rng(1))
    estimate = estimate_of(dwells(phi, 1, 1e-5, move=1.0, rate=250.0))
    assert estimate.complete
    assert group_errors(estimate.parameters.phi, phi).inertia < 0.02


def test_acceleration_noise_is_subtracted_from_information():
    """White noise as the only angular acceleration: told without its account, not told with it."""
    rng = np.random.default_rng(7)
    phi = random_body(rng)
    tilt = Rotation.random(400, random_state=8).inv().apply(-GRAVITY)
    fake = BodyMotion(tilt, np.zeros((400, 3)), rng.normal(0.0, 5.0, (400, 3)))
    real = BodyMotion(tilt, np.zeros((400, 3)), np.zeros((400, 3)))
    wrench = newton_euler_wrench(phi, real) + rng.normal(size=(400, 6)) * SENSOR
    log = Samples(fake, wrench)
    noise = np.zeros(18)
    naive = estimate_body([log.blocks(noise=noise)])
    assert naive.complete
    noise[3:6] = 25.0
    aware = estimate_body([log.blocks(noise=noise)])
    assert {aware.decided_by[name] for name in INERTIA} == {"default"}
    assert_close(aware.parameters.mass, phi[0], 0.01)
