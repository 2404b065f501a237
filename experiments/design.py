"""Designed, advised and random motions of equal limits: fits of simulated logs, and predictions.

python experiments/design.py -o reports/design.md [--bodies 20]
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

import identify
from datasets.arms import generate
from experiments.reports import ROOT, numerics_line, write_report
from identify.arms import TorqueScale, fit_payload
from identify.arrays import Array
from identify.design import (
    AxisLimits,
    EarlierFit,
    MotionProblem,
    PeriodicBasis,
    PredictedPrecision,
    TorqueNoise,
    WrenchNoise,
    WristProblem,
    design_motion,
    joint_problem,
    wrist_limits,
)
from identify.design.d_optimal import random_motion
from identify.design.periodic import harmonics_within
from identify.design.prediction import PREDICTED_QUANTITIES, information_rate
from identify.estimation import Estimate
from identify.inertia import InertialParameters
from identify.logs import Noise, read_log, synthetic_recording
from identify.logs.effect_keys import EFFECT_KEYS
from identify.logs.synthetic import Harmonics, SyntheticMotion, random_box
from identify.reporting.content import make_table, markdown_table
from identify.robots import read_robot
from identify.spatial.vectors import GRAVITY_W

MOTIONS = ("designed", "advised", "random")
WRIST_SECONDS, RATE_HZ = 60.0, 100.0
NOISE = WrenchNoise(0.05, 0.005, RATE_HZ)
ADVISED_HZ = np.array([1.0, 1.17, 1.39]) / 4.0
"""Turns to and fro about z, y and x of the motion that docs/moving.md advises, ±45° in 4 s."""

QUANTITIES = {
    "mass [g]": (slice(0, 1), 1e3),
    "centre of mass [mm]": (slice(1, 4), 1e3),
    "inertia [g m²]": (slice(4, 10), 1e3),
}
"""Entries of each quantity in `PREDICTED_QUANTITIES`, and the factor from SI."""

Motion: TypeAlias = Callable[[Array], Array]
"""Function from times to values, rates and second derivatives of axes, shape (3, times, n)."""


def main(arguments: list[str] | None = None) -> int:
    """Design the motions, simulate and fit the logs, write the report; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "reports/design.md")
    parser.add_argument("--bodies", type=int, default=20)
    options = parser.parse_args(arguments)
    line = numerics_line("design", parser, options, "bodies")
    trials = {"a wrist sensor": wrist_trials(options.bodies)}
    trials |= {arm.title: arm_trials(arm, options.bodies) for arm in generate.ARMS}
    write_report(options.output, report(trials, options.bodies), line)
    return 0


class Trial(NamedTuple):
    """Errors of `PREDICTED_QUANTITIES` in a fit, its 95 % half-widths, and predicted ones."""

    errors: Array
    fitted: Array
    predicted: Array


@dataclass(frozen=True, slots=True)
class Angles:
    """Angles about z, y and x of a motion, as synthetic logs take them."""

    motion: Motion

    def derivative(self, t: Array, order: int) -> Array:
        """Return a derivative by order, shape (len(t), 3)."""
        return self.motion(t)[order]


def random_body(rng: np.random.Generator) -> InertialParameters:
    """Return a turned box of 1 to 3 kg, the size of a hand, about its frame."""
    box, _ = random_box(rng, (1.0, 3.0), (0.12, 0.25))
    com = np.array([0.0, 0.0, 0.08]) + rng.uniform(-0.04, 0.04, 3)
    return InertialParameters.from_com(box.mass, com, box.inertia_about_com)


def compared(estimate: Estimate, truth: InertialParameters, predicted: Array) -> Trial:
    """Compare an estimate with the true body."""
    of_body = [
        np.concatenate(([b.mass], b.com, b.inertia_about_com[np.triu_indices(3)]))
        for b in (estimate.parameters, truth)
    ]
    intervals = [estimate.intervals[name] for name in PREDICTED_QUANTITIES]
    fitted = [np.nan if pair is None else 0.5 * (pair[1] - pair[0]) for pair in intervals]
    return Trial(of_body[0] - of_body[1], np.array(fitted), predicted)


def predicted_widths(
    problem: MotionProblem, motion: Array, body: InertialParameters, seconds: float
) -> Array:
    """Predict the half-widths that samples of a motion, shape (3, N, n), give of a body."""
    base, rows = problem.base_columns, problem.rows(motion)
    information = information_rate(rows.regressor, len(base.independent), problem.rate_hz)
    precision = PredictedPrecision(body, information, base, EarlierFit.of(None))
    return np.array([precision.half_widths(seconds)[name] for name in PREDICTED_QUANTITIES])


def wrist_trials(count: int) -> dict[str, list[Trial]]:
    """Fit logs of a wrist sensor; the limits are those that the advised motion reaches."""
    angle, w = np.radians(45.0), 2.0 * np.pi * ADVISED_HZ.max()
    limits = wrist_limits(np.full(3, angle), angle * w, angle * w**2)
    problem = WristProblem(limits, np.array(GRAVITY_W), NOISE, np.ones(10))
    advised = Harmonics(angle * np.eye(3), np.zeros((3, 3)), ADVISED_HZ)
    basis = PeriodicBasis(20.0, harmonics_within(limits, 20.0))
    designed, times = design_motion(problem, basis), np.arange(0.0, WRIST_SECONDS, 0.05)
    trials: dict[str, list[Trial]] = {name: [] for name in MOTIONS}
    for seed in range(count):
        rng = np.random.default_rng([seed, 1])
        body = random_body(rng)
        motions: dict[str, Motion] = {
            "designed": designed.at,
            "advised": lambda t: np.stack([advised.derivative(t, order) for order in range(3)]),
            "random": random_motion(problem, basis, rng).at,
        }
        for name, motion in motions.items():
            predicted = predicted_widths(problem, motion(times), body, WRIST_SECONDS)
            trials[name].append(compared(wrist_fit(motion, body, seed), body, predicted))
    return trials


def wrist_fit(motion: Motion, body: InertialParameters, seed: int) -> Estimate:
    """Simulate and fit a log whose sensor has white noise and an offset, and no small faults."""
    still = Harmonics(np.zeros((3, 1)), np.zeros((3, 1)), np.ones(1))
    log = synthetic_recording(
        body.phi,
        rng=np.random.default_rng(seed),
        motion=SyntheticMotion(still, Angles(motion)),
        duration=WRIST_SECONDS,
        rate_hz=RATE_HZ,
        bias=(1.0, -2.0, 3.0, 0.1, 0.2, -0.1),
        noise=Noise(orientation=2e-4, force=NOISE.force, torque=NOISE.torque),
    )
    effects = dict.fromkeys(EFFECT_KEYS, False)
    return identify.fit(replace(log, schema={**log.schema, "effects": effects})).estimate


def arm_trials(arm: generate.Arm, count: int) -> dict[str, list[Trial]]:
    """Fit loads of an arm with friction; the fit of the random motion gives the noise."""
    names = [f"joint{number + 1}" for number in range(len(arm.joints))]
    path = ROOT / "datasets/arms" / arm.name / "arm.urdf"
    robot = read_robot(path, names, gravity=generate.GRAVITY)
    home, reach = np.array([(joint.home, joint.excursion) for joint in arm.joints]).T
    speed, acceleration = (np.full(len(home), x) for x in (arm.speed, arm.acceleration))
    limits = AxisLimits(-reach, reach, speed, acceleration, robot.joints)
    rough = InertialParameters.from_com(2.0, [0.0, 0.0, 0.08], 5e-3 * np.eye(3))
    problem = joint_problem(
        robot, limits, home, torque_share=0.8, placement=robot.frame("tool0"), body=rough
    )
    basis = PeriodicBasis(10.0, harmonics_within(limits, 10.0))
    designed = design_motion(problem, basis)
    t = np.arange(round(generate.DURATION * RATE_HZ)) / RATE_HZ
    trials: dict[str, list[Trial]] = {name: [] for name in MOTIONS}
    for seed in range(count):
        rng = np.random.default_rng([seed, 2])
        body, noise = random_body(rng), None
        advised = np.stack(generate.joint_motion(arm, t, rng))
        advised[0] -= home
        random = random_motion(problem, basis, rng).at(t)
        for name, motion in zip(MOTIONS[::-1], (random, advised, designed.at(t)), strict=True):
            values = (home + motion[0], motion[1], motion[2])
            load = generate.Body(float(body.mass), body.com + arm.flange, body.inertia_about_com)
            simulated = generate.simulate(arm, seed, values, load)
            schema = tomllib.loads(generate.schema(arm))
            logs = [read_log(log, schema) for log in (simulated.loaded, simulated.empty)]
            scale = TorqueScale.known(0.0, len(home))
            fit = fit_payload(*logs, robot=robot, frame="tool0", scale=scale).estimate
            noise = noise or residual_noise(fit, 2.0 * generate.DURATION)
            known = replace(problem, noise=noise, payload=body.phi)
            predicted = predicted_widths(known, motion[:, ::5], body, generate.DURATION)
            trials[name].append(compared(fit, body, predicted))
    return trials


def residual_noise(fit: Estimate, seconds: float) -> TorqueNoise:
    """Return the noise as `identify design --after` takes it from an estimate.json."""
    rms, samples = fit.residual_rms, fit.effective_samples
    return TorqueNoise(np.array(rms), 0.5 * samples / (len(rms) * seconds))


def report(trials: dict[str, dict[str, list[Trial]]], count: int) -> str:
    """Return the report as Markdown."""
    heads = ("motion", "quantity", "rms error", "of random", "fitted", "predicted", "ratio")
    parts = [
        "# Designed motions",
        "Written by `python experiments/design.py`; nothing here is entered by hand.",
        f"Three motions of the same limits, each with the same {count} bodies of 1 to 3 kg, the "
        "size of a hand: designed by `identify design`, best of three starts, the same for all "
        "bodies; advised, by docs/moving.md (turns of ±45° in 4 s) or as the arms of "
        "`datasets/arms` move (all joints at once); random, another series for each body. Logs of "
        f"a wrist have {WRIST_SECONDS:g} s and white noise; those of arms two runs of "
        f"{generate.DURATION:g} s by MuJoCo, with friction that drifts, without an error of scale.",
        "Root mean square over bodies and entries, of errors and of 95 % half-widths as fitted and "
        "as predicted; for arms, the fit of the random motion gives the noise. Ratio: median of "
        "predicted by fitted half-widths. A dash: the log does not identify it.",
    ]
    for title, of_motions in trials.items():
        rows = list(table_rows(of_motions))
        parts += [
            f"## {title[0].upper()}{title[1:]}",
            markdown_table(make_table(heads, rows, word_columns=2)),
        ]
    return "\n\n".join(parts)


def table_rows(of_motions: dict[str, list[Trial]]) -> Iterator[list[str]]:
    """Yield a row for each motion and quantity."""
    arrays = {name: np.moveaxis(np.array(rows), 0, 1) for name, rows in of_motions.items()}
    for quantity, (entries, factor) in QUANTITIES.items():
        base = rms(arrays["random"][0][:, entries])
        for name, (errors, fitted, predicted) in arrays.items():
            if np.isnan(fitted[:, entries]).any():
                yield [name, quantity, *5 * ["–"]]
                continue
            error, *widths = (rms(x[:, entries]) for x in (errors, fitted, predicted))
            ratio = float(np.median(predicted[:, entries] / fitted[:, entries]))
            numbers = [f"{factor * x:.3g}" for x in (error, *widths)]
            yield [name, quantity, numbers[0], f"{error / base:.2f}", *numbers[1:], f"{ratio:.2f}"]


def rms(values: Array) -> float:
    """Return the root mean square of all values."""
    return float(np.sqrt(np.mean(np.square(values))))


if __name__ == "__main__":
    raise SystemExit(main())
