"""Delays of the wrench: found whatever their size, said in full, and gone once they are written."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from experiments.silent_study.faults import delay_wrench
from experiments.silent_study.scoring import apply_remedy
from experiments.silent_study.subjects import Subject, subject
from identify.diagnosis.body_likelihood import BandRows
from identify.diagnosis.faults import parametric_faults
from identify.diagnosis.ranking import BaselineLikelihood
from identify.findings import Finding
from identify.logs import read_log
from identify.logs.log_properties import LogProperties
from identify.pipeline import check_logs, fit
from identify.pipeline.scanned_log import scan_log
from identify.pipeline.wrench_delays import correlate_log, delayed_explanations
from identify.signals import Interpretation
from tests.checks import effects_of
from tests.recordings import WRENCH_ARRAYS

CLEAN = subject("fast-1", 5)
IN_WORLD = CLEAN.with_schema_keys("wrench", frame="world").with_wrench(CLEAN.wrench)


def late_columns(log: Subject, delay: float) -> Subject:
    """The columns as they are logged are late."""
    then = np.maximum(log.seconds - delay, 0.0)
    moved = {name: CubicSpline(log.seconds, log.columns[name])(then) for name in ("f", "tau")}
    return log.with_columns(**moved)


def findings(log: Subject) -> list[Finding]:
    return [f for f in check_logs(log.read()).findings if f.code not in ("completed", "imprecise")]


LATE = {
    "40 ms": (delay_wrench(0.04)(CLEAN), 0.04),
    "400 ms, frozen at first": (delay_wrench(0.4)(CLEAN), 0.4),
    "late in body axes, then turned": (delay_wrench(0.08)(IN_WORLD), 0.08),
    "16 ms in world axes": (late_columns(IN_WORLD, 0.016), 0.016),
    "250 ms in world axes": (late_columns(IN_WORLD, 0.25), 0.25),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LATE)
def test_delay_is_reported_first_and_remedy_removes_it(name):
    log, delay = LATE[name]
    first = findings(log)[0]
    assert first.code == "delay"
    schema = apply_remedy(log.schema, first.remedy[first.remedy.index("In the schema") :])
    assert schema is not None
    assert schema["wrench"]["delay_s"] == pytest.approx(delay, abs=3e-4)
    assert fit(replace(log, schema=schema).read()).findings == ()


def test_residual_delay_interval_covers_true_delay():
    found = fit(delay_wrench(0.02)(CLEAN).read())
    note = next(f for f in found.findings if f.code == "delay")
    low, high = note.evidence["interval"][0]
    assert low < 0.02 < high
    effects = effects_of(found)
    assert effects.eta_including_removed[0] != effects.eta[0]


@pytest.mark.parametrize("step", [False, True])
def test_varying_latency_is_reported(step):
    share = CLEAN.seconds / CLEAN.seconds[-1]
    delay = np.where(share > 0.6, 0.08, 0.02) if step else 0.06 * share
    then = np.maximum(CLEAN.seconds - delay, 0.0)
    log = CLEAN.with_wrench(CubicSpline(CLEAN.seconds, CLEAN.wrench)(then))
    first = findings(log)[0]
    assert (first.code, first.severity) == ("delay", "error")
    assert "latency of the wrench changes" in first.text
    assert np.ptp(first.evidence["delays"]) > 0.04


def test_static_poses_with_gaps_between_show_no_delay():
    """Every segment is at rest: what a shifted noise explains better is no delay."""
    rng = np.random.default_rng(2)
    poses, number = Rotation.random(12, random_state=3), np.repeat(np.arange(12), 100)
    force = 17.0 * poses.inv().apply([0.0, 0.0, -1.0])
    wrench = np.hstack([force, np.cross([0.01, -0.02, 0.08], force)]) * rng.normal(1.0, 0.01, 6)
    noise = rng.normal(size=(len(number), 6)) * ([0.1] * 3 + [0.005] * 3)
    log = read_log(
        {
            "time": 0.1 * np.arange(len(number)) + 5.0 * number,
            "position": np.zeros((len(number), 3)),
            "quaternion": poses[number].as_quat(),
            "force": (wrench[number] + noise)[:, :3],
            "torque": (wrench[number] + noise)[:, 3:],
        },
        {
            "log": {"time": "time"},
            "pose": {"position": "position", "quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS | {"gain_accuracy": 0.01},
        },
    )
    seen = correlate_log(scan_log(log, Interpretation(), all_columns=True).summary)
    assert (seen.delay, seen.log_likelihood_ratio) == (0.0, 0.0)


def test_a_log_whose_bands_are_all_too_short_is_not_explained_by_a_delay():
    recording = LATE["40 ms"][0].read()
    log = scan_log(recording, Interpretation(), all_columns=True)
    (delay,) = parametric_faults([LogProperties.of(recording)], ["delay"])
    rows = [BandRows.of(log.summary.statistics)]
    baseline = BaselineLikelihood.of(rows)
    found, none = (
        list(delayed_explanations(baseline, [log], delay, bands, 10_000))
        for bands in ([rows[0].bands], [()])
    )
    assert found[0].log_likelihood_ratio > 100.0
    assert none == []
