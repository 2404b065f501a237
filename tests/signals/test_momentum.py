"""Momentum form: summation by parts written out, the acceleration form, and noise really there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.errors import LogError
from identify.signals import prepare
from identify.signals.kernels import Differentiator
from identify.signals.kinematics import kinematics_of
from identify.signals.preparation import _wrench_in_body, rows_of
from identify.signals.propagation import propagate
from identify.signals.transform import BY_PARTS, SAMPLE, block_transform, derivative_gains
from tests.close import assert_close
from tests.recordings import GRAVITY, POSE, Path, record, still_poses
from tests.signals.test_noise import moments_over_true
from tests.signals.test_prepare import assert_obeyed, assert_true_features
from tests.signals.test_propagation import disturbed, slow_noise
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
PATH = Path.random(3)
RATE = 200.0
TIME = np.arange(0.0, 6.0, 1.0 / RATE)
TWIST = ("linear_velocity", "angular_velocity")
ACCELERATIONS = ("linear_acceleration", "angular_acceleration")
DIFFERENTIATOR = Differentiator.design(RATE, 5.0)
HALO = DIFFERENTIATOR.halo

CASES = [
    (POSE, "body", HALO + 4),
    (("quaternion", "linear_velocity"), "body", HALO + 4),
    ((*POSE, "angular_velocity"), "body", HALO + 4),
    ((*POSE, "angular_velocity"), "world", HALO + 4),
    ((*POSE, *TWIST), "world", HALO + 4),
    ((*POSE, "linear_acceleration"), "body", HALO + 4),
    ((*POSE, *TWIST), "body", HALO),
    ((*POSE, "angular_velocity", *ACCELERATIONS), "world", HALO),
    ((*POSE, *TWIST, *ACCELERATIONS), "world", 0),
]


@pytest.mark.parametrize(("give", "frame", "halo"), CASES)
def test_both_forms_have_the_true_columns(give, frame, halo):
    log = record(PATH, PHI, TIME, give, twist=frame, acceleration=frame)
    prepared = prepare(log, 5.0, form="momentum")
    assert_true_features(prepared, 3e-5)
    assert_obeyed(prepared, 3e-5)
    assert sum(block.samples for block in prepared.blocks) == len(TIME) - 2 * halo
    if halo < HALO + 4:  # nothing is differentiated that was turned first
        for block, same in zip(prepared.blocks, prepare(log, 5.0).blocks, strict=True):
            assert_close(block.rows, same.rows, 0.0)
            assert_close(block.noise[1], same.noise[1], 0.0)


def test_rows_in_momentum_form_are_sums_by_parts():
    """−Σ u̇ v + Σ u (ω × v − Rᵀg) and −Σ u̇ ω, to rounding."""
    log = record(PATH, PHI, TIME, POSE)
    (block,) = prepare(log, 5.0, form="momentum").blocks
    transform = block_transform(block.samples, RATE, 5.0, tapered=True)
    every = np.arange(transform.rows)
    u = transform.cosines(every)
    (minus_du,) = transform.through(DIFFERENTIATOR.difference[None], every)
    of_pose = kinematics_of(log, log.signals, DIFFERENTIATOR)  # four samples longer at both ends
    w = of_pose.motion.angular_velocity
    R, velocity = np.asarray(of_pose.rotation), np.asarray(of_pose.velocity)
    v = np.einsum("nji,nj->ni", R, velocity)
    slow = np.cross(w, v) - np.einsum("nji,j->ni", R, GRAVITY)
    # Rows of noise-free motion are far smaller than what they are sums of.
    assert_close(block.rows[:, 1:4], minus_du @ v + u @ slow[4:-4], 1e-12, scale=100.0)
    assert_close(block.rows[:, 4:7], minus_du @ w, 1e-12, scale=100.0)


@pytest.mark.parametrize("length", [401, 2000])
def test_what_is_moved_to_the_cosines_is_their_derivative(length):
    """Against w' cos − w k' sin; where the taper bends, its second derivative jumps."""
    transform = block_transform(length, RATE, 5.0, tapered=True)
    every = np.arange(transform.rows)
    (minus_du,) = transform.through(DIFFERENTIATOR.difference[None], every)
    omega = np.pi * every[:, None] * RATE / length
    time = (np.arange(length) + 0.5) / RATE
    rise = round(0.05 * length) / RATE
    at_end = np.minimum(time, length / RATE - time)
    rises = at_end < rise
    taper = np.where(rises, 0.5 - 0.5 * np.cos(np.pi * at_end / rise), 1.0)
    slope = np.where(rises, 0.5 * np.pi / rise * np.sin(np.pi * at_end / rise), 0.0)
    slope *= np.sign(length / RATE / 2 - time)
    plain = taper * np.cos(omega * time)
    derivative = slope * np.cos(omega * time) - taper * omega * np.sin(omega * time)
    # The transform's own functions are combinations of these.
    mixed = transform.cosines(every) @ np.linalg.pinv(plain)
    assert_close(mixed @ plain, transform.cosines(every), 1e-12)
    du = mixed @ derivative
    smooth = (at_end > 5.0 / RATE) & (np.abs(at_end - rise) > 5.0 / RATE)
    assert_close(-minus_du[:, 4:-4][:, smooth], du[:, smooth], 1e-6, scale=np.abs(du).max())
    assert_close(-minus_du[:, 4:-4], du, 0.05, scale=np.abs(du).max())
    assert_close(minus_du.sum(axis=1), np.zeros(len(every)), 1e-12, scale=RATE)


@pytest.mark.parametrize(("fastest_hz", "rtol"), [(0.5, 3e-7), (1.0, 1e-5), (1.5, 1e-4)])
def test_both_forms_agree_as_their_derivatives_are_exact(fastest_hz, rtol):
    """To the sixth order of frequency."""
    path = Path.random(5, fastest_hz=fastest_hz)
    log = record(path, PHI, TIME, POSE)
    (block,) = prepare(log, 5.0, form="momentum").blocks
    edge = (HALO + 3.5) / RATE
    (same,) = prepare(log, 5.0, (edge, float(TIME[-1]) - edge)).blocks
    assert block.samples == same.samples
    found, expected = block.rows[:, 1:7], same.rows[:, 1:7]
    assert_close(found, expected, rtol)
    assert np.abs(found - expected).max() > 1e-9
    assert_close(block.rows[:, 7:], same.rows[:, 7:], 1e-12, scale=100.0)


# Noise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("give", "frame", "_"), CASES[:6])
def test_noise_reaches_the_columns_as_finite_differences_do(give, frame, _):
    log = record(PATH, PHI, TIME[:160], give, twist=frame, acceleration=frame)

    def columns_of(recording):
        kinematics = kinematics_of(recording, recording.signals, DIFFERENTIATOR, "momentum")
        inner = slice(kinematics.halo, len(recording) - kinematics.halo)
        loads = {name: recording.signals[name][inner] for name in ("force", "torque")}
        wrench = _wrench_in_body(recording, loads, kinematics.rotation)
        return kinematics, wrench, rows_of(kinematics.motion, wrench)[:, 1:]

    kinematics, wrench, _ = columns_of(log)
    assert any(kinematics.by_parts)
    time = TIME[kinematics.halo : 160 - kinematics.halo]
    through = propagate(log, log.signals, kinematics, wrench, np.arange(len(time)))
    within = {moved: order for order, moved in BY_PARTS.items()}
    for name in log.signals:
        noise, step = slow_noise(name, 0), 1e-4
        above, below = (
            columns_of(disturbed(log, name, noise, s, TIME[:160]))[2] for s in (step, -step)
        )
        found = (above - below) / (2.0 * step)
        expected, moved = np.zeros_like(found), np.zeros_like(found)
        for number, (signal, order) in enumerate(through.ways):
            if signal == name:
                derivative = within.get(order, order)
                n = noise.at(time, 0 if derivative == SAMPLE else derivative)
                total = moved if order in within else expected
                total += np.einsum("tij,tj->ti", through.J[:, :, 3 * number :][..., :3], n)
        expected = expected[4:-4] + DIFFERENTIATOR.differences(moved)
        for columns in (slice(0, 3), slice(3, 6), slice(6, 12), slice(12, 18)):
            scale = max(1.0, np.abs(expected[:, columns]).max())
            assert_close(found[4:-4, columns], expected[:, columns], 1e-3, scale=scale)


def test_gains_of_what_is_moved_are_those_of_both_kernels_in_turn():
    """Against impulses sent through one after the other."""
    transform = block_transform(400, RATE, 5.0, tapered=True)
    orders = (SAMPLE, BY_PARTS[SAMPLE], BY_PARTS[0], BY_PARTS[1])
    gains = derivative_gains(transform, DIFFERENTIATOR, orders)
    impulses = np.eye(400 + 2 * HALO + 8)
    once = [impulses[HALO:-HALO], *(DIFFERENTIATOR.apply(impulses, order) for order in (0, 1))]
    at = [impulses[HALO + 4 : -HALO - 4], *map(DIFFERENTIATOR.differences, once)]
    for group, gain in gains.items():
        u = transform.cosines(np.flatnonzero(transform.groups == group)[:16])
        if np.count_nonzero(transform.groups == group) <= 16:
            through = np.array([(u @ x).ravel() for x in at])
            sizes = np.sqrt(np.diag(gain))
            assert_close(
                gain / np.outer(sizes, sizes),
                through @ through.T / len(u) / np.outer(sizes, sizes),
                1e-10,
            )
    assert len(gains) > 5


def test_noise_of_a_pose_that_turns_briskly_is_known_in_every_band_of_angular_acceleration():
    """What is fast and strong in a pose is not said to be in rows that it does not reach.

    In acceleration form that of the lowest band is said to be three times what it is.
    """
    noise = {"position": 2e-4, "quaternion": 1e-3, "force": 0.1, "torque": 0.01}
    ratios = moments_over_true(100.0, 60.0, POSE, noise, 5, form="momentum")
    of_alpha = [ratio for (name, group), ratio in ratios.items() if name == "alpha" and group]
    assert len(of_alpha) > 5
    assert_close(of_alpha, np.ones(len(of_alpha)), 0.3)


# What it cannot do -------------------------------------------------------------------------------


def test_a_segment_must_hold_the_kernel_of_both_derivatives():
    enough = 2 * HALO + 8 + round(RATE / 5.0)
    log = record(PATH, PHI, TIME[: enough + 2], POSE)
    assert prepare(log, 5.0, form="momentum").blocks
    short = record(PATH, PHI, TIME[: enough - 1], POSE)
    assert prepare(short, 5.0).blocks
    with pytest.raises(LogError, match=r"momentum form .* takes 8[01] rows; the longest has 79"):
        prepare(short, 5.0, form="momentum")


def test_a_form_is_one_of_two():
    impulse: Any = "impulse"
    with pytest.raises(LogError, match="expected one of acceleration, momentum, got 'impulse'"):
        prepare(record(PATH, PHI, TIME, POSE), form=impulse)


def test_still_poses_have_one_form():
    log = still_poses(PHI, Rotation.random(6, random_state=0))
    assert_close(prepare(log, form="momentum").rows, prepare(log).rows, 0.0)
