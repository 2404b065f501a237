"""`fit_payload`: the inertia of a load on an arm, from joint torques with and without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from identify.arms.arm_fit import ArmFit, require_distinct, scan_logs, split_logs
from identify.arms.contradicted_terms import contradicted_load, contradicted_terms
from identify.arms.deviations import USUAL_SCATTER
from identify.arms.equations import PAYLOAD, equations_of
from identify.arms.fitted_arm import HeldOut
from identify.arms.fitting import ArmSolution, consistent_unknowns, solve_arm
from identify.arms.further_friction import further_friction, lasting_friction
from identify.arms.gains import LINK_ACCURACY, FittedGains, calibrate, require_plausible_load
from identify.arms.load_default import ball_of_load, first_load_default
from identify.arms.model import Friction, arm_system, runs_of
from identify.arms.prediction import TorqueErrors, torque_errors
from identify.arms.saved_arm import SavedArm
from identify.arms.torque_scale import TorqueScale
from identify.arrays import Phi
from identify.errors import ProblemError, SolveError
from identify.estimation.errors import NegativeMass, TooLittleMotion
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.settings import IntervalRoute
from identify.estimation.terms import KnownMass, Term
from identify.findings import Finding
from identify.logs import LogFile, Recording
from identify.logs.log_file import header_of
from identify.regressors import LinearSystem, Statistics, join_logs
from identify.regressors.log_scan import ReadableLog
from identify.robots import RobotModel
from identify.significance import HALF_WIDTH_SIGMA, IMPOSSIBLE_SIGMA, SIGNIFICANT_SIGMA

_MAX_SWAPPED_RATIO = 1.1
"""Largest ratio of the torque that consistent links leave, the logs swapped, to that of least
squares at which the logs are swapped: up to 1.02 if they are, from 1.17 if gravity is negated."""

_MAX_SWAPPED_ERROR = 0.15
"""Largest relative torque error of swapped logs; on a wall no links explain the torques."""

_DEFAULT_ROUNDS = 2
"""Number of fits after the first after which the default of a load has the size of the load."""

_MOTION_ADVICE = "move all joints further and faster, with the load and without it"

_MAX_ERROR_SHARE = 0.02
"""Standard error of the mass by that of the model's links at which a load would have shown."""

_REWEIGHTINGS = 3
_RELATIVE_RANK = 1e-9

_NOT_A_WEIGHT = "the torques of the load are not those of its weight"
_NEGATIVE_MASS_REMEDY = "check the columns and `names` of [joints], [world] gravity, and the URDF"


class NoLoad(ProblemError):
    """Logs with and without a load show the same torques.

    Attributes:
        finding: the error as a finding, `no_load`.
    """

    def __init__(self, mass: float, error: float) -> None:
        text = (
            f"the logs with the load show one of {mass:.2g} ± {HALF_WIDTH_SIGMA * error:.2g} kg: "
            "their torques are those of the logs without it"
        )
        remedy = (
            "Check that the load was on, that all logs have one scale, and that the controller's "
            "load was zero: efforts that are commanded by its model, or freed from what it knows, "
            "do not show a load that is set."
        )
        self.finding = Finding("no_load", "error", f"{text}.", remedy, {"mass": mass})
        super().__init__(f"{text}. {remedy}")


def fit_payload(
    loaded: ReadableLog | Sequence[ReadableLog],
    unloaded: ReadableLog | Sequence[ReadableLog] = (),
    *,
    robot: RobotModel,
    frame: str,
    arm: SavedArm | None = None,
    cutoff_hz: float | None = None,
    friction: Friction = "own",
    interval: IntervalRoute | None = None,
    scale: TorqueScale | None = None,
    known_load: float | None = None,
    link_accuracy: float = LINK_ACCURACY,
    terms: Sequence[Term] = (),
) -> ArmFit:
    """Fit a load to logs of an arm with it, and without it or with a known arm.

    All logs are fitted jointly: links and rotor inertias are shared, friction is that of each log
    or shared as well.

    Args:
        loaded: logs of the arm with the load.
        unloaded: logs of the arm without it.
        robot: model of the arm, with the joints of the logs.
        frame: frame of the URDF that the load is fixed to; the estimate is about it.
        arm: earlier fit of the arm, whose logs count as logs without the load.
        cutoff_hz: highest frequency that is used [Hz]; 8 Hz if not given.
        friction: whether each log has friction of its own, or all logs share it.
        interval: method of the intervals; if not given, bootstrap where there are ten blocks.
        scale: gains of the torques with their errors; if not given, as the logs and the links of
            the model show them, or those of `arm` if a known load has shown them.
        known_load: mass of this load [kg], from which the scale of the torques is taken.
        link_accuracy: standard deviation of the relative errors of the model's links.
        terms: what is known of the load.

    Raises:
        ProblemError: no log, logs of other joints, neither logs without the load nor an arm; or
            the motion does not identify the mass.
        NegativeMass: the load would have a negative mass, as if logs with and without it were
            swapped.
        LogError: a log is given twice, is too short, or no joint moves in it.
        ModelError: the URDF has no such frame, or it is fixed to the base; `arm` is of another arm.
        SolveError: the solver failed, or its solution is not proved.
    """
    with_load = [loaded] if isinstance(loaded, Recording | LogFile) else list(loaded)
    without = [unloaded] if isinstance(unloaded, Recording | LogFile) else list(unloaded)
    _require_runs(with_load, without, arm)
    robot.moving_frame(frame)
    columns, logs = scan_logs([*with_load, *without], robot, cutoff_hz, arm)
    statistics = join_logs([log.statistics for log in logs])
    if arm is not None:
        require_distinct(logs, arm.statistics.logs)
        statistics = join_logs([statistics, arm.statistics])
    count = len(statistics.logs)
    runs = runs_of(count, friction)
    form = partial(
        arm_system,
        columns=columns,
        runs=runs,
        further=further_friction(columns, statistics, runs),
        loaded=(True,) * len(with_load) + (False,) * (count - len(with_load)),
        frame=frame,
    )
    given = scale
    if scale is None and arm is not None and known_load is None:
        scale = arm.scale
    if scale is None:
        scale = given = TorqueScale.by_schema([*with_load, *without])

    def gains_by(
        load: float | None, terms: Sequence[Term] = (), shown: FittedGains | None = None
    ) -> FittedGains:
        return calibrate(
            form,
            statistics,
            scale,
            known_load=load,
            shown=shown,
            link_accuracy=link_accuracy,
            has_unit=header_of(with_load[0]).joint_axes.has_torque,
            terms=terms,
        )

    def solve(gains: FittedGains, terms: Sequence[Term]) -> ArmSolution:
        system = partial(form, statistics, gains=gains.scale.gains)
        of_logs = gains.scale.between_logs(given)
        return solve_arm(lambda scatter: system(scatter=scatter), of_logs, interval, terms)

    def free_load() -> tuple[FittedGains, ArmSolution]:
        nonlocal form
        gains = gains_by(None)
        if hidden.any() or "load_default" in form.keywords:
            form = partial(form, load_default=_load_default(form, statistics, gains, terms))
        return gains, solve(gains, ())

    hidden = form(statistics).space.unobservable_unknowns()[:4]
    if known_load is not None and hidden[0]:
        raise ProblemError(
            "known load (--known-load): no motion of this arm shows the mass of a load alone, so "
            "it cannot tell the scale of the torques; leave it out, or give it as --mass"
        )
    free = contradicted = None
    try:
        try:
            gains, free = free_load()
        except TooLittleMotion as error:
            _require_load(form(statistics, bounded=False))
            if f"{PAYLOAD}.m" in error.unidentifiable:
                raise
            form = partial(form, load_default=first_load_default(columns))
            gains, free = free_load()
    except NegativeMass as error:
        _require_load(form(statistics, bounded=False))
        raise _negative_mass(error, form, statistics) from None
    except TooLittleMotion:
        if known_load is not None or not terms:
            raise
        gains = gains_by(None, terms)
    if known_load is not None and free is not None:
        require_plausible_load(known_load, float(free.estimate.parameters.mass))
        shown, gains = gains, gains_by(known_load, shown=gains)
        contradicted = contradicted_load(shown, gains, scale)
        terms = (*terms, KnownMass(known_load))
    solution = free if free is not None and not terms else solve(gains, terms)
    if free is not None and terms and known_load is None:
        contradicted = contradicted_terms(solution, free, terms)
    lasting = lasting_friction(form.keywords["further"])
    form = partial(form, gains=gains.scale.gains, further=lasting)
    return ArmFit.of(
        solution,
        logs,
        gains,
        held_out=_score_halves(form, statistics, solution, terms),
        contradicted=contradicted,
    )


def _load_default(
    form: partial[LinearSystem],
    statistics: Statistics,
    gains: FittedGains,
    terms: Sequence[Term],
) -> Phi:
    """Return the body that stands in for what no motion, or no log, shows of the load.

    Raises `NegativeMass`: motions show the mass, and it is below zero; `TooLittleMotion`: they
    show it, and the logs do not.
    """
    system = partial(form, statistics, gains=gains.scale.gains)
    columns, frame = form.keywords["columns"], form.keywords["frame"]
    default = first_load_default(columns)
    fit = weighted_least_squares(system(load_default=default), terms)
    hidden = fit.data.space.unobservable_unknowns(fit.data.equalities)[:4]
    mass, error = float(fit.x[0]), np.sqrt(covariance_of(fit)[0, 0])
    if not hidden[0] and mass < -IMPOSSIBLE_SIGMA * error:
        raise NegativeMass(mass, body=PAYLOAD)
    for _ in range(_DEFAULT_ROUNDS):
        default = ball_of_load(columns, frame, fit)
        fit = weighted_least_squares(system(load_default=default), terms)
    if not hidden[0] and fit.identifiability.half_widths[0] >= 1.0:
        raise TooLittleMotion((f"{PAYLOAD}.m",), _MOTION_ADVICE)
    return default


def _require_load(system: LinearSystem) -> None:
    """Raise `NoLoad` if logs with and without a load show that there is none."""
    if system.space.unobservable_unknowns()[0]:
        return
    x, error, weights = np.zeros(len(system.space)), np.inf, 1.0 / system.measured_power()
    for _ in range(_REWEIGHTINGS):
        problem = system.problem(weights[..., None])
        norms = np.linalg.norm(problem.A, axis=0)
        norms = np.where(norms > 0.0, norms, 1.0)
        inverse = np.linalg.pinv(problem.A / norms, rcond=_RELATIVE_RANK)
        x, error = inverse @ problem.b / norms, float(np.linalg.norm(inverse[0]) / norms[0])
        residual = np.maximum(system.residual_moments(x)[:, 0], np.finfo(float).tiny)
        weights = system.padded.effective_samples[:, None] / USUAL_SCATTER / residual
    links = equations_of(system).columns.robot.phi[:, 0].sum()
    if abs(x[0]) < SIGNIFICANT_SIGMA * error and error < _MAX_ERROR_SHARE * links:
        raise NoLoad(float(x[0]), error)


def _score_halves(
    form: Callable[..., LinearSystem],
    statistics: Statistics,
    solution: ArmSolution,
    terms: Sequence[Term],
) -> tuple[HeldOut, ...]:
    """Score each half of the logs by a fit to the other; no score if the load needs both."""

    def score(train: Statistics, test: Statistics) -> TorqueErrors:
        system = form(train, scatter=solution.scatter)
        return torque_errors(form(test), consistent_unknowns(system, terms))

    try:
        return tuple(
            HeldOut(name, score(train, test)) for name, train, test in split_logs(statistics)
        )
    except TooLittleMotion:
        return ()


def _negative_mass(
    error: NegativeMass, form: partial[LinearSystem], statistics: Statistics
) -> NegativeMass:
    """Explain a negative mass of a load by swapped logs if these explain the torques, or a sign.

    With swapped logs, consistent links and friction of at least zero leave no more of the torques
    than least squares does; with a wrong sign of torques or gravity they leave more.
    """
    swapped = partial(form, statistics, loaded=tuple(not each for each in form.keywords["loaded"]))
    system = swapped()
    try:
        least_squares_error = torque_errors(
            system, weighted_least_squares(swapped(bounded=False)).x
        ).total
        swapped_error = torque_errors(system, consistent_unknowns(system)).total
    except (ProblemError, SolveError):
        least_squares_error, swapped_error = 0.0, np.inf
    if swapped_error < min(_MAX_SWAPPED_RATIO * least_squares_error, _MAX_SWAPPED_ERROR):
        return NegativeMass(
            error.mass,
            "swap them: --unloaded takes the logs without the load, and so does fit-arm; if they "
            "are as given, [world] gravity has the other sign",
            error.body,
            code="logs_swapped",
            meaning=f"the arm carries less in the logs with the load than without it; swapped, all "
            f"but {100.0 * swapped_error:.2g} % of the torques is explained",
            evidence={"torque_error": swapped_error},
        )
    return NegativeMass(error.mass, _NEGATIVE_MASS_REMEDY, error.body, "effort_sign", _NOT_A_WEIGHT)


def _require_runs(
    loaded: Sequence[ReadableLog], unloaded: Sequence[ReadableLog], arm: SavedArm | None
) -> None:
    """Raise unless the logs and the arm are enough to tell the load from the arm."""
    if not loaded:
        raise ProblemError("a payload needs at least one log with it")
    if not unloaded and arm is None:
        raise ProblemError(
            "the torques of a loaded arm do not tell the load from the last link: give a log of "
            "the arm without the load (unloaded, --unloaded), or a fit of the arm (arm, --arm)"
        )
