"""Scores of perturbed logs: findings, errors of the estimate, and effect of the suggested fix."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from experiments.silent_study.faults import Fault, faults
from experiments.silent_study.several import PREFIX, each_alone, several, without_each
from experiments.silent_study.subjects import Subject, subject
from identify.arrays import Array, Phi
from identify.errors import IdentifyError, SchemaError
from identify.estimation import Estimate
from identify.findings import Finding
from identify.inertia import PHI, InertialParameters
from identify.logs import Recording
from identify.pipeline import FitSettings, Result, check_logs, fit
from identify.pipeline.corrected_logs import NotCorrected
from identify.pipeline.small_fault_findings import SMALL_FAULT_CODES
from identify.regressors import FEATURE_TENSOR, summarise_log
from identify.signals.transform import BAND_EDGES_HZ, CONSTANT_GROUP
from identify.spatial.columns import FEATURES, WRENCH

SYMPTOMS = (
    *("unexplained", "choice_contradicted", "little_motion", "motion_noise", "completed"),
    *("imprecise", "at_the_edge"),
)
"""Codes of findings that name no cause."""

DETECTABLE_LLR = 20.0
"""Twice the log-likelihood ratio from which a perturbation counts as detectable."""

EXIT_ZERO = ("yes", "with care")
"""Verdicts with exit status 0."""

_ROUNDS = 5
"""Number of iterations of weights and body in `Spread`."""


@dataclass(frozen=True, slots=True)
class Score:
    """Score of one log with one perturbation.

    Attributes:
        log: name of the log.
        fault: name of the perturbation.
        kind: kind of the perturbation.
        log_likelihood_gain: twice the log-likelihood ratio of the original to the perturbed log.
        codes: code of the first finding other than information, and its equivalents.
        names_fault: whether one of the codes names the perturbation.
        usable: verdict of a plain fit; "none" without an estimate.
        largest_error: largest error of a reported parameter of that fit, in half-widths of its
            interval.
        remedy: way in which the remedy was applied: "applied" or "schema"; empty if none was.
        verdict_after_remedy, error_after_remedy: verdict and largest error of the fit after the
            remedy.
        inertia_ratio: error of its inertia relative to that of the clean log, or to the interval
            of the clean log if that is larger.
        covered, reported: numbers of the ten parameters within their intervals and with an
            interval, over the estimates with exit status 0.
    """

    log: str
    fault: str
    kind: str
    log_likelihood_gain: float
    codes: tuple[str, ...]
    names_fault: bool
    usable: str
    largest_error: float
    remedy: str = ""
    verdict_after_remedy: str = ""
    error_after_remedy: float = np.nan
    inertia_ratio: float = np.nan
    covered: int = 0
    reported: int = 0

    @property
    def detectable(self) -> bool:
        """Whether the log can detect the perturbation."""
        return self.log_likelihood_gain >= DETECTABLE_LLR

    @property
    def silent(self) -> bool:
        """Whether exit status is 0 and a parameter is wrong by more than its whole interval."""
        return self.usable in EXIT_ZERO and self.largest_error > 2.0

    @property
    def misled(self) -> bool:
        """Whether the fit after the remedy has exit status 0 and is wrong as in `silent`."""
        return (
            bool(self.remedy)
            and self.verdict_after_remedy in EXIT_ZERO
            and self.error_after_remedy > 2.0
        )


def score_perturbation(log: str, fault: str, seed: int) -> Score:
    """Perturb a log and score its findings and estimates.

    Args:
        log: name of the clean log.
        fault: name of the perturbation.
        seed: seed of log and perturbation.
    """
    perturbation = fault_of(fault, seed)
    clean = subject(log, seed)
    rng = np.random.default_rng([seed, crc32(f"{log} {fault}".encode())])
    perturbed = tuple(perturbation.make(clean, rng))
    gain = _log_likelihood_gain(log, seed, perturbed, perturbation)
    if fault.startswith(PREFIX):
        gain = min(gain, _smallest_separate_gain(log, fault, seed, perturbed, perturbation))
    plain, findings = _fit_and_check(perturbed)
    first = next(iter(_by_importance(findings)), None)
    codes = () if first is None else (first.code, *first.evidence.get("equivalent", ()))
    right = bool(set(codes) & set(perturbation.codes))
    usable, off = _verdict_and_error(plain, clean.phi)
    counts = coverage([plain], clean.phi)
    score = Score(log, perturbation.name, perturbation.kind, gain, codes, right, usable, off)
    score = replace(score, covered=counts[0], reported=counts[1])
    if first is None or first.evidence.get("equivalent"):
        return score
    remedy, after = _fit_with_remedy(perturbed, first)
    if not remedy:
        return score
    after_usable, after_off = _verdict_and_error(after, clean.phi)
    counts = coverage([plain, after], clean.phi)
    ratio = np.nan
    if after is not None:
        ratio = _inertia_error(after.estimate, clean.phi) / max(_clean(log, seed))
    return replace(
        score,
        remedy=remedy,
        verdict_after_remedy=after_usable,
        error_after_remedy=after_off,
        inertia_ratio=float(ratio),
        covered=counts[0],
        reported=counts[1],
    )


def fault_of(name: str, seed: int) -> Fault:
    """Return the perturbation with a name."""
    if name.startswith(PREFIX):
        return several(int(name.removeprefix(PREFIX).partition(":")[0]), seed)
    return next(fault for fault in faults() if fault.name == name)


def _fit_and_check(logs: Sequence[Subject]) -> tuple[Result | None, tuple[Finding, ...]]:
    """Return a plain fit, None if it failed, and the findings of a check."""
    try:
        recordings = [log.read() for log in logs]
        try:
            plain = fit(recordings)
        except IdentifyError:
            plain = None
        if plain is not None and plain.checks.interpretations:
            return plain, plain.all_findings
        return plain, check_logs(recordings).findings
    except IdentifyError as error:  # an error is not silent
        return None, (Finding("unexplained", "error", f"refused: {error}"),)


def _by_importance(findings: Sequence[Finding]) -> list[Finding]:
    """Return warnings, errors and notes on effects; only those that name a cause, if any."""
    serious = [f for f in findings if f.severity != "info" or f.code in SMALL_FAULT_CODES]
    return [f for f in serious if f.code not in SYMPTOMS] or serious


def _verdict_and_error(result: Result | None, phi: Phi) -> tuple[str, float]:
    """Return the verdict of a fit and its largest error in half-widths.

    If a finding reports separate points of pose and wrench, either may be the origin.
    """
    if result is None:
        return "none", np.nan
    off = largest_error(result.estimate, phi)
    for finding in result.findings:
        if "com_from_point_of_pose" in finding.evidence:
            off = min(off, _error_about_point_of_pose(result.estimate, finding, phi))
    return result.verdict.usable, off


def _error_about_point_of_pose(estimate: Estimate, finding: Finding, phi: Phi) -> float:
    """Return the largest error with the centre of mass measured from the point of the pose."""
    central = [name for name in truth_by_name(estimate.parameters) if name.startswith("Ic")]
    off = largest_error(estimate, phi, ("m", *central))
    com = np.array(finding.evidence["com_from_point_of_pose"])
    half = np.array(finding.evidence["com_half_width"])
    return max(off, float(np.max(np.abs(com - phi[1:4] / phi[0]) / half)))


def coverage(results: Sequence[Result | None], phi: Phi) -> tuple[int, int]:
    """Count the parameters within their intervals, and those with an interval, at exit status 0."""
    inside = [
        bool(interval[0] <= truth <= interval[1])
        for result in results
        if result is not None and result.verdict.usable in EXIT_ZERO
        for name, truth in zip(PHI, phi, strict=True)
        if (interval := result.estimate.intervals.get(name)) is not None
        and interval[1] > interval[0]
    ]
    return sum(inside), len(inside)


def largest_error(estimate: Estimate, phi: Phi, names: Sequence[str] | None = None) -> float:
    """Return the largest error of the parameters with an interval, or some, in half-widths."""
    truth = truth_by_name(InertialParameters(phi))
    values = truth_by_name(estimate.parameters)
    errors = [
        abs(values[name] - truth[name]) / (0.5 * (interval[1] - interval[0]))
        for name, interval in estimate.intervals.items()
        if interval is not None
        and name in (truth if names is None else names)
        and interval[1] > interval[0]
    ]
    return max(errors, default=0.0)


def truth_by_name(body: InertialParameters) -> dict[str, float]:
    """Return the ten parameters, the centre of mass and the inertia about it, by name."""
    moments = ("xx", "xy", "xz", "yy", "yz", "zz")
    six = body.inertia_about_com[np.triu_indices(3)]
    named = dict(zip(("m", "hx", "hy", "hz", *(f"I{m}" for m in moments)), body.phi, strict=True))
    named |= dict(zip(("cx", "cy", "cz"), body.com, strict=True))
    named |= dict(zip((f"Ic{m}" for m in moments), six, strict=True))
    return {name: float(value) for name, value in named.items()}


def _inertia_error(estimate: Estimate, phi: Phi) -> float:
    truth = InertialParameters(phi).inertia_about_com
    error = np.linalg.norm(estimate.inertia_about_com - truth)
    return float(error / np.linalg.norm(truth))


@lru_cache(maxsize=16)
def _clean(log: str, seed: int) -> tuple[float, float]:
    """Return the relative inertia error of the clean log and half-width of its intervals."""
    clean = subject(log, seed)
    estimate = fit(clean.read()).estimate
    truth = InertialParameters(clean.phi).inertia_about_com
    halves = [
        0.5 * (interval[1] - interval[0]) * (2.0 if name[2] != name[3] else 1.0) ** 0.5
        for name, interval in estimate.intervals.items()
        if name.startswith("Ic") and interval is not None
    ]
    return _inertia_error(estimate, clean.phi), float(
        np.linalg.norm(halves) / np.linalg.norm(truth)
    )


# --- application of remedies --------------------------------------------------------------------


def _fit_with_remedy(logs: Sequence[Subject], first: Finding) -> tuple[str, Result | None]:
    """Fit again with the remedy of a finding: lines of the schema, or a correction."""
    changed = [apply_remedy(log.schema, first.remedy) for log in logs]
    try:
        if all(schema is not None for schema in changed):
            corrected = [replace(log, schema=s) for log, s in zip(logs, changed, strict=True) if s]
            return "schema", fit([log.read() for log in corrected])
        recordings = [log.read() for log in logs]
        return "applied", fit(recordings, FitSettings(apply=(first.code,)))
    except NotCorrected:
        return "", None
    except IdentifyError:
        return "applied", None


_TABLE = re.compile(r"(?:^In the schema, |; in )\[([\w.]+)\],? ")
_CHANGE = re.compile(r"`[^`]*` to `([^`]*)`|`([^`]*)`")


def apply_remedy(schema: Mapping[str, Any], remedy: str) -> dict[str, Any] | None:
    """Return the schema with the lines that a remedy names; None if it names none.

    Args:
        schema: tables of keys.
        remedy: such as "In the schema, [wrench], set `frame = "body"` and leave `point` out; in
            [pose], set `maps = "world_to_body"`."

    Raises:
        SchemaError: a line is not valid in a schema.
    """
    before, *tables = _TABLE.split(remedy)
    result = copy.deepcopy(dict(schema))
    changed = False
    for name, instruction in zip(tables[::2], tables[1::2], strict=True):
        target = result
        for part in name.split("."):
            target = target.setdefault(part, {})
        for line in (new or only for new, only in _CHANGE.findall(instruction)):
            if "=" in line:
                target.update(_key_of(line, remedy))
            elif f"leave `{line}` out" in instruction:
                target.pop(line, None)
            else:
                return None
            changed = True
    return result if changed and not before else None


def _key_of(line: str, remedy: str) -> dict[str, Any]:
    try:
        return tomllib.loads(line.replace("\n", " "))
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{remedy!r} names no lines of a schema: {error}") from error


# --- detectability ------------------------------------------------------------------------------


def _log_likelihood_gain(log: str, seed: int, perturbed: Sequence[Subject], fault: Fault) -> float:
    """Return n (log det Σ of the perturbed log − log det Σ of the original), with the Jacobian.

    Infinite if the perturbed log cannot be read, or its best body has a negative mass.
    """
    return _log_likelihood_gain_over(_spread(log, seed), perturbed, fault.log_power)


def _log_likelihood_gain_over(
    original: ResidualCovariance, logs: Sequence[Subject], log_power: Callable[[float], float]
) -> float:
    try:
        perturbed = ResidualCovariance.of([log.read() for log in logs])
    except (IdentifyError, np.linalg.LinAlgError):
        return np.inf
    if perturbed.mass < 0.0 <= original.mass:
        return np.inf
    n = original.bands.sum()
    omega = np.pi * (np.array(BAND_EDGES_HZ[:-1]) + np.minimum(BAND_EDGES_HZ[1:], 1e3))
    power = sum(
        share * log_power(float(omega[band - 1]) if band else 0.0)
        for band, share in enumerate(original.bands / n)
    )
    return float(n * (perturbed.log_det - original.log_det - power))


def _smallest_separate_gain(
    log: str, name: str, seed: int, perturbed: Sequence[Subject], fault: Fault
) -> float:
    """Return the smallest gain of a single perturbation: alone, and over a log with all others.

    A combination is detectable if each perturbation is, in both. The residual of other
    perturbations is no noise: one that the clean log does not show may seem to change it.
    """
    clean, number = subject(log, seed), int(name.removeprefix(PREFIX).partition(":")[0])

    def made(part: Fault) -> tuple[Subject, ...]:
        rng = np.random.default_rng([seed, crc32(f"{log} {name}".encode())])
        return tuple(part.make(clean, rng))

    gains = [_log_likelihood_gain(log, seed, made(f), f) for f in each_alone(number, seed)]
    for other in without_each(number, seed):
        logs = made(other)
        try:
            reference = ResidualCovariance.of([log.read() for log in logs])
        except (IdentifyError, np.linalg.LinAlgError):
            continue
        gains.append(
            _log_likelihood_gain_over(
                reference, perturbed, lambda w, o=other: fault.log_power(w) - o.log_power(w)
            )
        )
    return min(gains, default=np.inf)


@lru_cache(maxsize=16)
def _spread(log: str, seed: int) -> ResidualCovariance:
    return ResidualCovariance.of([subject(log, seed).read()])


@dataclass(frozen=True, slots=True)
class ResidualCovariance:
    """Covariance of the residual wrench of the best body, over all rows.

    Attributes:
        log_det: log determinant of the covariance.
        bands: effective number of samples per band, shape (bands,).
        mass: mass of the best body [kg].
    """

    log_det: float
    bands: Array
    mass: float

    @classmethod
    def of(cls, recordings: Sequence[Recording]) -> ResidualCovariance:
        """Fit logs of one body, each with its own offset."""
        stacks, counts = [], []
        for recording in recordings:
            statistics = summarise_log(recording).statistics
            factors = statistics.total_factors[0].copy()
            factors[CONSTANT_GROUP, 0] = 0.0  # the row on which an offset acts
            stacks.append(factors.reshape(-1, factors.shape[-1]))
            counts.append(statistics.sum_over_blocks(statistics.effective_samples)[0])
        z, bands = np.concatenate(stacks), np.sum(counts, axis=0)
        Y, w = np.tensordot(z[:, FEATURES], FEATURE_TENSOR, axes=1), z[:, WRENCH]
        sigma = np.diag(np.mean(w**2, axis=0) + 1e-20)
        phi = np.zeros(10)
        for _ in range(_ROUNDS):
            root = np.linalg.cholesky(np.linalg.inv(sigma)).T
            A = (root @ Y).reshape(-1, 10)
            norms = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
            phi = np.linalg.lstsq(A / norms, (w @ root.T).reshape(-1), rcond=1e-9)[0] / norms
            residual = w - Y @ phi
            floor = 1e-12 * np.diag(np.sum(w**2, axis=0) + 1e-12)
            sigma = (residual.T @ residual + floor) / bands.sum()
        return cls(float(np.linalg.slogdet(sigma)[1]), bands, float(phi[0]))
