"""Comparison of the interpretations of logs of one body by likelihood."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Explanation, Fault, Ranking
from identify.diagnosis.body_likelihood import BandRows, cost_without_noisy_motion, high_snr_bands
from identify.diagnosis.fault import rounded_for_schema
from identify.diagnosis.fault_model import FaultModel, gauss_newton
from identify.diagnosis.faults import faults_of
from identify.diagnosis.faults.rotation import rotation_faults
from identify.diagnosis.faults.wrench import (
    LOG_RATIO_STARTS,
    axes_rotation,
    rotation_starts,
    sign_faults,
)
from identify.diagnosis.ranking import BaselineLikelihood, better_than_noise
from identify.diagnosis.screening import MAX_SCREENED_ROWS, likeliest_axes, likeliest_poses
from identify.errors import IdentifyError
from identify.estimation.random_effects_model import SENSOR_FAULT_TYPES
from identify.logs import Recording
from identify.logs.log_properties import LogProperties
from identify.pipeline.scanned_log import ScannedLog
from identify.pipeline.wrench_delays import delayed_explanations
from identify.progress import log_progress
from identify.regressors import LogSummary
from identify.signals import on_one_clock
from identify.significance import CLEAR_LIKELIHOOD_LEAD, HALF_WIDTH_SIGMA

_LOGGER = logging.getLogger(__name__)

MAX_RESCANNED_ROWS = 10_000
"""Approximate number of rows that are scanned again to correct a fault that is not a linear map."""

_MAX_RESCANNED_AXES = 2
"""Maximum number of axis assignments of the wrench for which logs are reread."""

_MAX_COMBINED_AXES = 6
"""Maximum number of axis assignments of the wrench that are compared with another unit, too."""

_MAX_COMPARED_AXES = 24
"""Maximum number of axis assignments of force or torque that are compared without rereading."""

_MIN_COMMON_FRACTION = 0.9
"""Fraction of the samples that must be in frequency bands common to two interpretations, for the
interpretations to be compared."""

_MAX_ROTATION_ROWS = 100_000
"""Number of rows of a long log with which rotation conventions are screened."""

_MAX_STARTING_POINTS = 4
"""Maximum number of starting points of the search for the size of a large fault."""

_AXIS_PERMUTATION_CODES = ("wrench_axes", "force_sign", "torque_sign")
"""Codes of findings that axes are permuted or negated: no linear map of a wrench in world axes."""

_COMPANION_UNITS = ({"wrench.torque_unit": "Nm"}, {"wrench.torque_unit": "Nmm"})
"""Units of the torque that are mistaken beside other entries of a schema: most are in metres or
millimetres. Any other is tried alone."""

_ACCOMPANIED_CODES = ("gravity_direction", "time_unit")
"""Codes of linear faults that are tried with a sign or unit, besides all that are read again."""

CandidateFaults = tuple[Fault, ...]
"""One hypothetical fault as it would be in each of the logs."""


def rank_explanations(
    logs: Sequence[ScannedLog], large_types: Collection[str] = (), *, explained: bool = False
) -> Ranking:
    """Rank interpretations of logs of one body, such as other units or signs, by likelihood.

    `large_types`: names of small faults of the sensor whose fitted size is large; `explained`:
    whether small faults explain the logs, so that few combinations of mistakes are compared.
    """
    _LOGGER.info("comparing other interpretations")
    comparison = _Comparison.of(logs, explained=explained)
    if comparison is None:
        return Ranking((Explanation(0.0, np.zeros(10)),))
    return comparison.ranking(large_types)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Comparison of logs of one body as they are read with the same logs under possible faults.

    Attributes:
        logs: as they are read.
        subsets: summary of evenly spread rows of each log, with the columns of linear maps.
        bands: frequency bands of each log whose motion exceeds its noise.
        baseline: likelihood of the rows of the subsets in these bands.
        properties: how each log was measured.
        faults: all possible faults.
        explained: whether small faults explain the logs.
    """

    logs: Sequence[ScannedLog]
    subsets: Sequence[LogSummary]
    bands: Sequence[tuple[int, ...]]
    baseline: BaselineLikelihood
    properties: Sequence[LogProperties]
    faults: Sequence[CandidateFaults]
    explained: bool

    @classmethod
    def of(cls, logs: Sequence[ScannedLog], *, explained: bool) -> _Comparison | None:
        """Prepare the comparison of logs; None if none of them measures a wrench."""
        subsets = [log.rescan_subset(MAX_RESCANNED_ROWS, all_columns=True) for log in logs]
        bands = [high_snr_bands(each.statistics, each.recording.gravity) for each in subsets]
        rows = [BandRows.of(log.statistics, kept) for log, kept in zip(subsets, bands, strict=True)]
        if not any(len(each.effective_samples) and each.measures_wrench for each in rows):
            return None
        summaries = [log.summary for log in logs]
        speeds, spins = zip(*(each.max_rates for each in summaries), strict=True)
        fastest = (max(speeds), max(spins))
        properties = [LogProperties.of(s.recording, fastest, s.imu.scale) for s in summaries]
        baseline, faults = BaselineLikelihood.of(rows), faults_of(properties)
        return cls(logs, subsets, bands, baseline, properties, faults, explained)

    def ranking(self, large_types: Collection[str]) -> Ranking:
        """Rank the logs as read and the faults that explain more than noise of the motion does."""
        explanations = self._explanations(large_types)
        lead_of_noise = self.baseline.body_fit.cost - cost_without_noisy_motion(
            [log.statistics for log in self.subsets],
            self.baseline.rows,
            [log.recording.gravity for log in self.subsets],
        )
        return Ranking.of(
            better_than_noise(explanations, lead_of_noise), self.baseline.separate_bodies_lead
        )

    def _explanations(self, large_types: Collection[str]) -> list[Explanation]:
        """Return the explanations that are compared; equally likely ones rank in this order."""
        of_fixed_size = [
            self.baseline.as_read,
            # Their columns are mapped, without a log being read again.
            *map(self.baseline.explain_by_map, self._mapped),
            # Mapped too, but so many that only the likeliest are compared.
            *map(self.baseline.explain_by_map, self._mapped_axes_of_one_vector),
            # No map of columns corrects these, such as another convention of the pose.
            *self._reread(),
        ]
        large = [t.large for t in SENSOR_FAULT_TYPES if t.name in large_types and t.ranked_if_large]
        return [
            *of_fixed_size,
            # The map of a delay is exact for short ones only: correlated, then read again.
            *self._delayed(),
            # Steps reach 60°, so that they start near the likely permutations of axes too.
            *self._at_likeliest_size("wrench_misaligned", self._rotation_starts(of_fixed_size)),
            # No fit of small faults includes these, or only at far smaller sizes.
            *self._at_likeliest_size("torque_gain"),
            *self._at_likeliest_size("counts", LOG_RATIO_STARTS),
            *self._at_likeliest_size("position_scale"),
            *self._at_likeliest_size("partly_compensated"),
            # Their fitted sizes are too large for small faults.
            *chain.from_iterable(map(self._at_likeliest_size, large)),
        ]

    @property
    def _discrete(self) -> list[CandidateFaults]:
        return [faults for faults in self.faults if faults[0].parameters is None]

    @property
    def _linear(self) -> list[CandidateFaults]:
        """Faults without parameters that a linear map of the columns corrects in all logs."""
        return [faults for faults in self._discrete if all(fault.linear for fault in faults)]

    @property
    def _position_units(self) -> list[CandidateFaults]:
        return [faults for faults in self._linear if faults[0].code == "position_unit"]

    @property
    def _signs(self) -> list[CandidateFaults]:
        names = {fault.name for fault in sign_faults(self.properties[0])}
        return [faults for faults in self._linear if faults[0].name in names]

    @property
    def _units(self) -> list[CandidateFaults]:
        """Units that are mistaken beside anything else: of the position, of the torque, or both."""
        if self.explained:
            return self._position_units
        torque = [f for f in self._linear if f[0].patch_at_zero in _COMPANION_UNITS]
        return [*self._position_units, *torque, *_pairs(self._position_units, torque)]

    @property
    def _companions(self) -> list[CandidateFaults]:
        """Mistakes that are made beside others: signs, also of gravity, units, or both."""
        signs = self._signs
        if not self.explained:
            upwards = {"world.gravity": rounded_for_schema(-self.properties[0].gravity)}
            gravity = [f for f in self._linear if f[0].patch_at_zero == upwards]
            signs = [*signs, *gravity, *_pairs(gravity, signs)]
        return [*signs, *self._units, *_pairs(self._units, signs)]

    @property
    def _mapped(self) -> list[CandidateFaults]:
        single = [faults for faults in self._linear if not _permutes_one_vector(faults[0])]
        pairs = _pairs(self._units, self._signs)
        if not self.explained:
            others = [faults for faults in single if faults[0].code in _ACCOMPANIED_CODES]
            pairs += _pairs(others, [*self._signs, *self._units])
            pairs += _pairs(self._likeliest_axes_of_both(single), self._units)
        return [*single, *pairs]

    def _likeliest_axes_of_both(self, single: Sequence[CandidateFaults]) -> list[CandidateFaults]:
        """Return axes of the whole wrench, whose unit does not matter, by unit of positions."""
        axes = [faults for faults in single if faults[0].code == "wrench_axes"]
        rows = self.subsets[0].rows
        scaled = [rows, *(rows @ unit.map_at(np.zeros(0)) for unit, *_ in self._position_units)]
        likely = [
            likeliest_axes(axes, each, self.properties[0], _MAX_COMBINED_AXES) for each in scaled
        ]
        return list({each[0].name: each for each in chain.from_iterable(likely)}.values())

    @property
    def _mapped_axes_of_one_vector(self) -> list[CandidateFaults]:
        axes = [faults for faults in self._linear if _permutes_one_vector(faults[0])]
        rows = self.subsets[0].rows
        return likeliest_axes(axes, rows, self.properties[0], _MAX_COMPARED_AXES)

    def _reread(self) -> Iterator[Explanation]:
        """Yield explanations by faults without which the logs are read again.

        Each also with its companions: one of several mistakes explains no log alone.
        """
        companions = self._companions
        wide = not self.explained or bool(self._units)  # a length or gravity acts on the attitude
        candidates = self._candidates_to_reread()
        for number, candidate in enumerate(candidates):
            log_progress(_LOGGER, "comparing readings", number, len(candidates), "read again")
            try:
                reread = [
                    BandRows.of(_rescan_subset(log, fault, all_columns=wide).statistics, kept)
                    for log, fault, kept in zip(self.logs, candidate, self.bands, strict=True)
                ]
            except IdentifyError as error:  # no motion can be read this way
                _LOGGER.debug("not compared: %s: %s", candidate[0].text, error)
                continue
            comparable = self._in_common_bands(reread)
            if comparable is None:
                _LOGGER.debug("not compared: %s: too few common bands", candidate[0].text)
                continue
            baseline, rows = comparable
            yield baseline.explain_by_rescan(rows, candidate)
            for other in () if _permutes_one_vector(candidate[0]) else companions:
                if _change_same_key(candidate, other):
                    continue
                mapped = [r.mapped(fault.fit_map()) for r, fault in zip(rows, other, strict=True)]
                yield baseline.explain_by_rescan(mapped, _with_mapped(candidate, other))

    def _candidates_to_reread(self) -> list[CandidateFaults]:
        """Return the faults that no linear map corrects; of axes and conventions, the likeliest."""
        first, properties = self.subsets[0], self.properties[0]
        rotation_names = {fault.name for fault in rotation_faults(properties)}
        axes, poses, others = list[CandidateFaults](), list[CandidateFaults](), []
        for faults in self._discrete:
            if all(fault.linear for fault in faults):
                continue
            if faults[0].code in _AXIS_PERMUTATION_CODES:
                axes.append(faults)
            elif faults[0].name in rotation_names:
                poses.append(faults)
            else:
                others.append(faults)
        some = slice(None, None, max(1, len(first.rows) // MAX_SCREENED_ROWS))
        rows, numbers = _logged_rotations(self.logs[0], first.rows[some], first.time[some])
        likely = likeliest_poses(poses, rows, numbers, properties)
        for unit, *_ in self._position_units:
            scaled = rows @ unit.map_at(np.zeros(0))
            likely += likeliest_poses(poses, scaled, numbers, properties)
        return [
            *others,
            *{faults[0].name: faults for faults in likely}.values(),
            *likeliest_axes(axes, first.rows, properties, _MAX_RESCANNED_AXES),
        ]

    def _in_common_bands(
        self, reread: Sequence[BandRows]
    ) -> tuple[BaselineLikelihood, Sequence[BandRows]] | None:
        """Return baseline and reread rows in the bands of both; None if too few are common.

        Jumps of a pose change the segments, and with them the bands.
        """
        pairs = list(zip(reread, self.baseline.rows, strict=True))
        if all(after.bands == before.bands for after, before in pairs):
            return self.baseline, reread
        shared = [before.in_bands_of(after) for after, before in pairs]
        samples = sum(each.effective_samples.sum() for each in shared)
        if samples < _MIN_COMMON_FRACTION * self.baseline.samples:
            return None
        return BaselineLikelihood.of(shared), [after.in_bands_of(before) for after, before in pairs]

    def _delayed(self) -> Iterator[Explanation]:
        """Yield the explanation by a delay of the wrench, if one is possible."""
        for faults in self._parametric("delay"):
            yield from delayed_explanations(
                self.baseline, self.logs, faults, self.bands, MAX_RESCANNED_ROWS
            )

    def _rotation_starts(self, explanations: Sequence[Explanation]) -> list[Array]:
        """Return rotation vectors near those of likely permutations of axes, and near zero."""
        likely = sorted(
            (e for e in explanations if e.log_likelihood_ratio > CLEAR_LIKELIHOOD_LEAD),
            key=lambda each: -each.log_likelihood_ratio,
        )
        turns = [axes_rotation(each.faults[0], self.properties[0]) for each in likely]
        turns = [turn for turn in turns if turn is not None]
        return [start for turn in (*turns, np.zeros(3)) for start in rotation_starts(turn)]

    def _at_likeliest_size(
        self, fault_name: str, starting_sizes: Sequence[Array] = ()
    ) -> Iterator[Explanation]:
        """Yield the explanation by a parametric fault, such as a gain, at its best size.

        `starting_sizes`: start values of the search; zero if none are given.
        """
        for faults in self._parametric(fault_name):
            starts = starting_sizes or [np.zeros(faults[0].parameter_count)]
            tried = sorted(
                (FaultModel.at(self.baseline.rows, faults, size) for size in starts),
                key=lambda t: t.cost,
            )
            trials = [gauss_newton(trial) for trial in tried[:_MAX_STARTING_POINTS]]
            best = min((t for t in trials if t is not None), key=lambda t: t.cost, default=None)
            if best is not None and faults[0].is_possible(best.size):
                yield _explain_at_size(self.baseline, faults, best)

    def _parametric(self, name: str) -> list[CandidateFaults]:
        """Return the parametric fault of a name, or nothing where it is not possible."""
        return [
            faults
            for faults in self.faults
            if faults[0].parameters is not None and faults[0].name == name
        ]


def _explain_at_size(
    baseline: BaselineLikelihood, faults: CandidateFaults, model: FaultModel
) -> Explanation:
    """Return the explanation by a parametric fault at a size, as a fault without parameters."""
    half_width = HALF_WIDTH_SIGMA * np.sqrt(np.diag(model.step().covariance))
    explanation = baseline.explain_at_size(
        Explanation(0.0, model.phi, faults, model.size, half_width)
    )
    fixed = tuple(fault.at_size(model.size, explanation.text) for fault in faults)
    return replace(explanation, faults=fixed, fault_size=np.zeros(0), fault_half_width=np.zeros(0))


def _rescan_subset(log: ScannedLog, fault: Fault, *, all_columns: bool) -> LogSummary:
    """Scan a subset of a log's rows with a fault corrected in its schema."""
    assert fault.patch is not None
    reading = log.summary.reading.with_patch(fault.patch(np.zeros(0)))
    return log.rescan_subset(MAX_RESCANNED_ROWS, reading, all_columns=all_columns)


def _logged_rotations(log: ScannedLog, rows: Array, time: Array) -> tuple[Array, Array | None]:
    """Return regression rows and their attitude as logged (`attitude_coordinates`).

    Of a long log, only its beginning is returned.
    """
    source = log.source
    if not isinstance(source, Recording):
        source = source.reader()(0, _MAX_ROTATION_ROWS, 0).recording
    read = on_one_clock(log.summary.reading.apply_to_pose(source))
    numbers = read.attitude_coordinates
    if numbers is None:
        return rows, None
    if read.time is None:
        return rows, numbers[time.astype(int)]  # the time of a static pose is its number
    inside = time <= read.time[-1]
    return rows[inside], numbers[np.searchsorted(read.time, time[inside]).clip(max=len(read) - 1)]


def _with_mapped(faults: CandidateFaults, mapped: CandidateFaults) -> CandidateFaults:
    """Combine a fault with one that a linear map corrects, in each of the logs."""
    return tuple(fault.with_mapped(other) for fault, other in zip(faults, mapped, strict=True))


def _pairs(
    faults: Sequence[CandidateFaults], others: Sequence[CandidateFaults]
) -> list[CandidateFaults]:
    """Return all pairs of a fault and one that a linear map corrects, of different keys."""
    return [
        _with_mapped(f, other) for f in faults for other in others if not _change_same_key(f, other)
    ]


def _change_same_key(faults: CandidateFaults, others: CandidateFaults) -> bool:
    """Whether two faults are corrected by other values of the same key of the schema."""
    return not faults[0].patch_at_zero.keys().isdisjoint(others[0].patch_at_zero)


def _permutes_one_vector(fault: Fault) -> bool:
    """Whether a fault permutes or negates the axes of either force or torque."""
    return fault.name.startswith(("the force's x", "the torque's x"))
