"""Findings on an arm's links, and on signals of its logs that no reading makes right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from identify.arms.columns import FURTHER_OF_RUN
from identify.arms.equations import of_run
from identify.arms.fitted_arm import FittedArm
from identify.arms.gains import POSSIBLE_SCALE_SIGMA, FittedGains
from identify.arms.rows import joined_log, joint_chunks
from identify.arms.saved_arm import SavedArm
from identify.arrays import Array
from identify.findings import Finding
from identify.inertia import check_consistency
from identify.logs.log_file import header_of
from identify.logs.schema_fields import MAX_SCALE_SIGMA
from identify.regressors.log_scan import ReadableLog
from identify.robots import RobotModel
from identify.signals.segments import EvenSegment
from identify.significance import HALF_WIDTH_SIGMA, IMPOSSIBLE_SIGMA

_IMPOSSIBLE_MARGIN = -1e-3
"""Largest scaled eigenvalue of an impossible link, below the rounding of the numbers of models."""

_MAX_CONSTANT_RANGE = 1e-9
"""Largest range of a constant effort, relative to its size."""

_VELOCITY_WINDOW_S = 0.1
"""Time over which a logged velocity is compared with the change of the position [s]: longer than
steps of encoders last, shorter than motions."""

_MAX_OPPOSITE_CORRELATION = -0.5
"""Largest correlation of the two at which a velocity has the wrong sign; it is near 1 if right."""

_POOR_HELD_OUT_ERROR = 0.3
"""Relative held-out torque error from which a fit may have learnt nothing; measured arms: .05."""

_MIN_LEARNT_RATIO = 0.95
"""Smallest ratio of that error to that of the model's links at which nothing is learnt."""

_MIN_SHARED_ROWS = 0.5
"""Smallest share of rows of one log in another at which both are of the same run."""


def signal_findings(logs: Sequence[ReadableLog], loaded: int) -> tuple[Finding, ...]:
    """Return findings on signals that are wrong in themselves; the logs with a load come first."""
    compared = 0 < loaded < len(logs)
    every = [_LogSignals.of(log, compared=compared) for log in logs]
    findings = [*_same_run(every, loaded)] if compared else []
    for signals in every:
        findings += [*_constant_efforts(signals), *_opposite_velocities(signals)]
    return tuple(findings)


class _LogSignals(NamedTuple):
    """Signals of a log by the longest segments of its chunks.

    Attributes:
        name, joints: of the log.
        rows: hashes of different rows in which a position changes; none if not compared.
        lowest, highest: position and effort of each joint, shape (2, n).
        products: sums of squares of the changes of position and of the integral of the velocity,
            and of their products, shape (3, n).
    """

    name: str
    joints: tuple[str, ...]
    rows: NDArray[np.uint64]
    lowest: Array
    highest: Array
    products: Array

    @classmethod
    def of(cls, log: ReadableLog, *, compared: bool) -> _LogSignals:
        """Read a log in chunks; its rows are only hashed if they are `compared`."""
        rows, ranges, products = [np.empty(0, dtype=np.uint64)], list[Array](), list[Array]()
        for chunk, segments in joint_chunks(joined_log(log)):
            if compared:
                rows.append(_moving_rows(chunk.recording.signals))
            for segment in sorted(segments, key=len)[-1:]:
                each = [segment.signals[name] for name in ("joint_position", "effort")]
                ranges.append(np.array([(x.min(axis=0), x.max(axis=0)) for x in each]))
                products.append(_change_products(segment))
        lowest, highest = np.min(ranges, axis=0)[:, 0], np.max(ranges, axis=0)[:, 1]
        different, joints = np.unique(np.concatenate(rows)), header_of(log).joint_axes.names
        return cls(log.name, joints, different, lowest, highest, np.sum(products, axis=0))


def _moving_rows(signals: Mapping[str, Array]) -> NDArray[np.uint64]:
    """Return hashes of positions and efforts of the rows in which a position changes."""
    q = signals["joint_position"]
    rows = np.concatenate((q, signals["effort"]), axis=1).astype(np.float32)
    moves = np.any(np.diff(rows[:, : q.shape[1]], axis=0) != 0.0, axis=1)
    factors = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64)
    return rows[1:][moves].view(np.uint32).astype(np.uint64) @ (2 * factors + 1)


def _change_products(segment: EvenSegment) -> Array:
    """Return `_LogSignals.products` of a segment."""
    step = max(1, round(_VELOCITY_WINDOW_S * segment.rate_hz))
    q = segment.signals["joint_position"]
    if "joint_velocity" not in segment.signals or len(segment) <= step:
        return np.zeros((3, q.shape[1]))
    integral = np.cumsum(segment.signals["joint_velocity"], axis=0)
    dq, dv = (x[step:] - x[:-step] for x in (q, integral))
    return np.array([np.sum(a * b, axis=0) for a, b in ((dq, dq), (dv, dv), (dq, dv))])


def _same_run(logs: Sequence[_LogSignals], loaded: int) -> Iterator[Finding]:
    """Yield a finding for logs with and without the load that have rows in common."""
    for i, j in product(range(loaded), range(loaded, len(logs))):
        common = np.intersect1d(logs[i].rows, logs[j].rows, assume_unique=True)
        share = len(common) / max(min(len(logs[i].rows), len(logs[j].rows)), 1)
        if share > _MIN_SHARED_ROWS:
            yield Finding(
                "same_run",
                "error",
                f"{logs[i].name}, with the load, and {logs[j].name}, without it, are of the same "
                f"run: {100.0 * share:.0f} % of their rows are equal.",
                "Give the log of another run.",
                {"share": share},
                f"{logs[i].name}, {logs[j].name}",
            )


def _constant_efforts(signals: _LogSignals) -> Iterator[Finding]:
    """Yield a finding for each joint whose effort does not change while it moves."""
    moving, varying = signals.highest - signals.lowest
    largest = np.maximum(np.abs(signals.lowest[1]), np.abs(signals.highest[1]))
    constant = varying <= _MAX_CONSTANT_RANGE * largest
    for j in np.flatnonzero(constant & (moving > 0.0)).tolist():
        value = float(signals.lowest[1, j])
        yield Finding(
            "effort_constant",
            "error",
            f"the effort of {signals.joints[j]} is {value:.4g} in all rows while the joint moves.",
            "Name the columns of measured torques or currents in [joints] effort, or log again "
            "with a driver that fills them in.",
            {"effort": value},
            signals.name,
        )


def _opposite_velocities(signals: _LogSignals) -> Iterator[Finding]:
    """Yield a finding for each joint whose logged velocity runs against its positions."""
    sizes = np.sqrt(signals.products[0] * signals.products[1])
    correlations = signals.products[2] / np.where(sizes > 0.0, sizes, 1.0)
    for j in np.flatnonzero(correlations < _MAX_OPPOSITE_CORRELATION).tolist():
        name = signals.joints[j]
        yield Finding(
            "joint_sign",
            "error",
            f"the velocity of {name} has the other sign than the change of its position.",
            f"In the schema, [joints], write the columns of position and velocity of {name} both "
            'with a minus, "-…", or both without.',
            {"correlation": float(correlations[j])},
            signals.name,
        )


def gain_findings(gains: FittedGains, joints: Sequence[str]) -> Iterator[Finding]:
    """Yield findings on gains of the torques beyond those of right logs."""
    if not gains.has_unit:
        yield _gains_of_currents(gains, joints)
        return
    words = gains.words(joints)
    of_joints = [text for text, is_large in zip(words, gains.large, strict=True) if is_large]
    mirrored = [
        name
        for name, gain, half, is_large in zip(
            joints, gains.scale.gains, gains.half_widths, gains.large, strict=True
        )
        if is_large and abs(gain + 1.0) < half
    ]
    if mirrored and len(mirrored) == len(of_joints):
        yield Finding(
            "effort_sign",
            "warning",
            f"the effort of {' and of '.join(mirrored)} has the other sign: gains are "
            f"{', '.join(of_joints)} ({gains.scale.interval_kind}). The estimate counts with them.",
            "In the schema, [joints] effort, write the column of "
            f'{" and of ".join(mirrored)} with a minus, "-…".',
            dict(zip(joints, gains.scale.gains.tolist(), strict=True)),
        )
    elif of_joints:
        yield Finding(
            "joint_gain",
            "warning",
            f"logged torques of some joints have gains: {', '.join(of_joints)} "
            f"({gains.scale.interval_kind}). The estimate counts with them.",
            _gains_line(gains),
            dict(zip(joints, gains.scale.gains.tolist(), strict=True)),
        )
    elif gains.common is not None and abs(gains.common_sigmas) > POSSIBLE_SCALE_SIGMA:
        common, common_error = gains.common
        yield Finding(
            "torque_scale",
            "warning" if abs(gains.common_sigmas) > IMPOSSIBLE_SIGMA else "info",
            f"the torques are {common:.2g} ± {HALF_WIDTH_SIGMA * common_error:.2g} times those "
            "that the links of the robot's model need, if these are right to the accuracy assumed. "
            "The estimate takes the torques as right: else the mass changes by the factor "
            f"{1.0 / common:.2g}.",
            "Give the logs of a weighed load with `--known-load KG`: it tells the scale of the "
            "torques, and of the mass. A log of the arm alone must be without a load. Links that "
            "are less accurate: `--link-accuracy`.",
            {"scale": common, "error": common_error},
        )


def _gains_line(gains: FittedGains) -> str:
    inverse = 1.0 / gains.scale.gains
    known = np.where(abs(inverse - 1.0) > gains.half_widths, inverse, 1.0)
    errors = np.minimum(gains.half_widths / HALF_WIDTH_SIGMA, MAX_SCALE_SIGMA)
    factors, accuracy = _listed(known, 4), _listed(errors)
    line = (
        f"In the schema, [joints], multiply the efforts: `gains = [{factors}]` (times the gains "
        f"that are there), known to `gain_accuracy = [{accuracy}]`. An arm.json is of the gains of "
        "its logs: fit it again with these lines."
    )
    by_links = gains.are_free and gains.known_load is None
    return f"{line} A weighed load tells them better: `--known-load KG`." if by_links else line


def _listed(values: Array, digits: int = 2) -> str:
    return ", ".join(f"{value:.{digits}g}" for value in values.tolist())


def gains_that_differ(logs: Sequence[ReadableLog], arm: SavedArm | None) -> Iterator[Finding]:
    """Yield a finding if schemas multiply the same kind of effort by different gains.

    `arm`: earlier fit with the gains of its logs.
    """
    every = [(log.name, header_of(log).joint_axes.gains) for log in logs]
    if arm is not None:
        every.append(("the arm.json", arm.report.get("gains", {})))
    for (first, gains), (other, others) in combinations(every, 2):
        for kind in gains.keys() & others.keys():
            factors, other_factors = (
                _listed(np.asarray(each[kind]), 4) for each in (gains, others)
            )
            if factors != other_factors:
                yield Finding(
                    "joint_gain",
                    "warning",
                    f"`gains` in [joints] differ: {first} has [{factors}], {other} "
                    f"[{other_factors}].",
                    "Read all logs of an arm by the same gains, and fit the arm.json with them; "
                    "only logs of other drivers need others.",
                )
                return


def _gains_of_currents(gains: FittedGains, joints: Sequence[str]) -> Finding:
    """Return the note on gains of currents, which the schema does not give [N m/A]."""
    factors = 1.0 / gains.scale.gains
    listed = ", ".join(
        f"{name} {factor:.3g} ± {100.0 * half:.2g} %" if half < 1.0 else f"{name} not determined"
        for name, factor, half in zip(joints, factors, gains.half_widths, strict=True)
    )
    return Finding(
        "current_gains",
        "info",
        f"gains from currents to torques [N m/A]: {listed} ({gains.scale.interval_kind}).",
        "They suppose that the log of the arm itself is without a load. Give `gains` in [joints] "
        "if you know them better, or a weighed load: `--known-load KG`.",
        dict(zip(joints, factors.tolist(), strict=True)),
    )


def friction_changes(arm: FittedArm, durations: Sequence[float]) -> Iterator[Finding]:
    """Yield a finding for each log in which friction of joints changed, as gears do that warm up.

    `durations`: of the logs [s].
    """
    for series, run, duration in zip(arm.series, arm.runs, durations, strict=True):
        changes = {}
        for j, joint in enumerate(arm.joints):
            viscous, coulomb, _ = arm.friction(j, run)
            speed = float(np.sqrt(np.mean(series.velocity[:, j] ** 2)))
            parts = [
                np.multiply(arm.scalars.get(of_run(joint, kind, run), (0.0, 0.0)), factor)
                for kind, factor in zip(FURTHER_OF_RUN, (1.0, speed), strict=True)
            ]
            change, error = sum(p[0] for p in parts), float(np.hypot(*(p[1] for p in parts)))
            start = coulomb + viscous * speed - 0.5 * change
            if change and start > 0.0:
                changes[joint] = change / start, HALF_WIDTH_SIGMA * error / start
        if changes:
            listed = ", ".join(
                f"of {joint} {'fell' if change < 0.0 else 'rose'} by "
                f"{100.0 * abs(change):.2g} ± {100.0 * half:.2g} %"
                for joint, (change, half) in changes.items()
            )
            yield Finding(
                "friction_change",
                "info",
                f"friction {listed} in {duration / 60.0:.2g} min; the fit counts with it.",
                "Move the arm until it is warm before a log, and log with and without the load one "
                "right after the other.",
                {joint: float(change) for joint, (change, _) in changes.items()},
                series.name,
            )


def impossible_links(robot: RobotModel) -> Iterator[Finding]:
    """Yield a finding on links of the model that no body can have."""
    verdicts = {
        name: check_consistency(phi) for name, phi in zip(robot.links, robot.phi, strict=True)
    }
    bad = {n: v for n, v in verdicts.items() if v.impossible and v.margin < _IMPOSSIBLE_MARGIN}
    if bad:
        name, worst = min(bad.items(), key=lambda item: item[1].margin)
        yield Finding(
            "impossible_links",
            "warning",
            f"links of the robot's model have inertias that no body can have: {', '.join(bad)}; "
            f"{name}: {worst.reasons[0]}.",
            "Check the model by `identify inspect`, and take the inertias from its maker.",
            {"links": len(bad), "margin": float(max(worst.margin, -1e9))},
        )


def nothing_learnt(arm: FittedArm) -> Iterator[Finding]:
    """Yield a finding if a fit of an arm predicts no better than its model, and is not precise."""
    held, model = (arm.all_errors.get(name) for name in ("held out", "held out, URDF"))
    if held is None or model is None or arm.base_parameters[1].precise:
        return
    if held.total > max(_POOR_HELD_OUT_ERROR, _MIN_LEARNT_RATIO * model.total):
        yield Finding(
            "torque_unexplained",
            "error",
            f"the fit predicts the arm no better than its model: {100.0 * held.total:.0f} % of "
            f"held-out torques is left, {100.0 * model.total:.0f} % by the links of the URDF, and "
            "no base parameter is known to 10 %.",
            "Log longer and faster motion of all joints, and check the columns of [joints].",
            {"held_out": held.total, "model": model.total},
        )
