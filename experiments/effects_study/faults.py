"""Faults added to logs: small faults of every sensor, and disturbances outside the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import bilinear, lfilter, lfilter_zi

from experiments.effects_study.subjects import STILL, Log, direction, log_uniform
from identify.arrays import Array
from identify.logs.synthetic import wrench_on_body
from identify.spatial.rotations import exp_rotation, quaternion_product, rotation_from_quaternion
from identify.spatial.vectors import GRAVITY_W

Change: TypeAlias = Callable[[Log, np.random.Generator], Log]

SENSOR_LENGTH = 0.05
"""Ratio of a sensor's torque range to its force range, to scale crosstalk [m]."""


def _map_wrench(log: Log, G: Array) -> Log:
    return replace(log, wrench=log.wrench @ G.T)


def _with_wrench(log: Log, wrench: Array) -> Log:
    return replace(log, wrench=log.wrench + wrench)


def _add_force_at(log: Log, force: Array, at: Array) -> Log:
    return _with_wrench(log, np.concatenate((force, np.cross(at, force)), axis=1))


def _random_rotation(rng: np.random.Generator, axis: Array) -> Array:
    return exp_rotation(np.radians(log_uniform(rng, 0.5, 3.0)) * axis)


def displaced_point(log: Log, rng: np.random.Generator) -> Log:
    """Shift the point of the pose by 2 to 20 mm from that of the wrench."""
    R, shift = rotation_from_quaternion(log.quaternion), log_uniform(rng, 2e-3, 20e-3)
    return replace(log, position=log.position + R @ (shift * direction(rng)))


def tilted_gravity(log: Log, rng: np.random.Generator) -> Log:
    """Tilt the world frame of the pose by 0.5 to 3 degrees from the vertical."""
    angle = rng.uniform(0.0, 2.0 * np.pi)
    q = _random_rotation(rng, np.array([np.cos(angle), np.sin(angle), 0.0]))
    position = log.position @ rotation_from_quaternion(q).T
    return replace(log, position=position, quaternion=quaternion_product(q, log.quaternion))


def misalignment(log: Log, rng: np.random.Generator) -> Log:
    """Rotate the sensor axes by 0.5 to 3 degrees."""
    R = rotation_from_quaternion(_random_rotation(rng, direction(rng)))
    return _map_wrench(log, np.kron(np.eye(2), R))


def crosstalk(log: Log, rng: np.random.Generator) -> Log:
    """Add crosstalk between all channels, of up to 0.2 to 5 %."""
    units = np.repeat([1.0, SENSOR_LENGTH], 3)
    E = log_uniform(rng, 2e-3, 5e-2) * rng.uniform(-1.0, 1.0, (6, 6)) * (1.0 - np.eye(6))
    return _map_wrench(log, np.eye(6) + units[:, None] * E / units)


def one_axis(log: Log, rng: np.random.Generator) -> Log:
    """Change the gain of one channel by 0.5 to 5 %."""
    gains, size = np.ones(6), log_uniform(rng, 5e-3, 5e-2)
    gains[rng.integers(6)] += rng.choice([-size, size])
    return _map_wrench(log, np.diag(gains))


def stated_gain(log: Log, rng: np.random.Generator) -> Log:
    """Scale force and torque by gains whose standard deviation the schema states."""
    sigma = log_uniform(rng, 3e-3, 3e-2)
    gains = np.diag(np.repeat(1.0 + sigma * rng.normal(size=2), 3))
    return replace(_map_wrench(log, gains), gain_accuracy=(sigma, sigma))


def low_pass(log: Log, rng: np.random.Generator) -> Log:
    """Filter the wrench by a first-order low-pass of 5 to 40 Hz."""
    omega = 2.0 * np.pi * log_uniform(rng, 5.0, 40.0)
    b, a = bilinear([omega], [1.0, omega], log.rate_hz)
    first = lfilter_zi(b, a)[:, None] * log.wrench[0]
    return replace(log, wrench=lfilter(b, a, log.wrench, axis=0, zi=first)[0])


def delay(log: Log, rng: np.random.Generator) -> Log:
    """Delay the wrench by 3 to 20 ms relative to the pose."""
    wrench, delay_s = CubicSpline(log.samples.time, log.wrench), log_uniform(rng, 3e-3, 20e-3)
    return replace(log, wrench=wrench(log.samples.time - delay_s))


_SHAPES = ("line", "exponential", "step", "walk")


def drift(shape: str, log: Log, rng: np.random.Generator) -> Log:
    """Let the sensor offset drift by 0.3 to 5 % of the weight, with one of `_SHAPES`."""
    s, rate = np.linspace(0.0, 1.0, len(log.wrench))[:, None], rng.uniform(2.0, 20.0)
    profile = {
        "line": s,
        "exponential": 1.0 - np.exp(-rate * s),
        "step": s > rng.uniform(0.2, 0.8),
        "walk": np.cumsum(rng.normal(size=log.wrench.shape), axis=0) / len(s) ** 0.5,
    }[shape]
    return _with_wrench(
        log, log_uniform(rng, 3e-3, 5e-2) * log.scale * rng.uniform(-1, 1, 6) * profile
    )


def cable(log: Log, rng: np.random.Generator) -> Log:
    """Add a hose that pulls to a fixed point, by 0.05 to 0.3 of the weight per metre."""
    anchor = rng.uniform(0.05, 0.2) * direction(rng)
    pull = log_uniform(rng, 0.05, 0.3) * log.scale[0] * (anchor - log.samples.position)
    return _add_force_at(log, -log.in_body(pull), rng.uniform(0.03, 0.1) * direction(rng))


def swing(log: Log, rng: np.random.Generator) -> Log:
    """Add an oscillating part of 2 to 10 % of the mass, at 1.5 to 5 Hz."""
    omega, damping = 2.0 * np.pi * log_uniform(rng, 1.5, 5.0), log_uniform(rng, 0.02, 0.1)
    b, a = bilinear([-1.0, 0.0, 0.0], [1.0, 2.0 * damping * omega, omega**2], log.rate_hz)
    acceleration = log.in_body(log.samples.acceleration - GRAVITY_W)
    swung = lfilter(b, a, acceleration - acceleration[0], axis=0)
    at = log.phi[1:4] / log.phi[0] + 0.05 * direction(rng)
    return _add_force_at(log, log_uniform(rng, 0.02, 0.1) * log.phi[0] * swung, at)


def hysteresis(log: Log, rng: np.random.Generator) -> Log:
    """Add backlash of 0.1 to 1 % of the span of each channel."""
    half = 0.5 * log_uniform(rng, 1e-3, 1e-2) * np.ptp(log.wrench, axis=0)
    shown = log.wrench[:1]
    rows = [shown := np.clip(shown, w - half, w + half) for w in log.wrench]
    return replace(log, wrench=np.concatenate(rows))


def friction(log: Log, rng: np.random.Generator) -> Log:
    """Add friction of 0.2 to 2 % of the weight with the sign of the velocity."""
    v = log.in_body(log.samples.velocity)
    signs = np.tanh(np.concatenate((v / 5e-3, log.samples.angular_velocity / 2e-2), axis=1))
    return _with_wrench(log, log_uniform(rng, 2e-3, 2e-2) * log.scale * signs)


def coloured_noise(log: Log, rng: np.random.Generator) -> Log:
    """Add noise with a memory of 0.05 to 1 s, one to five times the white noise."""
    keep = float(np.exp(-1.0 / (log_uniform(rng, 0.05, 1.0) * log.rate_hz)))
    steps = (1.0 - keep**2) ** 0.5 * rng.normal(size=log.wrench.shape)
    noise = lfilter([1.0], [1.0, -keep], steps, axis=0, zi=keep * rng.normal(size=(1, 6)))[0]
    return _with_wrench(log, log_uniform(rng, 1.0, 5.0) * log.noise * noise)


def hum(log: Log, rng: np.random.Generator) -> Log:
    """Add a sine of 31 Hz, or mains hum with aliased harmonics, of 0.2 to 2 %."""
    tones = rng.choice([[31.0, 0.0], [50.0, 100.0]]) * (1.0 + 1e-3 * rng.normal())
    waves = np.sin(2.0 * np.pi * log.samples.time[:, None] * tones)
    size = log_uniform(rng, 2e-3, 2e-2) * log.scale * rng.uniform(-1.0, 1.0, 6)
    return _with_wrench(log, size * waves.sum(axis=1, keepdims=True))


def still_vibration(log: Log, rng: np.random.Generator) -> Log:
    """Shake the base at 31 Hz; a tenth remains in the 0.1 s means that are static poses."""
    phase = rng.uniform(0.0, 2.0 * np.pi, (len(log.wrench), 1))
    shaken = 0.1 * log_uniform(rng, 0.3, 3.0) * np.cos(phase) * direction(rng)
    samples = replace(log.samples, acceleration=shaken)
    return replace(log, wrench=wrench_on_body(log.phi, samples, GRAVITY_W))


def _by_name(*changes: Change) -> dict[str, Change]:
    return {change.__name__.replace("_", " "): change for change in changes}


SMALL_FAULTS: Mapping[str, Change] = {
    **_by_name(displaced_point, tilted_gravity, misalignment, crosstalk, one_axis, stated_gain),
    **_by_name(low_pass, delay),
    **{f"drift, {shape}": partial(drift, shape) for shape in _SHAPES},
}
"""Small faults, in the order in which they are applied."""

DISTURBANCES = _by_name(cable, swing, hysteresis, friction, coloured_noise, hum, still_vibration)
"""Disturbances outside the fault model of a sensor."""

SEVERAL = {"pairs": 2, "threes": 3}
ONLY_MOVING = ("displaced point", "low pass", "delay", "swing", "friction", "coloured noise", "hum")


def apply_changes(log: Log, kind: str, motion: str, rng: np.random.Generator) -> tuple[Log, str]:
    """Apply the changes of a kind to a log; return it with their names."""
    names = _draw_small_faults(SEVERAL[kind], motion, rng) if kind in SEVERAL else [kind]
    for name in names:
        change = {**SMALL_FAULTS, **DISTURBANCES}.get(name)
        log = log if change is None else change(log, rng)
    return log, ", ".join(names)


def _draw_small_faults(count: int, motion: str, rng: np.random.Generator) -> list[str]:
    """Draw small faults, in the order in which they are applied, with at most one drift."""
    excluded = {"stated gain", *(ONLY_MOVING if motion == STILL else ())}
    excluded |= set(
        rng.permutation([name for name in SMALL_FAULTS if name.startswith("drift")])[1:]
    )
    names = [name for name in SMALL_FAULTS if name not in excluded]
    return [names[k] for k in sorted(rng.choice(len(names), size=count, replace=False))]
