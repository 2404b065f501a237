"""What faults that were found, and not corrected, may have moved of an estimate."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Fault, LogFacts
from identify.diagnosis.faults.wrench import CALIBRATION
from identify.diagnosis.misfit import pseudo_spectrum
from identify.diagnosis.search import ALARM, Hidden, hidden
from identify.errors import IdentifyError
from identify.estimation import Estimate, EstimatorSettings
from identify.estimation.intervals import covariance_of
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.widened import of_shift
from identify.findings import Finding
from identify.inertia.frames import phi_in_frame
from identify.pipeline.correcting import SPANS, leave_out, rivals, take_out_spikes
from identify.pipeline.diagnose import Checks, least_squares_of
from identify.pipeline.plausibility import FAR
from identify.pipeline.scanned_log import ScannedLog
from identify.spatial import Pose

Other: TypeAlias = tuple[Array, Array]
"""Another estimate of the unknowns, and its covariance."""


class Left(NamedTuple):
    """What faults may have moved of an estimate.

    Attributes:
        covariance: to add so that intervals cover what the fit says as read and as corrected, of
            the parameters of all bodies, shape (10 n, 10 n).
        unknown: codes of faults without which there is no fit of a possible body: what they move
            is not known.
        besides: codes of faults that the logs still show beside those that were corrected, without
            a size that explains them.
    """

    covariance: Array
    unknown: tuple[str, ...]
    besides: tuple[str, ...]


def faults_left(
    logs: Sequence[ScannedLog],
    checks: Checks,
    estimate: Estimate,
    settings: EstimatorSettings,
    *,
    corrected: bool = False,
) -> Left:
    """What faults that were found, or that the logs do not exclude besides, may have moved.

    Args:
        logs: as they were fitted.
        checks: what was found of them.
        estimate: of them.
        settings: it was fitted with.
        corrected: whether something was corrected before.
    """
    # A prior leaves the estimate apart from least squares, and that is no fault: what is read with
    # a fault and without it is compared by least squares, which moves more.
    read = np.concatenate(
        [(one.least_squares if estimate.prior else one.parameters).phi for one in estimate.bodies]
    )
    added, largest = np.zeros((len(read), len(read))), np.zeros((len(read), len(read)))
    others, unknown, besides = list(_sized(logs, checks, settings)), [], list[str]()
    if checks.diagnosis is not None and (corrected or others or any(checks.spans)):
        named = {c for each in checks.diagnosis.found for c in (each.code, *each.equivalent)}
        for each in _hidden(checks.diagnosis.fit, logs, named):
            others += _of_hidden(each)
            if corrected and each.p_value < ALARM and each.fault.code != CALIBRATION:
                besides.append(each.fault.code)
        if _is_impossible(checks.diagnosis.fit):
            unknown += [each.code for each in checks.diagnosis.found]
    codes = dict.fromkeys(span.code for of_log in checks.spans for span in of_log)
    for code in codes:
        try:
            now = leave_out(logs, checks, code)[0] if code in SPANS else None
            found = least_squares_of(now or take_out_spikes(logs, checks)[0], settings)
        except IdentifyError:
            found = None
        if found is None:
            unknown.append(code)
        else:
            others.append(_of(found))
            for each in _hidden(found, logs):
                others += _of_hidden(each)
    for change in checks.doubts:
        others.append((change.first, np.diag(change.first_errors**2)))
        others.append((change.second, np.diag(change.second_errors**2)))
    for x, covariance in others:
        shift = np.zeros(len(read))
        shift[: len(x)] = x - read[: len(x)]
        added += of_shift(shift, np.zeros_like(added))
        if len(x) == len(read) and np.trace(covariance) > np.trace(largest):
            largest = covariance
    return Left(added + largest if others else added, tuple(unknown), tuple(besides))


def not_known(finding: Finding, unknown: Sequence[str]) -> Finding:
    """A finding of a fault without which there is no fit of a possible body: an error."""
    if finding.code not in unknown:
        return finding
    text = (
        f"{finding.text} Without it there is no fit of a possible body: what it does to the "
        "estimate is not known."
    )
    remedy = finding.remedy.replace(f", fit with --apply {finding.code}", "")
    remedy = remedy.removesuffix(f" Or fit with --apply {finding.code}.")
    return replace(finding, severity="error", text=text, remedy=remedy)


def several(
    checks: Checks, corrected: Sequence[str], besides: Sequence[str] = ()
) -> Finding | None:
    """An error where several things are wrong with the logs: one may hide in the size of another.

    Args:
        checks: what was found of them.
        corrected: codes of what was corrected before.
        besides: codes of what the logs show besides.
    """
    found = [] if checks.diagnosis is None else [each.code for each in checks.diagnosis.found]
    found += [change.code for change in checks.changes]
    if checks.drift is not None and not set(found) & set(checks.drift.equivalent):
        found.append(checks.drift.code)
    if checks.calibration is not None:
        found.append(checks.calibration.code)
    codes = list(dict.fromkeys([*found, *(span.code for of in checks.spans for span in of)]))
    if not codes and besides:
        return Finding(
            "unexplained",
            "error",
            f"once {' and '.join(corrected)} had been corrected, the logs still show something "
            f"like {' or '.join(besides)}, at no size that explains it: several things are wrong "
            "with them at once, and neither the estimate nor its intervals can be relied on.",
            "Correct them where they come from, and log again.",
            {"besides": list(besides), "corrected": list(corrected)},
        )
    if not codes or len(codes) + len(corrected) < 2:
        return None
    after = f", once {' and '.join(corrected)} had been corrected" if corrected else ""
    return Finding(
        "unexplained",
        "error",
        f"several things are wrong with the logs at once: {' and '.join(codes)} found{after}. Each "
        "may hide a part of another, or be what another looks like: neither the estimate nor its "
        "intervals can be relied on.",
        "Correct them where they come from and log again; or fit with --apply "
        f"{','.join([*corrected, *codes])}, and see whether anything is left.",
        {"found": codes, "corrected": list(corrected)},
    )


def _of(fit: LeastSquaresFit) -> Other:
    return fit.x, covariance_of(fit)


def _is_impossible(fit: LeastSquaresFit) -> bool:
    """Whether a body of a fit surely has a second moment below zero in some direction."""
    covariance = covariance_of(fit)
    for k, phi in enumerate(fit.x[:20].reshape(-1, 10)):
        own = slice(10 * k, 10 * k + 10)
        values, slope = pseudo_spectrum(phi)
        if values[0] < -FAR * np.sqrt(max(slope @ covariance[own, own] @ slope, 0.0)):
            return True
    return False


def _sized(
    logs: Sequence[ScannedLog], checks: Checks, settings: EstimatorSettings
) -> Iterator[Other]:
    """The estimates with faults that have a size corrected, one or another where they tie."""
    if checks.drift is not None:
        yield _of(checks.drift.fit)
    if checks.calibration is not None:
        yield checks.calibration.phi, np.zeros((10, 10))
    if checks.diagnosis is None or not checks.diagnosis.found:
        return
    fit = checks.diagnosis.fit
    yield _of(fit)
    for found in checks.diagnosis.found:
        for x in _undecided(found.faults[0], found.size, fit.x):
            yield x, np.zeros((len(x), len(x)))
        yield from (_of(other.fit) for other in rivals(logs, found, settings))


def _hidden(
    fit: LeastSquaresFit, logs: Sequence[ScannedLog], named: Collection[str] = ()
) -> Iterator[Hidden]:
    """What logs do not exclude besides what was found."""
    return hidden(fit, [LogFacts.of(log.summary.recording) for log in logs], named)


def _of_hidden(found: Hidden) -> Iterator[Other]:
    yield found.x, found.covariance
    for x in _undecided(found.fault, found.size, found.x):
        yield x, found.covariance


def _undecided(fault: Fault, size: Array, x: Array) -> Iterator[Array]:
    """The bodies where the other of two things is wrong that a fault cannot tell apart."""
    if not fault.undecided:
        return
    if fault.code == "gain":  # the force, and the mass with it
        yield x / (1.0 + float(size[0]))
    elif fault.code == "kinematic_offset":  # the mount, and the place of the body with it
        for sign in (1.0, -1.0):
            moved = Pose(np.eye(3), sign * size)
            yield np.concatenate([phi_in_frame(phi, moved) for phi in x[:20].reshape(-1, 10)])
