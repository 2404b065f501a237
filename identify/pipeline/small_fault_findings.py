"""Findings on small sensor faults that every fit includes, such as gain errors and delays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from identify.arrays import Array, Flags
from identify.estimation import FittedEffects
from identify.estimation.intervals import covariance_of
from identify.estimation.random_effects_model import (
    DRIFT_FAULTS,
    SENSOR_FAULT_TYPES,
    BodyScale,
    EffectBlock,
)
from identify.findings import Finding, Severity
from identify.logs.effect_keys import EFFECT_KEYS
from identify.pipeline.scanned_log import ScannedLog, without_small_faults
from identify.regressors.newton_euler import WRENCH_NAMES
from identify.regressors.wrench import equal_time_intervals
from identify.relevance import MIN_FAULT_TO_PRIOR_RATIO, POOR_PRECISION
from identify.significance import HALF_WIDTH_SIGMA, SIGNIFICANT_SIGMA
from identify.spatial.vectors import coadjoint
from identify.texts import sentence

if TYPE_CHECKING:
    from identify.diagnosis.hysteresis import Hysteresis
    from identify.diagnosis.resonance import Resonance

MAX_POINT_DISPLACEMENT = 0.03
"""Largest error of the pose's reference point that a gain error of the sensor can imitate [m]."""

MAX_SMALL_ROTATION = float(np.radians(6.0))
"""Largest misalignment between wrench and body that counts as a small fault [rad]."""

_MIN_LARGE_SIZE = {"delay_s": EFFECT_KEYS["delay_s"].max_size, "clock": 0.06}
"""Delay [s] and clock rate error (relative) above which the fault counts as large."""

MAX_CABLE_SHARE = 0.1
"""Largest pull of a cable relative to the weight of the body at which a linear spring will do."""

BENT_CABLE_ERROR = 0.12
"""Part of the pull of a hose that bends which may count as weight: 3 to 16 % in simulated logs."""

_MIN_HYSTERESIS_SHARE = 0.2
"""Fraction of a fitted delay that hysteresis explains, above which hysteresis is reported: with
mechanical play it was 0.3 and more, with a true delay or a filter at most 0.05."""

_MOUNT_FREQUENCY_ERROR = 0.25
"""Relative error of the frequency of a mount: below it a log shows its stiffness alone."""

_RESONANT_SHARE_ERROR = 0.2
"""Relative error of the mass that swings, besides that of its fit: below it in 27 of 30 simulated
logs. A log that starts in motion may hide how it swings then."""

SMALL_FAULT_CODES = frozenset((*(group.code for group in SENSOR_FAULT_TYPES), "drift"))
"""Codes of findings on small sensor faults."""


def large_fault_types(faults: FittedEffects) -> tuple[str, ...]:
    """Return the types of small faults that are too large: candidates for a wrong schema."""
    large = list(faults.at_cap)
    for block in faults.model.blocks:
        name = block.fault.name
        size = float(np.abs(faults.eta_including_removed[block.columns]).max())
        if name in _MIN_LARGE_SIZE and size > _MIN_LARGE_SIZE[name]:
            large.append(name)
    return tuple(dict.fromkeys(large))


def all_faults_small(faults: FittedEffects) -> bool:
    """Whether all fitted sensor faults are too small to suggest a wrong unit, sign or frame.

    A displaced point imitates exactly a wrong sign or unit of the torque of a moving log, and a
    wrong clock rate a missing weight: if significant, they are compared with these readings,
    whatever their size.
    """
    for block in faults.model.blocks:
        name, size = block.fault.name, float(np.linalg.norm(faults.eta[block.columns]))
        if name in ("point_m", "clock") and _significant_entries(faults, block).any():
            return False
        if name == "misalignment_deg" and size > MAX_SMALL_ROTATION:
            return False
    return not large_fault_types(faults)


def has_significant_clock(faults: FittedEffects) -> bool:
    """Whether the fitted rate of the clock is significant."""
    return any(
        block.fault.name == "clock" and _significant_entries(faults, block).any()
        for block in faults.model.blocks
    )


def may_hide_resonance(faults: FittedEffects) -> bool:
    """Whether a fault is significant that a resonance of the body would be taken for."""
    return any(
        block.fault.name in ("delay_s", "filter_s", "clock", "point_m")
        and _significant_entries(faults, block).any()
        for block in faults.model.blocks
    )


def find_hysteresis(
    faults: FittedEffects, logs: Sequence[ScannedLog], n_unloaded: int
) -> dict[int, Hysteresis]:
    """Return the hysteresis of each sensor whose fitted delay or filter only imitates it.

    `logs`: in the order of the fit; `n_unloaded`: how many of them, the last ones, are of the
    carrier alone.
    """
    late = {
        block.sensor
        for block in faults.model.blocks
        if block.fault.name in ("delay_s", "filter_s") and _significant_entries(faults, block).any()
    }
    is_still = all(log.summary.recording.still for log in logs)
    if not late and not is_still:
        return {}
    from identify.diagnosis.hysteresis import fit_hysteresis  # few fits have a late sensor

    phi = faults.fit.x[:20].reshape(-1, 10).sum(axis=0)
    loaded = without_small_faults(logs[: len(logs) - n_unloaded], faults)
    zones = {}
    setups = faults.model.setups
    for sensor, setup, log in zip(faults.model.sensors, setups, loaded, strict=False):
        series = log.summary
        if series.reading.play is not None:  # what remains of it is small
            continue
        to_sensor = np.eye(6) if setup.X_BS is None else coadjoint(setup.X_BS.inverse())
        zone = fit_hysteresis(
            series.time, series.rows, series.segment_ids, phi, to_sensor, is_still=is_still
        )
        if zone is None:
            continue
        delay = 0.0 if is_still else _fitted_filter(faults, sensor).delay
        if is_still or (sensor in late and zone.delay > _MIN_HYSTERESIS_SHARE * delay):
            zones[sensor] = zone
    return zones


def small_fault_findings(
    faults: FittedEffects,
    hysteresis_by_sensor: Mapping[int, Hysteresis] = MappingProxyType({}),
    *,
    gain_equally_likely: bool = False,
) -> Iterator[Finding]:
    """Yield a finding for each type of significant small fault: sizes, intervals and remedy."""
    for block in faults.model.blocks:
        if block.fault not in SENSOR_FAULT_TYPES:  # remainder of a corrected fault
            continue
        if block.fault.name in ("delay_s", "filter_s") and block.sensor in hysteresis_by_sensor:
            continue
        if block.fault.name in ("delay_s", "filter_s") and (
            low_pass := _low_pass_finding(faults, block)
        ):
            if block.fault.name == "delay_s":  # once for delay and filter
                yield low_pass
            continue
        significant = _significant_entries(faults, block)
        at_cap = block.fault.name in faults.at_cap
        if significant.any() or at_cap:
            note = _small_fault_finding(
                faults, block, np.flatnonzero(significant).tolist(), at_cap=at_cap
            )
            if block.fault.name == "point_m" and gain_equally_likely:
                note = _with_gain_as_likely(note)
            if block.fault.name == "delay_s" and _may_be_low_pass(faults, block):
                more = " It may equally be a low-pass filter with that time constant."
                evidence = {**note.evidence, "equivalent": ["sensor_lag"]}
                note = replace(note, text=note.text + more, evidence=evidence)
            yield note
    if drift := _drift_finding(faults):
        yield drift


def _with_gain_as_likely(note: Finding) -> Finding:
    """Return the finding of a displaced point that a gain imitates, without a schema line.

    Its line would turn the displacement into a fact, and end all doubt of the gain.
    """
    more = " The log cannot distinguish it from gains of the sensor: the intervals cover both."
    remedy = (
        "Find out which one is true: measure how far apart the two points are, and give in the "
        "schema what was measured; or weigh the body and give --mass KG."
    )
    evidence = {**note.evidence, "equivalent": ["gain"]}
    return replace(note, text=note.text + more, remedy=remedy, evidence=evidence)


class _FittedFilter(NamedTuple):
    """Delay τ [s] and filter coefficient b [s²] of a sensor with the error of b."""

    delay: float
    b: float
    error: float


def _fitted_filter(faults: FittedEffects, sensor: int) -> _FittedFilter:
    """Return the delay and the filter of a sensor; zero if they were not fitted."""
    start = {b.fault.name: b.start for b in faults.model.blocks if b.sensor == sensor}
    delay = float(faults.eta_including_removed[start["delay_s"]]) if "delay_s" in start else 0.0
    if "filter_s" not in start:
        return _FittedFilter(delay, 0.0, 0.0)
    b = start["filter_s"]
    return _FittedFilter(delay, float(faults.eta[b]), float(faults.errors[b]))


def _low_pass_finding(faults: FittedEffects, block: EffectBlock) -> Finding | None:
    """Return the finding of a first-order low-pass filter, which has delay τ and b = −½ τ²."""
    delay, b, error = _fitted_filter(faults, block.sensor)
    if not (delay > 0.0 and b < -max(SIGNIFICANT_SIGMA * error, 0.25 * delay**2)):
        return None
    from identify.diagnosis.faults import parametric_faults  # few fits have such a finding

    facts = faults.model.setups[faults.model.sensors.index(block.sensor)]
    ((fault, *_),) = parametric_faults([facts], ["sensor_lag"])
    (of_delay,) = (
        e for e in faults.model.blocks if (e.fault.name, e.sensor) == ("delay_s", block.sensor)
    )
    half = HALF_WIDTH_SIGMA * float(faults.errors[of_delay.start])
    text = (
        f"the wrench is low-pass filtered (time constant {1e3 * delay:.3g} ± {1e3 * half:.2g} ms); "
        "the fit corrects it and the intervals include its uncertainty."
    )
    evidence = {"size": [delay], "interval": [[delay - half, delay + half]]}
    remedy = sentence(fault.remedy_at(np.array([delay])))
    return Finding("sensor_lag", "info", text, remedy, evidence)


def hysteresis_finding(dead_zones: Hysteresis, *, is_still: bool) -> Finding:
    """Return the finding of a sensor whose channels have dead zones, with the largest."""
    shares = dead_zones.widths / dead_zones.ranges
    largest = int(np.argmax(shares))
    half = HALF_WIDTH_SIGMA * dead_zones.errors / dead_zones.ranges
    width = f"{dead_zones.widths[largest]:.3g} {'N' if largest < 3 else 'N m'}"
    return Finding(
        "hysteresis",
        "warning",
        f"the measured wrench has a dead zone, as from play or hysteresis, of {width} in "
        f"{WRENCH_NAMES[largest]}, {100.0 * shares[largest]:.2g} ± {100.0 * half[largest]:.1g} % "
        f"of its range{'' if is_still else '; the fit corrects it only in part, as a delay'}.",
        "Tighten the screws of the sensor and of its payload, and log again; or fit with --apply "
        f"hysteresis.{'' if is_still else ' `delay_s` does not correct it.'}",
        {"widths": shares.tolist(), "half_widths": half.tolist()},
    )


def resonance_finding(resonance: Resonance) -> Finding:
    """Return the finding of a body of which a part swings, or whose mount flexes."""
    share, half = resonance.mass_share, HALF_WIDTH_SIGMA * resonance.errors
    of_frequency = float(half[4]) * resonance.frequency_hz
    of_share = float(np.hypot(half[0] / resonance.body_mass, _RESONANT_SHARE_ERROR * share))
    if resonance.is_of_mount:
        of_frequency = float(np.hypot(half[4], _MOUNT_FREQUENCY_ERROR)) * resonance.frequency_hz
        hertz = f"{resonance.frequency_hz:.1f} ± {of_frequency:.1f} Hz"
        stiffness = float(f"{resonance.stiffness:.1g}")
        cause = f"the mount that holds the body flexes, as a spring of about {stiffness:.0f} N/m"
        remedy = "Stiffen the mount, or move slower, and log again"
    else:
        hertz = f"{resonance.frequency_hz:.3f} ± {max(of_frequency, 1e-3):.3f} Hz"
        place = ", ".join(f"{1e3 * p:.0f}" for p in resonance.part[1:] / resonance.part[0])
        cause = (
            f"{100.0 * share:.2g} ± {100.0 * of_share:.1g} % of the mass, near [{place}] mm, "
            "swings, sloshes or is loose"
        )
        remedy = "Fix loose parts, fill or empty what holds a liquid, and log again"
    return Finding(
        "resonance",
        "warning",
        f"the wrench has a resonance at {hertz}, with a damping ratio of {resonance.damping:.2g}: "
        f"{cause}.",
        f"{remedy}; or fit with --apply resonance.",
        {
            "frequency_hz": resonance.frequency_hz,
            "damping": resonance.damping,
            "mass_share": share,
            "half_widths": [of_frequency, of_share],
            "part": resonance.part.tolist(),
            "stiffness": resonance.stiffness,
        },
    )


def contradicted_accuracy_finding(given: float | None, accuracy: float, lead: float) -> Finding:
    """Return the finding of a sensor that is less accurate than its schema says.

    `given`: largest `gain_accuracy` of the schema, if it has one; `accuracy`: that of the
    sensor by its logs; `lead`: difference of their deviance with both.
    """
    excluded = (
        "more than a fit expects of a sensor without `gain_accuracy`"
        if given is None
        else f"which its `gain_accuracy` of {100.0 * given:.2g} % excludes"
    )
    is_poor = HALF_WIDTH_SIGMA * accuracy > POOR_PRECISION["mass"]
    return Finding(
        "gain_accuracy",
        "error" if is_poor else "warning",
        f"gains and crosstalk of the sensor are off by some {100.0 * accuracy:.2g} %, "
        f"{excluded}. All forces may be too large or too "
        f"small by as much, which no log shows{'' if is_poor else '; the intervals include it'}.",
        f"Give `gain_accuracy = {accuracy:.2g}` in [wrench], and weigh the body (--mass KG); or "
        "calibrate the sensor. Per cent of full scale are more of a light load.",
        {"size": accuracy, "lead": lead} | ({} if given is None else {"given": given}),
    )


def _may_be_low_pass(faults: FittedEffects, block: EffectBlock) -> bool:
    """Whether fitted delay and filter agree with one first-order low-pass filter."""
    delay, b, error = _fitted_filter(faults, block.sensor)
    return delay > 0.0 and abs(b + 0.5 * delay**2) < SIGNIFICANT_SIGMA * error


def _significant_entries(faults: FittedEffects, block: EffectBlock) -> Flags:
    """Return which components of a small fault are significant and large enough to matter."""
    sizes, errors = (faults.eta_including_removed[block.columns], faults.errors[block.columns])
    least = MIN_FAULT_TO_PRIOR_RATIO * faults.units[block.columns]
    if block.setting is not None:
        least = (
            least
            * EFFECT_KEYS[block.fault.key or block.fault.name].prior_size_in_si
            ** block.fault.exponent
        )
    return np.abs(sizes) > np.maximum(
        SIGNIFICANT_SIGMA * np.where(errors > 0.0, errors, np.inf), least
    )


def _small_fault_finding(
    faults: FittedEffects, block: EffectBlock, entries: list[int], *, at_cap: bool
) -> Finding:
    name = block.fault.name
    per = block.fault.unit_si
    unit = block.fault.unit
    sizes = faults.eta_including_removed[block.columns]
    half = HALF_WIDTH_SIGMA * faults.errors[block.columns]
    sign = -1.0 if name == "point_m" else 1.0  # the point of the pose, seen from the wrench's
    shown = ", ".join(
        f"{block.fault.columns[k]} {sign * sizes[k] / per:.3g} ± "
        f"{half[k] / per:.2g} {unit}".rstrip()
        for k in entries
    )
    if name == "cable" and 0 in entries:
        shown = _describe_cable(sizes, half)
    text = f"{block.fault.message} ({shown})" if entries else block.fault.message
    text += "; the fit corrects it and the intervals include its uncertainty."
    severity: Severity = "warning" if at_cap or name == "point_m" else "info"
    share = cable_pull_share(faults) if name == "cable" else 0.0
    if share > MAX_CABLE_SHARE:
        severity = "warning"
        text += (
            f" It carries {100.0 * share:.0f} % of the weight: hoses bend, and are fitted as "
            f"springs; the intervals count {100.0 * BENT_CABLE_ERROR:.0f} % of this as mass."
        )
    if at_cap:
        text += " It is at the limit of this kind of fault: the cause may be another one."
    evidence = {
        "size": sizes.tolist(),
        "interval": np.stack((sizes - half, sizes + half), axis=-1).tolist(),
    }
    if name == "point_m":
        com, com_half = _com_relative_to_pose_point(faults, block)
        shown = ", ".join(
            f"{1e3 * c:.4g} ± {1e3 * h:.2g}" for c, h in zip(com, com_half, strict=True)
        )
        text += (
            " The estimate refers to the point of the wrench. If the point of the pose is correct, "
            f"the centre of mass is at [{shown}] mm."
        )
        evidence |= {
            "com_from_point_of_pose": com.tolist(),
            "com_half_width": com_half.tolist(),
            "doubted": ["com"],
        }
    return Finding(block.fault.code, severity, text, _remedy(faults, block), evidence)


def _describe_cable(coefficients: Array, half_widths: Array) -> str:
    """Describe a cable by its stiffness k and its attachment point r, from the moment k r."""
    k, moment = float(coefficients[0]), coefficients[4:7]
    place = ", ".join(f"{1e3 * x / k:.0f}" for x in moment)
    return f"{k:.3g} ± {half_widths[0]:.2g} N/m, near [{place}] mm of the body"


def cable_pull_share(faults: FittedEffects) -> float:
    """Return the largest pull of a fitted cable relative to the body's weight; zero without one."""
    pulls = [
        float(np.linalg.norm(faults.eta[block.columns][1:4]))
        for block in faults.model.blocks
        if block.fault.name == "cable"
    ]
    return max(pulls, default=0.0) / BodyScale.of(faults.fit.x[:10]).weight


def _com_relative_to_pose_point(faults: FittedEffects, block: EffectBlock) -> tuple[Array, Array]:
    """Return the centre of mass relative to the pose's reference point, and half-widths [m]."""
    x, p = faults.fit.x[:10], faults.eta[block.columns]
    com = x[1:4] / x[0]
    J = np.concatenate((-com[:, None], np.eye(3)), axis=1) / x[0]
    by_effects = J @ faults.shift[:4]
    by_effects[:, block.columns] += np.eye(3)
    covariance = J @ covariance_of(faults.fit)[:4, :4] @ J.T
    covariance += by_effects @ faults.covariance @ by_effects.T
    return com + p, HALF_WIDTH_SIGMA * np.sqrt(np.maximum(np.diag(covariance), 0.0))


def _remedy(faults: FittedEffects, block: EffectBlock) -> str:
    """Return the schema line, or the action, that corrects a small fault."""
    fault, size = block.fault, faults.eta[block.columns]
    facts = faults.model.setups[faults.model.sensors.index(block.sensor)]
    if fault.name == "filter_s":  # a first-order filter of time constant T adds −½ T² ẅ
        size = np.sqrt(2.0 * np.abs(size))
    if not fault.large:
        return fault.remedy
    from identify.diagnosis.faults import parametric_faults  # few fits have such a finding

    for candidate, *_ in parametric_faults([facts], [fault.large]):
        return sentence(candidate.remedy_at(size))
    return fault.remedy


def _drift_finding(faults: FittedEffects) -> Finding | None:
    """Return a finding if the sensor offset of a log drifts significantly; else None."""
    start = len(faults.eta)
    worst = 0.0
    where = 0
    errors = np.sqrt(np.maximum(np.diag(faults.covariance), 0.0))
    for number, drift in enumerate(faults.drifts):
        amplitudes = drift.amplitudes.reshape(-1)
        sigma = errors[start : start + len(amplitudes)]
        start += len(amplitudes)
        ratio = np.abs(amplitudes) / np.where(sigma > 0.0, sigma, np.inf)
        if ratio.max(initial=0.0) > worst:
            worst, where = float(ratio.max()), number
    if worst <= SIGNIFICANT_SIGMA:
        return None
    spread = np.ptp(faults.drifts[where].means(*equal_time_intervals(100)), axis=0)
    scale = BodyScale.of(faults.fit.x[:10])
    shares = spread / (scale.weight * np.repeat([1.0, scale.lever], 3))
    least = MIN_FAULT_TO_PRIOR_RATIO * np.repeat(
        [EFFECT_KEYS[name].prior_size for name in DRIFT_FAULTS], 3
    )
    if not (shares > least).any():
        return None
    return Finding(
        "drift",
        "info",
        f"the sensor's offset drifts, by up to {spread[:3].max():.2g} N and {spread[3:].max():.2g} "
        "N m in a log; the fit corrects it and the intervals include its uncertainty.",
        "Let the sensor warm up and zero it between logs.",
        {"range": spread.tolist()},
    )
