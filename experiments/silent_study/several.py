"""Combinations of two or three perturbations of random sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from experiments.effects_study.subjects import direction, log_uniform
from experiments.silent_study import faults
from experiments.silent_study.faults import Fault
from experiments.silent_study.subjects import Subject
from identify.arrays import Array
from identify.spatial.rotations import exp_rotation, rotation_from_quaternion

PREFIX = "several "

Power: TypeAlias = Callable[[float], float]
"""Function of a frequency [rad/s]: log |det C|² of the map C of the wrench by a change."""

Change: TypeAlias = Callable[[Subject, np.random.Generator], Subject]

DrawnChange: TypeAlias = tuple[str, Change, Power]
"""Description of a random change, the change, and its power."""

_MISTAKE_SHARE = 0.25
"""Probability that mistakes without a size (sign, unit, order) may be drawn."""


def several(number: int, seed: int) -> Fault:
    """Return a combination of perturbations; number and seed determine it."""
    drawn = _draw_changes(number, seed)
    return _combined_fault(drawn, f"{PREFIX}{number}: {', '.join(name for name, _, _ in drawn)}")


def without_each(number: int, seed: int) -> list[Fault]:
    """Return the combinations that omit one of its perturbations each."""
    drawn = _draw_changes(number, seed)
    return [
        _combined_fault(
            [other for other in drawn if other is not omitted], f"{PREFIX}{number} but {omitted[0]}"
        )
        for omitted in drawn
    ]


def each_alone(number: int, seed: int) -> list[Fault]:
    """Return the perturbations of a combination, one by one."""
    drawn = _draw_changes(number, seed)
    return [_combined_fault([change], f"{PREFIX}{number} {change[0]}") for change in drawn]


def _draw_changes(number: int, seed: int) -> list[DrawnChange]:
    rng = np.random.default_rng([seed, 5000 + number])
    count = int(rng.integers(2, 4))
    kinds = list(_SIZED) if rng.random() > _MISTAKE_SHARE else [*_SIZED, *_MISTAKES, *_MISTAKES]
    chosen = rng.choice(len(kinds), size=count, replace=False)
    return [kinds[k](rng) for k in sorted(set(chosen.tolist()))]


def _combined_fault(drawn: Sequence[DrawnChange], name: str) -> Fault:
    def make(subject: Subject, rng: np.random.Generator) -> Sequence[Subject]:
        for _, change, _ in drawn:
            subject = change(subject, rng)
        return (subject,)

    return Fault(
        name,
        (),
        make,
        lambda omega: sum(power(omega) for _, _, power in drawn),
        "several",
    )


def _signed(rng: np.random.Generator, least: float, most: float) -> float:
    return float(rng.choice([-1.0, 1.0])) * log_uniform(rng, least, most)


def _no_power(omega: float) -> float:
    return 0.0


def _deterministic(change: Callable[[Subject], Subject]) -> Change:
    return lambda subject, rng: change(subject)


def _delay(rng: np.random.Generator) -> DrawnChange:
    seconds = log_uniform(rng, 3e-3, 60e-3)
    return (
        f"wrench late {1e3 * seconds:.3g} ms",
        _deterministic(faults.delay_wrench(seconds)),
        _no_power,
    )


def _lag(rng: np.random.Generator) -> DrawnChange:
    T = log_uniform(rng, 3e-3, 50e-3)

    def power(omega: float) -> float:
        return -6.0 * float(np.log(1.0 + (omega * T) ** 2))

    return f"low-pass of {1e3 * T:.3g} ms", _deterministic(faults.low_pass_wrench(T)), power


def _clock(rng: np.random.Generator) -> DrawnChange:
    rate = 1.0 + _signed(rng, 0.005, 0.1)
    return f"clock x {rate:.4g}", _deterministic(faults.scale_clock(rate)), _no_power


def _gain(rng: np.random.Generator) -> DrawnChange:
    gains = np.ones(2)
    which = int(rng.integers(2))
    gains[which] += _signed(rng, 0.01, 0.2)
    name = ("force", "torque")[which]
    return _map(f"{name} x {gains[which]:.4g}", np.diag(np.repeat(gains, 3)))


def _gain_of_axis(rng: np.random.Generator) -> DrawnChange:
    axis, gain = int(rng.integers(6)), 1.0 + _signed(rng, 0.01, 0.2)
    G = np.eye(6)
    G[axis, axis] = gain
    return _map(f"axis {axis + 1} x {gain:.4g}", G)


def _crosstalk(rng: np.random.Generator) -> DrawnChange:
    share = log_uniform(rng, 0.005, 0.05)
    off = np.kron(np.eye(2), rng.normal(size=(3, 3)) * (1.0 - np.eye(3)))
    return _map(f"crosstalk {100.0 * share:.2g} %", np.eye(6) + share * off)


def _turned(rng: np.random.Generator) -> DrawnChange:
    degrees = log_uniform(rng, 0.5, 30.0)
    R = rotation_from_quaternion(exp_rotation(np.radians(degrees) * direction(rng)))
    return _map(f"wrench turned {degrees:.3g} deg", np.kron(np.eye(2), R))


def _map(name: str, G: Array) -> DrawnChange:
    power = 2.0 * float(np.linalg.slogdet(G)[1])
    return name, _deterministic(lambda s: s.with_wrench(s.wrench @ G.T)), lambda omega: power


def _tilt(rng: np.random.Generator) -> DrawnChange:
    degrees = log_uniform(rng, 0.3, 5.0)
    return (
        f"gravity tilted {degrees:.3g} deg",
        _deterministic(faults.tilt_gravity(degrees)),
        _no_power,
    )


def _offset(rng: np.random.Generator) -> DrawnChange:
    metres, axis = log_uniform(rng, 2e-3, 40e-3), direction(rng)

    def change(s: Subject) -> Subject:
        return s.with_columns(p=s.columns["p"] + s.rotation @ (metres * axis))

    return f"pose {1e3 * metres:.3g} mm off", _deterministic(change), _no_power


def _drift(rng: np.random.Generator) -> DrawnChange:
    shape = ("linear", "step", "walk")[int(rng.integers(3))]
    share = log_uniform(rng, 0.01, 0.2)
    make = faults.drift_offset(share, shape)
    return f"offset: {shape} of {share:.3g}", lambda s, rng: make(s, rng)[0], _no_power


def _contact(rng: np.random.Generator) -> DrawnChange:
    seconds, share = log_uniform(rng, 0.5, 20.0), log_uniform(rng, 0.05, 1.0)
    name = f"contact of {seconds:.3g} s with {share:.3g} of the weight"
    return name, _deterministic(faults.add_contact(seconds, share)), _no_power


def _heavier(rng: np.random.Generator) -> DrawnChange:
    factor, part = 1.0 + _signed(rng, 0.01, 0.5), float(rng.uniform(0.2, 0.8))

    def change(s: Subject) -> Subject:
        return faults.increase_mass(s, factor, s.seconds > part * s.seconds[-1])

    return f"payload x {factor:.4g} from {part:.2g} on", _deterministic(change), _no_power


def _frozen(rng: np.random.Generator) -> DrawnChange:
    names = (("p", "q"), ("f", "tau"))[int(rng.integers(2))]
    return (
        f"{'/'.join(names)} frozen for 1 s",
        _deterministic(faults.freeze_wrench(*names)),
        _no_power,
    )


def _spikes(rng: np.random.Generator) -> DrawnChange:
    make = faults.add_spikes(either=bool(rng.integers(2)))
    return "spikes", lambda s, rng: make(s, rng)[0], _no_power


def _saturation(rng: np.random.Generator) -> DrawnChange:
    share = float(rng.uniform(0.6, 0.95))
    return f"saturated at {share:.2g}", _deterministic(faults.saturate_wrench(share)), _no_power


def _mistake(name: str) -> Callable[[np.random.Generator], DrawnChange]:
    """Return a function that draws the perturbation of a name, which has no size."""

    def draw(rng: np.random.Generator) -> DrawnChange:
        done = next(fault for fault in faults.faults() if fault.name == name)
        return name, lambda s, rng: done.make(s, rng)[0], done.log_power

    return draw


_SIZED: tuple[Callable[[np.random.Generator], DrawnChange], ...] = (
    *(_delay, _lag, _clock, _gain, _gain_of_axis, _crosstalk, _turned, _tilt, _offset, _drift),
    *(_contact, _heavier, _frozen, _spikes, _saturation),
)

_MISTAKES = tuple(
    _mistake(name)
    for name in (
        *("wrench's axes turned 90 deg about z", "wrench's sign", "force's sign", "torque's sign"),
        *("torque in N mm", "force in kgf", "wrench in world axes, called body"),
        *(
            "gravity upwards",
            "weight already compensated",
            "quaternion order",
            "pose the other way",
        ),
        *("rotation alone the other way", "position in body axes", "time x 2"),
    )
)
