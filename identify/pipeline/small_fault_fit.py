"""Fit of small sensor faults, such as gain errors and delays, and the deviance of such fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import chdtri

from identify.arrays import Array
from identify.diagnosis import Fault
from identify.diagnosis.body_likelihood import BandRows, fit_body, high_snr_bands
from identify.diagnosis.fault import FaultParameters
from identify.diagnosis.fault_model import log_squared_determinants
from identify.diagnosis.ranking import MISTAKE_PENALTY, mistake_penalty
from identify.errors import ProblemError
from identify.estimation import EstimatorSettings, FittedEffects, fit_effects
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.random_effects_model import BodyScale, EffectModel, SensorFaultType
from identify.logs.effect_keys import EFFECT_KEYS, FaultSizeSetting
from identify.logs.log_properties import LogProperties
from identify.logs.sensors import effect_table
from identify.pipeline.scanned_log import (
    ScannedLog,
    finest_blocks,
    split_by_body,
    without_small_faults,
)
from identify.pipeline.small_fault_findings import MAX_POINT_DISPLACEMENT
from identify.regressors import Statistics
from identify.regressors.log_corrections import sensor_gain_map
from identify.signals.transform import band_middle
from identify.significance import CLEAR_LIKELIHOOD_LEAD, DISPLACED_POINT_P
from identify.spatial.columns import WRENCH
from identify.spatial.vectors import STANDARD_GRAVITY

_WIDE_GAIN_PRIOR = FaultSizeSetting(0.05, 0.2)
"""Prior standard deviation and cap of a gain fitted in place of a displaced reference point."""

_INACCURATE_SENSOR_PRIOR = FaultSizeSetting(0.05, 0.3)
"""Prior standard deviation and cap of gains and crosstalk of a sensor that is less accurate than
its schema says, such as a printed one or one that was overloaded."""

_MIN_DISPLACEMENT_CHI_SQUARED = float(chdtri(3, DISPLACED_POINT_P))
"""χ² (3 degrees of freedom) of a displaced reference point above which a gain is fitted instead."""

_FLAT_PRIOR_SIGMA = 30.0
"""Standard deviation of a practically flat prior of a corrected fault's size, relative to the
smallest size that matters."""


@dataclass(frozen=True)
class FittedLogs:
    """Logs as they are read, with the small faults of their sensors by a fit.

    Attributes:
        scanned: the logs, those of the carrier alone last.
        small_faults: of their sensors; None if the fit fails or the schemas exclude all faults.
    """

    scanned: tuple[ScannedLog, ...]
    small_faults: FittedEffects | None = None

    @classmethod
    def fit(cls, logs: Sequence[ScannedLog], settings: EstimatorSettings) -> FittedLogs:
        """Fit the small faults of logs; see `fit_small_faults`."""
        return cls(tuple(logs), fit_small_faults(logs, settings))

    @cached_property
    def clean(self) -> Sequence[ScannedLog]:
        """Logs without the small faults and without the drift of their offsets."""
        if self.small_faults is None:
            return self.scanned
        return tuple(without_small_faults(self.scanned, self.small_faults))

    @property
    def clean_but_for_drift(self) -> Sequence[ScannedLog]:
        """Logs without the small faults, but with the drift of their offsets; for a fit alone.

        Their statistics are by the shortest blocks, and have the columns that a fit reads.
        """
        finest = (_with_statistics(log, finest_blocks(log.summary)) for log in self.scanned)
        logs = (
            finest
            if self.small_faults is None
            else without_small_faults(finest, self.small_faults, drift=False)
        )
        return [_with_statistics(log, log.summary.statistics.fit_columns_only()) for log in logs]


def _with_statistics(log: ScannedLog, statistics: Statistics) -> ScannedLog:
    summary = replace(log.summary, statistics=statistics, folds=statistics)
    return log._replace(summary=summary)


def fit_small_faults(
    logs: Sequence[ScannedLog], settings: EstimatorSettings
) -> FittedEffects | None:
    """Fit small sensor faults of logs; None if the fit fails or the schemas exclude all faults.

    If they cannot be fitted, as with a torque in another unit, the accuracy of the scale that the
    schemas give still counts.

    A large cable is left out where it does not increase the likelihood: its sixteen columns absorb
    slow noise in the means of blocks, and make the mass uncertain. `[effects] cable` in the schema
    keeps it. With logs of the carrier alone it stays too.
    """
    statistics = [finest_blocks(log.summary) for log in logs]
    recordings = [log.summary.recording for log in logs]
    model = EffectModel.of(recordings, statistics, _unknowns_of_corrected_faults(logs))
    try:
        small_faults = fit_effects(statistics, recordings, settings, model)
    except ProblemError:
        try:
            return fit_effects(statistics, recordings, settings, model.given_alone)
        except ProblemError:
            return None
    cable_is_in_schema = any("cable" in effect_table(log) for log in recordings)
    largest = EFFECT_KEYS["cable"].prior_size
    cable_is_small = small_faults is None or small_faults.sizes.get("cable", 0.0) <= largest
    # The fits are compared by the likelihood of one body; with logs of the carrier there are two.
    if small_faults is None or cable_is_small or cable_is_in_schema or settings.unloaded:
        return small_faults
    try:
        other = fit_effects(statistics, recordings, settings, model.without_fault("cable"))
    except ProblemError:
        return small_faults
    bands = comparison_bands(logs)
    with_cable, without_cable = (FittedLogs(tuple(logs), each) for each in (small_faults, other))
    cable_is_likelier = deviance(with_cable, bands) < deviance(without_cable, bands)
    return small_faults if cable_is_likelier else other


def _unknowns_of_corrected_faults(logs: Sequence[ScannedLog]) -> list[SensorFaultType]:
    """Return unknowns with a flat prior by which the sizes of corrected faults are refitted.

    A size that was estimated by maximum likelihood has an error, which the intervals then include.
    """
    sized = {
        fault.name: (fault, size)
        for log in logs
        for fault, size in (each.parametric for each in log.corrected_faults if each.parametric)
    }
    return [
        *(
            _unknowns_of_fault(fault, fault.parameters)
            for fault, _ in sized.values()
            if fault.parameters is not None
        ),
        *(_unknown_scale(size) for fault, size in sized.values() if fault.name == "torque_gain"),
    ]


def _unknown_scale(torque_gain: Array) -> SensorFaultType:
    """Return the unknown scale of a sensor of which a gain κ of the torque was corrected.

    The force may as well have been the one that was wrong, with the gain 1 / (1 + κ): the scale
    of both is as uncertain as that.
    """
    of_force = float(np.abs(torque_gain[0] / (1.0 + torque_gain[0])))
    return SensorFaultType(
        "wrench_scale",
        "gain",
        ("size",),
        lambda setup, eta: sensor_gain_map((1.0 + float(eta[0])) * np.eye(6), setup.X_BS),
        units=lambda _: np.array([of_force]),
    )


def _unknowns_of_fault(fault: Fault, parameters: FaultParameters) -> SensorFaultType:
    """Return the unknowns that describe the size of a parametric fault."""

    def map_at(log_facts: LogProperties, size: Array) -> Array:
        from identify.diagnosis.faults import parametric_faults  # few fits correct a fault

        ((fault_of_log, *_),) = parametric_faults([log_facts], [fault.name])
        M = None if fault_of_log.linear_map is None else fault_of_log.linear_map(size)
        assert M is not None
        return M

    def prior_sigmas(body_scale: BodyScale) -> Array:
        mass = body_scale.weight / STANDARD_GRAVITY if parameters.scales_with_mass else 1.0
        return np.full(len(parameters.names), _FLAT_PRIOR_SIGMA * parameters.relevant_size * mass)

    return SensorFaultType(fault.name, fault.code, parameters.names, map_at, units=prior_sigmas)


def comparison_bands(logs: Sequence[ScannedLog]) -> list[tuple[int, ...]]:
    """Return the frequency bands of each log whose wrench enters the deviance."""
    return [
        high_snr_bands(finest_blocks(log.summary), log.summary.recording.gravity) for log in logs
    ]


def deviance(
    logs: FittedLogs,
    bands: Sequence[tuple[int, ...]],
    faults: Sequence[Fault] = (),
    samples: float | None = None,
    *,
    n_unloaded: int = 0,
    too_dense: bool = False,
) -> float:
    """Return the deviance of logs: −2 log-likelihood of the wrench plus penalties of all faults.

    It is infinite if no sample of theirs is in the bands.
    `n_unloaded`: how many of the logs, the last ones, are of the carrier alone.
    """
    small_faults = logs.small_faults
    statistics = [finest_blocks(log.summary) for log in logs.clean]
    rows = [BandRows.of(s, kept) for s, kept in zip(statistics, bands, strict=True)]
    samples_here = float(sum(each.effective_samples.sum() for each in rows))
    if samples_here == 0.0:
        return np.inf
    samples = samples_here if samples is None else samples
    scale = faults[0].min_wrench_scale(too_dense=too_dense) if faults else 1.0
    bodies = [fit_body(part, scale=scale) for part in split_by_body(rows, n_unloaded)]
    cost = sum(body.cost for body in bodies) * samples / samples_here
    if small_faults is not None:
        cost += small_faults.laplace_penalty
        for M, each in zip(small_faults.model.maps(small_faults.eta), rows, strict=True):
            middles = np.array([band_middle(band) for band in each.bands])
            cost -= (
                float(each.effective_samples @ log_squared_determinants(M[None], middles)[0])
                * samples
                / samples_here
            )
    if faults:
        fault = faults[0]
        cost += mistake_penalty(fault)
        if fault.parametric is not None:
            cost += len(fault.parametric[1]) * float(np.log(6.0 * samples))
        if fault.linear:
            cost -= 2.0 * float(np.linalg.slogdet(fault.fit_map()[WRENCH, WRENCH])[1]) * samples
    return cost


def fit_gain_alternative(logs: FittedLogs, settings: EstimatorSettings) -> FittedEffects | None:
    """Fit a sensor gain instead of a displaced reference point; None unless it is as likely.

    A force that is too large by a factor leaves nearly the same residual as a displacement of some
    millimetres, but changes the mass. A gain is compared at sizes far beyond the prior's; beside a
    `gain_accuracy` it supposes that this key is wrong.

    `logs`: with a displaced point among their small faults, if they have one.
    """
    small_faults = logs.small_faults
    if small_faults is None:
        return None
    points = [b.columns for b in small_faults.model.blocks if b.fault.name == "point_m"]
    sizes = [float(np.linalg.norm(small_faults.eta[columns])) for columns in points]
    is_displaced = any(
        np.sum((small_faults.eta[columns] / small_faults.errors[columns]) ** 2)
        > _MIN_DISPLACEMENT_CHI_SQUARED
        for columns in points
    )
    if not is_displaced or max(sizes) > MAX_POINT_DISPLACEMENT or settings.unloaded:
        return None
    statistics = [finest_blocks(log.summary) for log in logs.scanned]
    recordings = [log.summary.recording for log in logs.scanned]
    model = small_faults.model.with_gain_for_point_offset(_WIDE_GAIN_PRIOR)
    try:
        other = fit_effects(statistics, recordings, settings, model)
    except ProblemError:
        return None
    bands = comparison_bands(logs.scanned)
    if other is None:
        return None
    lead = deviance(replace(logs, small_faults=other), bands) - deviance(logs, bands)
    penalty = 0.0 if small_faults.model.gain_accuracy is None else MISTAKE_PENALTY
    return None if lead + penalty > CLEAR_LIKELIHOOD_LEAD else other


_MAX_SQUARED_GAIN = 1.0
"""Mean square of fitted gains, relative to their prior, to which its accuracy needs no test: .1 to
.9 in sound logs."""

_MAX_NOISE_RATIO = 0.5
"""Ratio of the residual of static poses to wrench and accuracy to which that needs no test."""

_MAX_CROSSTALK_RATIO = 1.5
"""Ratio of the size of crosstalk to the accuracy of the schema to which that needs no test."""


@dataclass(frozen=True, slots=True)
class ContradictedAccuracy:
    """Accuracy of a sensor by its logs, which contradict that of its schema.

    Attributes:
        given: largest `gain_accuracy` of the schemas; None if they give none.
        accuracy: standard deviation of gains and crosstalk by the logs.
        lead: difference of the deviance of the logs with both.
        small_faults: small faults of the logs fitted with `accuracy` as `gain_accuracy`.
    """

    given: float | None
    accuracy: float
    lead: float
    small_faults: FittedEffects


def residual_ratio(fit: LeastSquaresFit) -> float:
    """Return the ratio of residual to measured wrench (RMS) of a fit."""
    system = fit.data.system
    residual = sum(float(np.trace(moment)) for moment in system.residual_moments(fit.x))
    measured = sum(
        float(np.sum(statistics.factors[:, :, WRENCH] ** 2)) for statistics, _ in system.data
    )
    return float(np.sqrt(residual / measured)) if measured > 0.0 else 0.0


def _may_exceed_accuracy(small_faults: FittedEffects, *, is_still: bool) -> bool:
    """Whether gains and crosstalk may be larger than the accuracy of the schema.

    In static poses what they cannot explain with it counts as noise.
    """
    given = small_faults.model.gain_accuracy
    if given is None:
        return not {"gain", "crosstalk"}.isdisjoint(small_faults.at_cap)
    if is_still and residual_ratio(small_faults.fit) > _MAX_NOISE_RATIO * given:
        return True
    gains = [b.columns for b in small_faults.model.blocks if b.fault.name == "gain"]
    squares = [
        (np.mean(small_faults.eta[columns] ** 2), np.mean(small_faults.units[columns] ** 2))
        for columns in gains
    ]
    are_large = any(size > _MAX_SQUARED_GAIN * prior for size, prior in squares)
    crosstalk = small_faults.sizes.get("crosstalk", 0.0)
    return are_large or crosstalk > _MAX_CROSSTALK_RATIO * given


def find_contradicted_accuracy(
    logs: FittedLogs, settings: EstimatorSettings
) -> ContradictedAccuracy | None:
    """Return the accuracy of a sensor whose gains and crosstalk are larger than its schema allows.

    No log shows an error that is common to all gains. Gains that differ, crosstalk and
    nonlinearity beyond the accuracy of the schema show that it is not that of this sensor. Without
    one, the largest sizes of small faults take its place, and a sensor at these sizes may as well
    be less accurate: of it, an accuracy that is not clearly less likely is returned, too.
    """
    small_faults = logs.small_faults
    if small_faults is None:
        return None
    given = small_faults.model.gain_accuracy
    is_still = all(log.summary.recording.still for log in logs.scanned)
    if not _may_exceed_accuracy(small_faults, is_still=is_still):
        return None
    statistics = [finest_blocks(log.summary) for log in logs.scanned]
    recordings = [log.summary.recording for log in logs.scanned]
    model = small_faults.model.with_scale_from_logs(_INACCURATE_SENSOR_PRIOR)
    bands = comparison_bands(logs.scanned)
    try:
        other = fit_effects(statistics, recordings, settings, model)
        if other is None:
            return None
        before, after = (
            deviance(each, bands, n_unloaded=settings.unloaded)
            for each in (logs, replace(logs, small_faults=other))
        )
        sizes = [other.sizes[name] for name in ("gain", "crosstalk") if name in other.sizes]
        accuracy = float(f"{max(sizes):.2g}")
        largest = EFFECT_KEYS["gain"].max_size if given is None else given
        least_lead = CLEAR_LIKELIHOOD_LEAD if given is not None else -CLEAR_LIKELIHOOD_LEAD
        if before - after < least_lead or accuracy <= largest:
            return None
        fitted = fit_effects(statistics, recordings, settings, model.with_gain_accuracy(accuracy))
    except ProblemError:
        return None
    if fitted is None:
        return None
    return ContradictedAccuracy(given, accuracy, before - after, fitted)
