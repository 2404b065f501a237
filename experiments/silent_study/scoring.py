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
from experiments.silent_study.several import PREFIX, several, without_each
from experiments.silent_study.subjects import Subject, subject
from identify.arrays import Array, Phi
from identify.errors import IdentifyError, SchemaError
from identify.estimation import Estimate
from identify.findings import Finding
from identify.inertia import PHI, InertialParameters
from identify.logs import Recording
from identify.pipeline import FitResult, FitSettings, check_logs, fit
from identify.pipeline.correcting import NotCorrected
from identify.pipeline.effect_notes import EFFECT_CODES
from identify.regressors import FEATURE_TENSOR, scan
from identify.signals.transform import BAND_EDGES_HZ, CONSTANT
from identify.spatial.columns import PSI, W

SYMPTOMS = (
    *("unexplained", "choice_contradicted", "little_motion", "motion_noise", "completed"),
    *("imprecise", "at_the_edge"),
)
"""Findings that name no cause."""

TELLS = 20.0
"""Twice the log-likelihood from which on a log can tell what was done to it."""

EXIT_ZERO = ("yes", "with care")
"""What is said of an estimate that a shell takes for a success."""

_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Score:
    """Score of one log with one perturbation.

    Attributes:
        log: its name.
        fault: what was done.
        kind: of the fault.
        gain: twice the log-likelihood that the log as it was has over the log made wrong.
        said: code of the first finding that is no mere information, and its equivalents.
        right: whether one of them names what was done.
        usable: what a plain fit says of its estimate; "none" where it has none.
        off: largest error of a reported parameter of that, in half-widths of its interval.
        obeyed: how the hint was obeyed: "applied", "schema", or empty where it could not be.
        after_usable, after_off: of the fit after that.
        inertia_ratio: its error of inertia over that of the clean log, or over the clean log's
            interval, if that is larger.
        covered, reported: of the ten parameters how many are in their intervals, and how many have
            one, of all estimates that a shell takes for a success.
    """

    log: str
    fault: str
    kind: str
    gain: float
    said: tuple[str, ...]
    right: bool
    usable: str
    off: float
    obeyed: str = ""
    after_usable: str = ""
    after_off: float = np.nan
    inertia_ratio: float = np.nan
    covered: int = 0
    reported: int = 0

    @property
    def tellable(self) -> bool:
        """Whether the log can tell, as the study decides it."""
        return self.gain >= TELLS

    @property
    def silent(self) -> bool:
        """Whether an estimate that a shell takes for a success is wrong by a whole interval."""
        return self.usable in EXIT_ZERO and self.off > 2.0

    @property
    def misled(self) -> bool:
        """Whether the hint, obeyed, gives such an estimate."""
        return bool(self.obeyed) and self.after_usable in EXIT_ZERO and self.after_off > 2.0


def scored(log: str, fault: str, seed: int) -> Score:
    """Make a log wrong, and see what is said of it.

    Args:
        log: name of the clean log.
        fault: name of what is done.
        seed: of the log, and of what is done.
    """
    done = fault_of(fault, seed)
    clean = subject(log, seed)
    rng = np.random.default_rng([seed, crc32(f"{log} {fault}".encode())])
    wrong = tuple(done.make(clean, rng))
    gain = _gain(log, seed, wrong, done)
    if fault.startswith(PREFIX):
        gain = min(gain, _gain_of_each(log, fault, seed, wrong, done))
    plain, findings = _looked_at(wrong)
    said = _first(findings)
    first = said[0] if said else None
    codes = () if first is None else (first.code, *first.evidence.get("equivalent", ()))
    right = bool(set(codes) & set(done.codes))
    usable, off = _of_fit(plain, clean.phi)
    counts = coverage([plain], clean.phi)
    score = Score(log, done.name, done.kind, gain, codes, right, usable, off)
    score = replace(score, covered=counts[0], reported=counts[1])
    if first is None or first.evidence.get("equivalent"):
        return score
    obeyed, after = _obeyed(wrong, first)
    if not obeyed:
        return score
    after_usable, after_off = _of_fit(after, clean.phi)
    counts = coverage([plain, after], clean.phi)
    ratio = np.nan
    if after is not None:
        ratio = _inertia_error(after.estimate, clean.phi) / max(_clean(log, seed))
    return replace(
        score,
        obeyed=obeyed,
        after_usable=after_usable,
        after_off=after_off,
        inertia_ratio=float(ratio),
        covered=counts[0],
        reported=counts[1],
    )


def fault_of(name: str, seed: int) -> Fault:
    """Return the perturbation with a name."""
    if name.startswith(PREFIX):
        return several(int(name.removeprefix(PREFIX).partition(":")[0]), seed)
    return next(each for each in faults() if each.name == name)


def _looked_at(logs: Sequence[Subject]) -> tuple[FitResult | None, tuple[Finding, ...]]:
    """A plain fit, where there is one, and all that a check finds."""
    try:
        recordings = [log.read() for log in logs]
        try:
            plain = fit(recordings)
        except IdentifyError:
            plain = None
        if plain is not None and plain.checks.readings:
            return plain, plain.all_findings
        return plain, check_logs(recordings).findings
    except IdentifyError as error:  # refused, which is not silent
        return None, (Finding("unexplained", "error", f"refused: {error}"),)


def _first(findings: Sequence[Finding]) -> list[Finding]:
    """Warnings, errors and notes on effects, those of a cause first."""
    grave = [f for f in findings if f.severity != "info" or f.code in EFFECT_CODES]
    return [f for f in grave if f.code not in SYMPTOMS] or grave


def _of_fit(result: FitResult | None, phi: Phi) -> tuple[str, float]:
    """Whether it is called usable, and its largest error in half-widths.

    Where a finding says that the pose is of another point than the wrench, either may be right.
    """
    if result is None:
        return "none", np.nan
    off = largest_error(result.estimate, phi)
    for finding in result.findings:
        if "com_from_point_of_pose" in finding.evidence:
            off = min(off, _error_about_point_of_pose(result.estimate, finding, phi))
    return result.verdict.usable, off


def _error_about_point_of_pose(estimate: Estimate, finding: Finding, phi: Phi) -> float:
    """Largest error of mass, centre of mass from the pose's point, and inertia about it."""
    of_inertia = [name for name in truth_by_name(estimate.parameters) if name.startswith("Ic")]
    off = largest_error(estimate, phi, ("m", *of_inertia))
    com = np.array(finding.evidence["com_from_point_of_pose"])
    half = np.array(finding.evidence["com_half_width"])
    return max(off, float(np.max(np.abs(com - phi[1:4] / phi[0]) / half)))


def coverage(results: Sequence[FitResult | None], phi: Phi) -> tuple[int, int]:
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
    """Return the errors of parameters with an interval, or some of them, in half-widths."""
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
    """The ten parameters, the centre of mass, and the inertia about it."""
    moments = ("xx", "xy", "xz", "yy", "yz", "zz")
    six = body.inertia_about_com[np.triu_indices(3)]
    named = dict(zip(("m", "hx", "hy", "hz", *(f"I{m}" for m in moments)), body.phi, strict=True))
    named |= dict(zip(("cx", "cy", "cz"), body.com, strict=True))
    named |= dict(zip((f"Ic{m}" for m in moments), six, strict=True))
    return {name: float(value) for name, value in named.items()}


def _inertia_error(estimate: Estimate, phi: Phi) -> float:
    truth = InertialParameters(phi).inertia_about_com
    away = np.linalg.norm(estimate.inertia_about_com - truth)
    return float(away / np.linalg.norm(truth))


@lru_cache(maxsize=16)
def _clean(log: str, seed: int) -> tuple[float, float]:
    """Error of inertia of the clean log, and the half-width of its intervals, both relative."""
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


# --- what is done of a hint ---------------------------------------------------------------------


def _obeyed(logs: Sequence[Subject], first: Finding) -> tuple[str, FitResult | None]:
    """The fit after the first finding's remedy: a line of the schema, or a correction."""
    changed = [obey(log.schema, first.remedy) for log in logs]
    try:
        if all(schema is not None for schema in changed):
            now = [replace(log, schema=s) for log, s in zip(logs, changed, strict=True) if s]
            return "schema", fit([log.read() for log in now])
        recordings = [log.read() for log in logs]
        return "applied", fit(recordings, FitSettings(apply=(first.code,)))
    except NotCorrected:
        return "", None
    except IdentifyError:
        return "applied", None


_TABLE = re.compile(r"(?:^In the schema, |; in )\[([\w.]+)\],? ")
_CHANGE = re.compile(r"`[^`]*` to `([^`]*)`|`([^`]*)`")


def obey(schema: Mapping[str, Any], remedy: str) -> dict[str, Any] | None:
    """The schema with the lines that a remedy names; None where it names none.

    Args:
        schema: tables of keys.
        remedy: such as "In the schema, [wrench], set `frame = "body"` and leave `point` out; in
            [pose], set `maps = "world_to_body"`."

    Raises:
        SchemaError: a line is no line of a schema.
    """
    before, *tables = _TABLE.split(remedy)
    whole = copy.deepcopy(dict(schema))
    changed = False
    for name, said in zip(tables[::2], tables[1::2], strict=True):
        target = whole
        for part in name.split("."):
            target = target.setdefault(part, {})
        for line in (new or only for new, only in _CHANGE.findall(said)):
            if "=" in line:
                target.update(_key_of(line, remedy))
            elif f"leave `{line}` out" in said:
                target.pop(line, None)
            else:
                return None
            changed = True
    return whole if changed and not before else None


def _key_of(line: str, remedy: str) -> dict[str, Any]:
    try:
        return tomllib.loads(line.replace("\n", " "))
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{remedy!r} names no lines of a schema: {error}") from error


# --- whether a log can tell ---------------------------------------------------------------------


def _gain(log: str, seed: int, wrong: Sequence[Subject], done: Fault) -> float:
    """n (log det Σ of the log made wrong − log det Σ of the log as it was), with the Jacobian.

    Infinite where the log made wrong cannot be read, or its best body has a negative mass.
    """
    return _gain_over(_spread(log, seed), wrong, done.log_power)


def _gain_over(
    true: Spread, wrong: Sequence[Subject], log_power: Callable[[float], float]
) -> float:
    try:
        recordings = [each.read() for each in wrong]
        faulty = Spread.of(recordings)
    except (IdentifyError, np.linalg.LinAlgError):
        return np.inf
    if faulty.mass < 0.0 <= true.mass:
        return np.inf
    n = true.bands.sum()
    omega = np.pi * (np.array(BAND_EDGES_HZ[:-1]) + np.minimum(BAND_EDGES_HZ[1:], 1e3))
    power = sum(
        share * log_power(float(omega[band - 1]) if band else 0.0)
        for band, share in enumerate(true.bands / n)
    )
    return float(n * (faulty.log_det - true.log_det - power))


def _gain_of_each(log: str, fault: str, seed: int, wrong: Sequence[Subject], done: Fault) -> float:
    """The least that a log with all but one of several faults gains over the log with all.

    A log can tell several where it can tell each of them beside the others.
    """
    clean, gains = subject(log, seed), []
    for other in without_each(int(fault.removeprefix(PREFIX).partition(":")[0]), seed):
        rng = np.random.default_rng([seed, crc32(f"{log} {fault}".encode())])
        less = tuple(other.make(clean, rng))
        try:
            better = Spread.of([each.read() for each in less])
        except (IdentifyError, np.linalg.LinAlgError):
            continue
        gains.append(
            _gain_over(better, wrong, lambda w, o=other: done.log_power(w) - o.log_power(w))
        )
    return min(gains, default=np.inf)


@lru_cache(maxsize=16)
def _spread(log: str, seed: int) -> Spread:
    return Spread.of([subject(log, seed).read()])


@dataclass(frozen=True, slots=True)
class Spread:
    """Covariance of what the best body leaves of the wrench, over all rows alike.

    Attributes:
        log_det: of it.
        bands: effective samples of each band, shape (bands,).
        mass: of that body [kg].
    """

    log_det: float
    bands: Array
    mass: float

    @classmethod
    def of(cls, recordings: Sequence[Recording]) -> Spread:
        """Of logs of one body, each with an offset of its own."""
        stacks, counts = [], []
        for recording in recordings:
            statistics = scan(recording).statistics
            factors = statistics.totals[0].copy()
            factors[CONSTANT, 0] = 0.0  # the row on which an offset acts
            stacks.append(factors.reshape(-1, factors.shape[-1]))
            counts.append(statistics.sum_over_blocks(statistics.effective_samples)[0])
        z, bands = np.concatenate(stacks), np.sum(counts, axis=0)
        Y, w = np.tensordot(z[:, PSI], FEATURE_TENSOR, axes=1), z[:, W]
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
