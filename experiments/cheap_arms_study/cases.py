"""Cases of the study: loads by calibrated gains, logs that are misread, and sound ones."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.signal import savgol_filter
from scipy.spatial.transform import Rotation

import identify
from datasets.arms.generate import Arm, Body
from experiments.cheap_arms_study.arms import ARMS, Build
from identify.arms import Calibration
from identify.errors import IdentifyError
from identify.pipeline import Result
from identify.robots import RobotModel, inverse_dynamics

RATES_HZ = (30.0, 100.0, 250.0, 500.0)
_FRAME = "tool0"
_LOW, _HIGH = 0.4, 2.5


class Score(NamedTuple):
    """Outcome of a case.

    Attributes:
        usable: verdict, or "raised".
        codes: of errors and warnings, the first one first; that of an exception alone.
        text: of the first one.
        mass, true_mass: [kg], NaN without an estimate.
        half_width: of the mass [kg].
        com_error: distance of the centre of mass from the true one [m].
        covered: whether the intervals of m, hx, hy and hz contain the truth.
    """

    usable: str
    codes: tuple[str, ...]
    text: str = ""
    mass: float = np.nan
    true_mass: float = np.nan
    half_width: float = np.nan
    com_error: float = np.nan
    covered: tuple[bool, ...] = ()

    @property
    def error(self) -> float:
        """Relative error of the mass."""
        return abs(self.mass / self.true_mass - 1.0)


@dataclass(frozen=True, slots=True)
class Case:
    """A case of the study.

    Attributes:
        group: "gains", "misread" or "sound".
        kind: of currents or torques, or of the misreading.
        arm: number in `ARMS`.
        seed: of everything random.
    """

    group: str
    kind: str
    arm: int
    seed: int

    def score(self) -> Score:
        """Simulate and fit the case."""
        rng = np.random.default_rng([self.seed, self.arm, sum(map(ord, self.kind))])
        with tempfile.TemporaryDirectory() as folder:
            try:
                if self.group == "gains":
                    return _score_of_gains(self, rng, Path(folder))
                logs = _Logs.random(ARMS[self.arm], rng, Path(folder))
                load = logs.load
                if self.group == "misread":
                    logs = MISREADINGS[self.kind].apply(logs, rng)
                return _score(logs.fit(), load, logs.build)
            except IdentifyError as error:
                finding = getattr(error, "finding", None)
                code = getattr(finding, "code", type(error).__name__)
                return Score("raised", (code,), str(error))

    def is_named(self, score: Score) -> bool:
        """Whether a misreading is the first finding, with its joint or link if it has one."""
        misreading = MISREADINGS[self.kind]
        is_first = bool(score.codes) and score.codes[0] in misreading.codes
        return (is_first or bool(misreading.tie and misreading.tie in score.text)) and (
            misreading.words in score.text
        )


def _score(result: Result, load: Body, build: Build) -> Score:
    findings = [each for each in result.findings if each.severity != "info"]
    estimate, codes = result.estimate, tuple(each.code for each in findings)
    text = findings[0].text if findings else ""
    if result.arm is not None and result.arm.frame is None:
        return Score(result.verdict.usable, codes, text)
    truth = np.array([load.mass, *(load.mass * load.com)])
    intervals = [estimate.intervals[name] for name in ("m", "hx", "hy", "hz")]
    low, high = intervals[0] or (-np.inf, np.inf)
    return Score(
        usable=result.verdict.usable,
        codes=codes,
        text=text,
        mass=float(estimate.parameters.mass),
        true_mass=load.mass,
        half_width=0.5 * (high - low),
        com_error=float(np.linalg.norm(estimate.parameters.com - load.com)),
        covered=tuple(
            bool(pair[0] <= value <= pair[1])
            for pair, value in zip(intervals, truth, strict=True)
            if pair is not None
        ),
    )


def _score_of_gains(case: Case, rng: np.random.Generator, folder: Path) -> Score:
    """Calibrate gains by one known load, and fit another load by the arm.json of that."""
    arm = ARMS[case.arm]
    n = len(arm.joints)
    gains = np.exp(rng.uniform(np.log(_LOW), np.log(_HIGH), n)) * rng.choice([1.0, 1.0, -1.0], n)
    gains = np.where(rng.uniform(size=n) < 0.6, gains, 1.0)
    has_unit = case.kind == "torques"
    if not has_unit:
        gains *= np.exp(rng.uniform(np.log(0.1), np.log(3.0)))
    build = Build.random(
        arm, rng, gains=gains, has_unit=has_unit, rate_hz=RATES_HZ[case.seed % len(RATES_HZ)]
    )
    known, load, robot = build.load(rng), build.load(rng), build.model(folder)
    weighed, empty, loaded = (
        build.read(build.log(name, rng, body))
        for name, body in (("weighed", known), ("empty", None), ("loaded", load))
    )
    calibration = Calibration((weighed,), _FRAME, known.mass)
    calibrated = identify.fit(empty, robot=robot, calibration=calibration)
    if calibrated.verdict.usable == "no":
        return _score(calibrated, load, build)
    return _score(identify.fit(loaded, robot=robot, frame=_FRAME, arm=calibrated), load, build)


@dataclass(frozen=True, slots=True)
class _Logs:
    """A pair of logs with the model by which they are read.

    Attributes:
        build: the arm.
        load: on it, about the flange.
        tables: with the load and without it.
        robot: model.
        known_load: [kg]; None if it is not given.
        alone: whether the log with the load is fitted as one of the arm alone.
    """

    build: Build
    load: Body
    tables: tuple[pd.DataFrame, pd.DataFrame]
    robot: RobotModel
    known_load: float | None = None
    alone: bool = False

    @classmethod
    def random(cls, arm: Arm, rng: np.random.Generator, folder: Path) -> _Logs:
        build = Build.random(arm, rng)
        load = build.load(rng)
        tables = build.log("loaded", rng, load), build.log("empty", rng)
        return cls(build, load, tables, build.model(folder))

    def fit(self) -> Result:
        loaded, empty = map(self.build.read, self.tables)
        if self.alone:
            return identify.fit(loaded, robot=self.robot)
        return identify.fit(
            loaded,
            unloaded=empty,
            robot=self.robot,
            frame=_FRAME,
            known_load=self.known_load,
        )

    def with_columns(
        self,
        change: Callable[[np.ndarray], np.ndarray],
        name: str,
        *,
        which: Sequence[int] = (0, 1),
    ) -> _Logs:
        """Change the columns of all joints, shape (s, n), of the tables `which`."""
        tables = [table.copy() for table in self.tables]
        columns = [f"{name}{k + 1}" for k in range(len(self.build.arm.joints))]
        for number in which:
            values = tables[number][columns].to_numpy()
            tables[number][columns] = change(values)
        return replace(self, tables=(tables[0], tables[1]))


class _Misreading(NamedTuple):
    """A misreading, the codes and words that name it, and words that name it as likely."""

    apply: Callable[[_Logs, np.random.Generator], _Logs]
    codes: tuple[str, ...]
    words: str = ""
    tie: str = ""


def _middle(logs: _Logs) -> int:
    """Return a joint in the middle of the arm, which carries weight: the second one."""
    return 1 if len(logs.robot.joints) < 6 else 2


def _zero(logs: _Logs, rng: np.random.Generator) -> _Logs:
    shift = np.zeros(len(logs.robot.joints))
    shift[_middle(logs)] = np.radians(rng.choice([-1.0, 1.0]) * rng.uniform(4.0, 15.0))
    return logs.with_columns(lambda q: q + shift, "q")


def _tilt(logs: _Logs, rng: np.random.Generator) -> _Logs:
    heading = rng.uniform(0.0, 2.0 * np.pi)
    axis = np.array([np.cos(heading), np.sin(heading), 0.0])
    turned = Rotation.from_rotvec(np.radians(rng.uniform(5.0, 20.0)) * axis)
    gravity = turned.as_matrix() @ logs.robot.gravity
    return replace(logs, robot=replace(logs.robot, gravity=gravity))


def _wall(logs: _Logs, rng: np.random.Generator) -> _Logs:
    gravity = np.linalg.norm(logs.robot.gravity) * np.eye(3)[rng.integers(2)]
    return replace(logs, robot=replace(logs.robot, gravity=gravity))


def _length(logs: _Logs, rng: np.random.Generator) -> _Logs:
    tree = list(logs.robot.tree)
    index = 2 if np.linalg.norm(tree[2].X_PL.position) > 0.1 else 3
    X = tree[index].X_PL
    tree[index] = replace(tree[index], X_PL=replace(X, position=X.position / rng.uniform(1.3, 1.5)))
    return replace(logs, robot=replace(logs.robot, tree=tuple(tree)))


def _scale_of_loaded(logs: _Logs, rng: np.random.Generator) -> _Logs:
    factor = rng.choice([rng.uniform(0.7, 0.85), rng.uniform(1.15, 1.4)])
    return logs.with_columns(lambda tau: factor * tau, "tau", which=(0,))


def _frame(logs: _Logs, _: np.random.Generator) -> _Logs:
    robot = logs.robot
    frames = {**robot.frames, _FRAME: robot.frames[robot.links[-3]]}
    return replace(logs, robot=replace(robot, frames=frames))


def _other_arm(logs: _Logs, rng: np.random.Generator) -> _Logs:
    links = list(logs.build.links)
    for number, factor in ((1, 0.5), (2, 1.8)):
        body = links[number]
        links[number] = Body(factor * body.mass, body.com, factor * body.inertia)
    empty = replace(logs.build, links=tuple(links)).log("empty", rng)
    return replace(logs, tables=(logs.tables[0], empty))


def _one_sign(logs: _Logs, _: np.random.Generator) -> _Logs:
    sign = np.ones(len(logs.robot.joints))
    sign[_middle(logs)] = -1.0
    return logs.with_columns(lambda q: sign * q, "q")


def _order(logs: _Logs, _: np.random.Generator) -> _Logs:
    order = np.arange(len(logs.robot.joints))
    order[[1, 2]] = order[[2, 1]]
    return logs.with_columns(lambda tau: tau[:, order], "tau")


def _degrees(logs: _Logs, _: np.random.Generator) -> _Logs:
    return logs.with_columns(np.degrees, "q")


def _unit(logs: _Logs, rng: np.random.Generator) -> _Logs:
    factor = rng.uniform(0.02, 0.1)
    return logs.with_columns(lambda tau: factor * tau, "tau")


def _without_links(logs: _Logs, *, weight_alone: bool) -> _Logs:
    """Take off the torque of the links, or their weight, as a controller knows them."""
    n, tables = len(logs.robot.joints), []
    viscous, coulomb, _ = logs.build.friction
    rotors = np.array([joint.rotor for joint in logs.build.arm.joints])
    links = np.array([link.phi for link in logs.build.links])
    for each in logs.tables:
        table = each.copy()
        q = table[[f"q{k + 1}" for k in range(n)]].to_numpy()
        dt = float(table["t"][1])
        v, a = (
            savgol_filter(q, 31, 3, deriv=order, delta=dt, axis=0) * (not weight_alone)
            for order in (1, 2)
        )
        known = inverse_dynamics(logs.robot, q, v, a, links)
        known += viscous * v + coulomb * np.tanh(v / 0.01) + rotors * a
        table[[f"tau{k + 1}" for k in range(n)]] -= known
        tables.append(table)
    return replace(logs, tables=tuple(tables))


def _swapped(logs: _Logs, _: np.random.Generator) -> _Logs:
    return replace(logs, tables=logs.tables[::-1])


def _known_load(logs: _Logs, rng: np.random.Generator) -> _Logs:
    return replace(logs, known_load=rng.choice([0.55, 1.7]) * logs.load.mass)


def _no_load(logs: _Logs, rng: np.random.Generator) -> _Logs:
    return replace(logs, tables=(logs.build.log("loaded", rng), logs.tables[1]))


def _masses(logs: _Logs, _: np.random.Generator) -> _Logs:
    return replace(logs, robot=replace(logs.robot, phi=0.5 * logs.robot.phi))


MISREADINGS: Mapping[str, _Misreading] = {
    "zero of a joint by 4-15°": _Misreading(_zero, ("joint_zero",)),
    "base tilted by 5-20°": _Misreading(_tilt, ("gravity_direction",)),
    "base on a wall": _Misreading(_wall, ("gravity_direction",)),
    "link 30-50 % longer": _Misreading(_length, ("link_length",)),
    "another scale with the load": _Misreading(_scale_of_loaded, ("torque_scale",), "logs with"),
    "load on another link": _Misreading(_frame, ("load_frame",)),
    "logs of two arms": _Misreading(_other_arm, ("arms_differ",), tie="the arm itself"),
    "one joint reversed": _Misreading(_one_sign, ("joint_sign",)),
    "efforts of two joints exchanged": _Misreading(_order, ("joint_order",)),
    "degrees": _Misreading(_degrees, ("joint_unit",)),
    "raw efforts": _Misreading(_unit, ("effort_scale", "torque_scale")),
    "weight subtracted": _Misreading(
        lambda logs, _: _without_links(logs, weight_alone=True), ("gravity_subtracted",)
    ),
    "external torques": _Misreading(
        lambda logs, _: _without_links(logs, weight_alone=False), ("gravity_subtracted",)
    ),
    "logs swapped": _Misreading(_swapped, ("logs_swapped",)),
    "known load wrong by half": _Misreading(
        _known_load, ("choice_contradicted", "ProblemError", "joint_gain")
    ),
    "load set in the controller": _Misreading(_no_load, ("no_load",)),
    "log of the arm with a load": _Misreading(
        lambda logs, _: replace(logs, alone=True), ("arm_loaded",)
    ),
    "model of half the masses": _Misreading(_masses, ("torque_scale", "effort_scale")),
}
