"""Deviations κ of an arm from its model that the errors of its links do not explain.

    τ_j = g_j (Y_j(κ) (φ + L δ) + Y_load(κ) φ_load + friction_j)

κ is the zero of a joint, a tilt of the base, the length of a link, a load that no frame is given
for, or a scale of all torques in its place, another link with the load, or another scale or other
links in the logs with the load. Links
are those of the model up to their relative deviations δ: free links would absorb κ. δ, gains and
friction by load are random effects; load and other friction are free. Each kind by itself is fitted
by Gauss-Newton steps at points of the logs, and kinds are compared by their marginal likelihoods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from identify.arms.columns import ArmColumns, joint_columns
from identify.arms.gains import MAX_DEVIATION_RATIO, fixed_size, link_deviations
from identify.arms.joint_fits import ArmPoints
from identify.arms.torque_scale import ASSUMED_SCALE_ERROR
from identify.arrays import Array
from identify.estimation.variance_components import (
    RandomEffects,
    VarianceComponent,
    random_effects,
)
from identify.inertia.frames import frame_map
from identify.regressors import Statistics
from identify.regressors.triangular import moment_root
from identify.robots import RobotModel, inverse_dynamics, torque_regressor

DeviationName: TypeAlias = Literal[
    "zero", "tilt", "length", "scale", "gain", "load", "frame", "arm"
]

USUAL_SCATTER = 5.0
"""Variance of scores of time blocks, by that of independent residuals, on measured arms."""

_PRIOR_ANGLE, _PRIOR_LENGTH, _PRIOR_SCALE = 0.2, 0.05, 0.2
"""Prior standard deviations of deviations [rad], [m], [1]."""

_PRIOR_LOAD = 5.0
"""Prior standard deviation of a load that no frame is given for, by the last link."""

_GEAR_FRICTION = 0.1
"""Prior standard deviation of friction relative to the torque that a gear carries."""

_MAX_KNOWN_GAIN_SIZE = 0.1
"""Prior standard deviation of gains with all that may deviate, by which joints are weighted."""

_DIFFERENCE_STEP = 1e-4
"""Step of differences of torques by a deviation [rad or m]."""

_REFINEMENTS = 3
"""Gauss-Newton steps of the likeliest deviation; the last changes angles by 0.1°."""

_START_ERROR = 0.05
"""Relative torque error of each joint by which a first fit is weighted."""

_MIN_SCORE = 9.0
"""Squared score of a deviation above which all kinds are fitted, not frames of the load alone."""

_MIN_ERROR = 1e-3
"""Smallest relative torque error of a joint: points are smoothed and interpolated."""

_RELATIVE_RIDGE = 1e-10
_MIN_POWER = 1e-12


class ArmMoments(NamedTuple):
    """Moments of the columns of `ArmColumns` in earlier logs of the arm without a load.

    Attributes:
        grams: mean squares of the columns of each joint, shape (n, K, K).
        samples: independent samples of each joint, shape (n,).
    """

    grams: Array
    samples: Array

    @classmethod
    def of(cls, statistics: Statistics, gains: Array) -> ArmMoments:
        """Collect the moments of statistics by joint, with torques divided by gains, shape (n,)."""
        n, group, R = len(gains), statistics.group, statistics.factors.copy()
        R[..., -1] /= gains[group, None]
        grams = np.zeros((n, R.shape[-1], R.shape[-1]))
        np.add.at(grams, group, R.mT @ R)
        samples = np.maximum(np.bincount(group, statistics.samples, n), 1.0)
        independent = np.bincount(group, statistics.effective_samples, n)
        return cls(grams / samples[:, None, None], independent.astype(np.float64))


class DeviationKind(NamedTuple):
    """A kind of deviation.

    Attributes:
        name: of the kind.
        part: number of the joint or link.
        prior: standard deviation of its parameters.
        parameters: number of them; none for another link with the load.
        apply: function that reads points with these values, shape (parameters,); None if they act
            on the torques alone.
    """

    name: DeviationName
    part: int
    prior: float
    parameters: int
    apply: Callable[[ArmPoints, Array], ArmPoints] | None


class Deviation(NamedTuple):
    """A fitted deviation.

    Attributes:
        kind: of it.
        values, errors: parameters with standard errors [rad, m or 1], shape (parameters,).
        lead: twice the logarithm of its marginal likelihood by that of the model without it.
        gain_size: standard deviation of the joints' gains beside it.
        torque_error: torque that is left, relative to that measured.
    """

    kind: DeviationKind
    values: Array
    errors: Array
    lead: float
    gain_size: float
    torque_error: float

    def apply(self, points: ArmPoints) -> ArmPoints:
        """Return points read with the deviation, as far as it is one of the motion or the model."""
        return points if self.kind.apply is None else self.kind.apply(points, self.values)

    @property
    def size(self) -> float:
        """Size of all parameters together."""
        return float(np.linalg.norm(self.values))


def likeliest_deviations(
    points: Sequence[ArmPoints],
    cutoff_hz: float,
    link_accuracy: float,
    scatter: float,
    arm: ArmMoments | None = None,
) -> list[Deviation]:
    """Fit each kind of deviation to logs of one arm by itself, and return them by likelihood.

    With the moments of its earlier logs without a load, the scale of the logs is the only kind.

    Args:
        points: of the logs, with torques that are divided by the gains that are known.
        cutoff_hz: highest frequency of the rows that the scatter is of [Hz].
        link_accuracy: standard deviation of the relative errors of the model's links.
        scatter: variance of scores of time blocks, relative to that of independent residuals.
        arm: moments of earlier logs, by the columns of the points.
    """
    kinds = [*_kinds(points)] if arm is None else [_SCALE]
    fit = replace(_DeviationFit.of(points, 2.0 * cutoff_hz / scatter, link_accuracy), arm=arm)
    plain = fit.solve(fit.moments((), None), ())
    moments = fit.moments(kinds, plain)
    fit = replace(fit, power=fit.power_left(moments, kinds))
    of_load = [*_kinds_of_load(points)] if arm is None else []
    if fit.largest_score(moments) >= _MIN_SCORE:
        kinds += of_load
    else:  # the load on the next link moves the arm alike
        kinds = [kind for kind in of_load if kind.name == "frame"]
    if not kinds:
        return []
    moments = fit.moments(kinds, plain)
    plain = fit.solve(moments, ())
    deviations = []
    for kind in kinds:
        of_kind, columns = (
            (moments, (kind,)) if kind.parameters else (fit.moments((), None, kind), ())
        )
        deviations.append(fit.deviation(kind, of_kind, fit.solve(of_kind, columns), plain.cost))
    deviations.sort(key=lambda each: -each.lead)
    if deviations[0].kind.apply is not None and deviations[0].kind.parameters:
        deviations[0] = fit.refined(deviations[0], moments)
    return deviations


_SCALE = DeviationKind("scale", 0, _PRIOR_SCALE, 1, None)


def _kinds(points: Sequence[ArmPoints]) -> Iterator[DeviationKind]:
    """Yield the kinds of deviations that logs may have."""
    robot = points[0].robot
    for joint, prismatic in enumerate(robot.prismatic.tolist()):
        prior = _PRIOR_LENGTH if prismatic else _PRIOR_ANGLE
        yield DeviationKind("zero", joint, prior, 1, _with_zero(joint))
    yield DeviationKind("tilt", 0, _PRIOR_ANGLE, 2, _tilted)
    for index, link in enumerate(robot.tree):
        if link.parent >= 0 and link.X_PL.position.any():
            yield DeviationKind("length", index, _PRIOR_LENGTH, 1, _with_length(index))
    loads = {each.load for each in points}
    if len(loads) > 1:
        yield _SCALE
    if loads == {None}:
        yield DeviationKind("gain", 0, _PRIOR_SCALE, 1, None)
        yield DeviationKind("load", len(robot.links) - 1, _PRIOR_LOAD, 10, None)


def _kinds_of_load(points: Sequence[ArmPoints]) -> Iterator[DeviationKind]:
    """Yield the kinds with other equations of the load, or other links in the logs with it."""
    robot, loads = points[0].robot, {each.load for each in points}
    for frame in loads - {None}:
        given, _ = robot.frame(str(frame))
        for index, name in enumerate(robot.links):
            if index != given:
                yield DeviationKind("frame", index, 1.0, 0, _with_load_on(name))
    if len(loads) > 1:
        yield DeviationKind("arm", 0, _PRIOR_SCALE, 10 * len(robot.tree), None)


def _with_zero(joint: int) -> Callable[[ArmPoints, Array], ArmPoints]:
    def apply(points: ArmPoints, size: Array) -> ArmPoints:
        q = points.motion.q.copy()
        q[:, joint] += size[0]
        return replace(points, motion=points.motion._replace(q=q))

    return apply


def tilted_gravity(robot: RobotModel, angles: Array) -> Array:
    """Return gravity turned by angles [rad] about two axes across it, shape (3,)."""
    across = np.linalg.svd(robot.gravity[None])[2][1:]
    return Rotation.from_rotvec(angles @ across).as_matrix() @ robot.gravity


def _tilted(points: ArmPoints, angles: Array) -> ArmPoints:
    robot = points.robot
    return with_robot(points, replace(robot, gravity=tilted_gravity(robot, angles)))


def _with_length(index: int) -> Callable[[ArmPoints, Array], ArmPoints]:
    def apply(points: ArmPoints, size: Array) -> ArmPoints:
        tree = list(points.robot.tree)
        X = tree[index].X_PL
        longer = X.position * (1.0 + size[0] / np.linalg.norm(X.position))
        tree[index] = replace(tree[index], X_PL=replace(X, position=longer))
        return with_robot(points, replace(points.robot, tree=tuple(tree)))

    return apply


def _with_load_on(frame: str) -> Callable[[ArmPoints, Array], ArmPoints]:
    def apply(points: ArmPoints, _: Array) -> ArmPoints:
        return points if points.load is None else replace(points, load=frame)

    return apply


def with_robot(points: ArmPoints, robot: RobotModel) -> ArmPoints:
    """Return points with another model, of as many links, whose columns are not reduced."""
    return replace(points, columns=replace(points.columns, robot=robot))


class _Moments(NamedTuple):
    """Moments of the equations of each joint, [F E K b]ᵀ[F E K b].

    Attributes:
        grams: of the columns of load and friction F, effects E, deviations K and the torque b that
            the model's links leave, shape (n, p, p).
        seconds: time in which each joint moves, shape (n,).
        rows: number of rows of each joint, shape (n,).
        effort: sum of squares of its torque, shape (n,).
        deviations: numbers of the columns of each kind.
    """

    grams: Array
    seconds: Array
    rows: Array
    effort: Array
    deviations: dict[tuple[str, int], list[int]]


class _EffectFit(NamedTuple):
    """Load and friction, effects with those of a deviation last, and −2 log of the likelihood."""

    free: Array
    effects: RandomEffects
    cost: float


@dataclass(frozen=True, slots=True, eq=False)
class _DeviationFit:
    """Fits of deviations to points of logs; effects are δ, gains and friction by load.

    Attributes:
        points: of each log.
        rate: independent samples of a joint in a second.
        link_columns: L, shape (10 L, 10 L).
        link_accuracy: standard deviation of δ.
        power: mean square of the error of each joint, by which it is weighted, shape (n,).
        arm: moments of earlier logs without a load, if there are any.
    """

    points: Sequence[ArmPoints]
    rate: float
    link_columns: Array
    link_accuracy: float
    power: Array
    arm: ArmMoments | None = None

    @classmethod
    def of(cls, points: Sequence[ArmPoints], rate: float, link_accuracy: float) -> _DeviationFit:
        columns = block_diag(*(link_deviations(phi) for phi in points[0].robot.phi))
        efforts = np.concatenate([each.motion.effort for each in points])
        power = np.maximum(_START_ERROR**2 * np.mean(efforts**2, axis=0), _MIN_POWER)
        return cls(points, rate, columns, link_accuracy, power)

    @property
    def effect_count(self) -> int:
        return self.link_columns.shape[1] + 2 * len(self.power)

    def moments(
        self,
        kinds: Sequence[DeviationKind],
        near: _EffectFit | None,
        read_as: DeviationKind | None = None,
        values: Array | None = None,
    ) -> _Moments:
        """Form the moments near a solution, of logs that are read with a deviation."""
        apply = None if read_as is None else read_as.apply
        at = np.zeros(0) if values is None else values
        logs = [each if apply is None else apply(each, at) for each in self.points]
        columns = logs[0].columns
        n, first, links = len(columns.joints), columns.friction.start, len(self.link_columns)
        scalars = columns.further.start - first + 4 * (n - 1)
        count = 10 + scalars * (len(logs) + (self.arm is not None))
        numbers, last = {}, count + self.effect_count
        for kind in kinds:
            numbers[kind.name, kind.part] = [*range(last, last + kind.parameters)]
            last += kind.parameters
        grams, (seconds, rows, efforts) = np.zeros((n, last + 1, last + 1)), np.zeros((3, n))
        for number, (points, unread) in enumerate(zip(logs, self.points, strict=True)):
            m, robot, loaded = points.motion, points.robot, points.load is not None
            step = float(np.median(np.diff(m.time)))
            Y = np.moveaxis(torque_regressor(robot, m.q, m.v, m.a), 0, -1)
            changes = {
                key: self._changes(points, unread, kind, at, near)
                for kind, key in zip(kinds, numbers, strict=True)
                if kind.apply is not None and kind.parameters
            }
            for j in np.flatnonzero(points.moving_joints).tolist():
                moves = np.abs(m.v[:, j]) > points.still_below[j]
                nonzero, z = joint_columns(points.columns, Y, m, j)
                of_links = Y[j][:, moves].T
                A = np.zeros((len(of_links), last + 1))
                if loaded:
                    link, X_LF = robot.frame(str(points.load))
                    A[:, :10] = of_links[:, 10 * link : 10 * link + 10] @ frame_map(X_LF)
                for column, friction in zip(nonzero.tolist(), z, strict=True):
                    if first <= column < columns.further.start:
                        shift = 4 * j if column < columns.friction.stop else 4 * (n - 1)
                        A[:, 10 + scalars * number + column - first + shift] = friction[moves]
                model = of_links @ robot.phi.ravel()
                A[:, count : count + links] = of_links @ self.link_columns
                A[:, count + links + n + j] = np.abs(model) * np.sign(m.v[moves, j])
                predicted = model
                if near is not None:
                    predicted = model + A[:, : count + links] @ np.concatenate(
                        (near.free, near.effects.effects[:links])
                    )
                A[:, count + links + j] = predicted
                for key, change in changes.items():
                    A[:, numbers[key]] = change[:, moves, j].T
                if ("load", len(robot.links) - 1) in numbers:
                    A[:, numbers["load", len(robot.links) - 1]] = A[
                        :, count + links - 10 : count + links
                    ]
                for name in ("scale", "gain") if loaded else ("gain",):
                    if (name, 0) in numbers:
                        A[:, numbers[name, 0]] = predicted[:, None]
                if loaded and ("arm", 0) in numbers:
                    A[:, numbers["arm", 0]] = A[:, count : count + links]
                A[:, -1] = m.effort[moves, j] - model
                grams[j] += A.T @ A
                seconds[j] += step * len(A)
                rows[j] += len(A)
                efforts[j] += np.sum(m.effort[moves, j] ** 2)
        if self.arm is not None:
            of_arm = self._maps_of_arm(columns, count, last, near)
            rows_a_second = rows / np.maximum(seconds, _MIN_POWER)
            of_arm_seconds = self.arm.samples / self.rate
            weights = rows_a_second * of_arm_seconds
            grams += weights[:, None, None] * (of_arm.mT @ self.arm.grams @ of_arm)
            seconds, rows = seconds + of_arm_seconds, rows + weights
            efforts += weights * self.arm.grams[:, -1, -1]
        return _Moments(grams, seconds, np.maximum(rows, 1.0), efforts, numbers)

    def _maps_of_arm(
        self, columns: ArmColumns, count: int, last: int, near: _EffectFit | None
    ) -> Array:
        """Return the maps from [F E K b] to the columns of earlier logs, shape (n, K, p).

        Their friction by load is not known, as it is no column of theirs.
        """
        n, first, links = len(columns.joints), columns.friction.start, len(self.link_columns)
        terms, others = np.arange(4), columns.further.start - columns.friction.stop
        D, M = columns.base.dependence, np.zeros((n, len(columns), last + 1))
        M[:, columns.links, count : count + links] = D @ self.link_columns
        M[:, columns.links, -1] = -D @ columns.robot.phi.ravel()
        M[:, columns.friction.stop : columns.further.start, count - others : count] = np.eye(others)
        for j in range(n):
            M[j, first + terms, count - others - 4 * (n - j) + terms] = 1.0
            predicted = -M[j, :, -1]
            if near is not None:
                at = np.concatenate((near.free, near.effects.effects[:links]))
                predicted = predicted + M[j, :, : count + links] @ at
            M[j, :, count + links + j] = predicted
        M[:, -1, -1] = 1.0
        return M

    def _changes(
        self,
        points: ArmPoints,
        unread: ArmPoints,
        kind: DeviationKind,
        at: Array,
        near: _EffectFit | None,
    ) -> Array:
        """Return the changes of the joints' torques by a deviation, shape (parameters, s, n)."""
        phi = points.robot.phi.copy()
        if near is not None:
            deviations = near.effects.effects[: len(self.link_columns)]
            phi += (self.link_columns @ deviations).reshape(phi.shape)
            if points.load is not None:
                link, X_LF = points.robot.frame(points.load)
                phi[link] += frame_map(X_LF) @ near.free[:10]
        assert kind.apply is not None
        steps = _DIFFERENCE_STEP * np.eye(kind.parameters)
        moved = (kind.apply(unread, (at if len(at) else 0.0) + step) for step in steps)
        plain, *changed = (
            inverse_dynamics(each.robot, each.motion.q, each.motion.v, each.motion.a, phi)
            for each in (points, *moved)
        )
        return (np.array(changed) - plain) / _DIFFERENCE_STEP

    def solve(
        self,
        moments: _Moments,
        kinds: Sequence[DeviationKind],
        components: Sequence[VarianceComponent] | None = None,
    ) -> _EffectFit:
        """Fit effects and deviations, with sizes of the effects by maximum likelihood."""
        q, n, links = self.effect_count, len(self.power), len(self.link_columns)
        numbers = [moments.deviations[kind.name, kind.part] for kind in kinds]
        H, back, _ = self._without_free(moments, [*chain(*numbers)])
        root = moment_root(H + _RELATIVE_RIDGE * np.diag(np.abs(np.diag(H))))
        T, t = root[:, :-1], root[:, -1]
        if components is None:
            accuracy, gains = self.link_accuracy, np.arange(links, links + n)
            most = accuracy * MAX_DEVIATION_RATIO
            components = (
                VarianceComponent(np.arange(links), accuracy, most, min_size=accuracy),
                VarianceComponent(gains, ASSUMED_SCALE_ERROR, 3.0),
            )
        first, added = q, [fixed_size(np.arange(links + n, q), _GEAR_FRICTION)]
        for kind, columns in zip(kinds, numbers, strict=True):
            added.append(fixed_size(np.arange(first, first + len(columns)), kind.prior))
            first += len(columns)
        effects = random_effects(T, t, (*components, *added))
        residual = T @ effects.effects - t
        free = back @ np.append(-effects.effects, 1.0)
        return _EffectFit(free, effects, float(residual @ residual) + effects.laplace_penalty)

    def _without_free(self, moments: _Moments, kept: Sequence[int]) -> tuple[Array, Array, int]:
        """Return the moments [E K b]ᵀ[E K b] of all joints without load and friction.

        `kept`: numbers of the columns of K. Returns the map to load and friction and their number
        as well.
        """
        last = moments.grams.shape[1] - 1
        f = last - self.effect_count - sum(map(len, moments.deviations.values()))
        columns = [*range(f + self.effect_count), *kept, last]
        weights = self.rate * moments.seconds / moments.rows / self.power
        H = np.einsum("j,jab->ab", weights, moments.grams)[np.ix_(columns, columns)]
        norms = np.sqrt(np.diag(H)[:f])
        norms = np.where(norms > 0.0, norms, 1.0)
        of_free = H[:f, :f] / np.outer(norms, norms) + _RELATIVE_RIDGE * np.eye(f)
        back = np.linalg.solve(of_free, H[:f, f:] / norms[:, None]) / norms[:, None]
        rest = H[f:, f:] - H[f:, :f] @ back
        return 0.5 * (rest + rest.T), back, f

    def largest_score(self, moments: _Moments) -> float:
        """Return the largest squared score of a deviation beside effects of their usual sizes."""
        H, _, _ = self._without_free(moments, [*chain(*moments.deviations.values())])
        q, links, n = self.effect_count, len(self.link_columns), len(self.power)
        sizes = np.repeat((self.link_accuracy, ASSUMED_SCALE_ERROR, _GEAR_FRICTION), (links, n, n))
        beside = np.linalg.solve(H[:q, :q] + np.diag(sizes**-2.0), H[:q, q:])
        rest = H[q:, q:] - H[q:, :q] @ beside
        information = np.diag(rest)[:-1]
        is_known = information > _RELATIVE_RIDGE * np.diag(H)[q:-1]
        return float(
            (rest[:-1, -1] ** 2 / np.where(is_known, information, np.inf)).max(initial=0.0)
        )

    def power_left(self, moments: _Moments, kinds: Sequence[DeviationKind]) -> Array:
        """Return the mean square that all deviations together leave of each joint, shape (n,)."""
        links, n = len(self.link_columns), len(self.power)
        sizes = (self.link_accuracy * MAX_DEVIATION_RATIO, _MAX_KNOWN_GAIN_SIZE)
        parts = (np.arange(links), np.arange(links, links + n))
        widest = [fixed_size(*each) for each in zip(parts, sizes, strict=True)]
        fit, measured = self, self.power / _START_ERROR**2
        for _ in range(2):
            residual = _mean_squares_left(moments, fit.solve(moments, kinds, widest), kinds)
            fit = replace(fit, power=np.maximum(residual, _MIN_ERROR**2 * measured))
        return fit.power

    def refined(self, first: Deviation, moments: _Moments) -> Deviation:
        """Return a deviation after Gauss-Newton steps; its likelihood is that of the first one."""
        kind = first.kind._replace(prior=10.0 * first.kind.prior)
        near, values = self.solve(moments, (first.kind,)), first.values
        near_moments = moments
        for _ in range(_REFINEMENTS):
            near_moments = self.moments((kind,), near, kind, values)
            near = self.solve(near_moments, (kind,))
            values = values + near.effects.effects[-kind.parameters :]
        last = self.deviation(kind, near_moments, near, 0.0)
        return last._replace(kind=first.kind, values=values, lead=first.lead)

    @staticmethod
    def deviation(
        kind: DeviationKind, moments: _Moments, solution: _EffectFit, plain_cost: float
    ) -> Deviation:
        """Return a deviation as it is fitted by moments, beside −2 log of a likelihood without."""
        effects, measured = solution.effects, moments.effort / moments.rows
        residual = _mean_squares_left(moments, solution, (kind,))
        first = len(effects.effects) - kind.parameters
        return Deviation(
            kind,
            effects.effects[first:],
            np.sqrt(np.diag(effects.covariance)[first:]),
            lead=plain_cost - solution.cost,
            gain_size=float(effects.sizes[1]),
            torque_error=float(np.sqrt(residual.sum() / measured.sum())),
        )


def _mean_squares_left(
    moments: _Moments, solution: _EffectFit, kinds: Sequence[DeviationKind]
) -> Array:
    """Return the mean square that a solution leaves of the torque of each joint, shape (n,)."""
    z = np.zeros(moments.grams.shape[1])
    f, effects = len(solution.free), solution.effects.effects
    q = len(effects) - sum(kind.parameters for kind in kinds)
    z[:f], z[f : f + q], z[-1] = -solution.free, -effects[:q], 1.0
    columns = [
        *chain(*(moments.deviations[each.name, each.part] for each in kinds if each.parameters))
    ]
    z[columns] = -effects[q:]
    return np.einsum("a,jab,b->j", z, moments.grams, z) / moments.rows
