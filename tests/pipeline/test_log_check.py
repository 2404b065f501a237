"""Checks of logs: what is found, what is corrected when asked, and what the provenance says."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from identify.diagnosis import ranking
from identify.errors import SchemaError
from identify.logs import Recording
from identify.pipeline import check_logs, fit
from identify.pipeline.correcting import NotCorrected
from tests.close import assert_close, group_errors
from tests.pipeline.test_fit import BODY, NOISE, TIME
from tests.recordings import Path, record

PATH = Path.random(21)


def log(wrench=None, **options) -> Recording:
    recording = record(PATH, BODY, TIME, noise=NOISE, bias=np.full(6, 0.2), **options)
    if wrench is None:
        return recording
    noisy = {name: recording.signals[name] for name in ("force", "torque")}
    clean = PATH.wrench(BODY, TIME)
    noise = np.hstack((noisy["force"], noisy["torque"])) - clean
    changed = wrench + noise
    return replace(
        recording,
        signals={**recording.signals, "force": changed[:, :3], "torque": changed[:, 3:]},
    )


LATE = 0.02


@pytest.fixture(scope="module")
def late() -> Recording:
    return log(PATH.wrench(BODY, TIME - LATE))


def codes(found) -> list[str]:
    return [one.code for one in found.findings if one.severity != "info"]


def test_a_clean_log_has_nothing_to_be_found():
    found = check_logs(log())
    assert found.clear
    assert codes(found) == []
    assert found.result.checks.ranking.as_read


def test_a_late_wrench_is_found_and_taken_back_when_asked(late):
    found = check_logs(late)
    assert codes(found)[0] == "delay"
    (first, *_) = found.findings
    assert "In the schema, [wrench], set delay_s = " in first.remedy
    assert_close(first.evidence["size"][0], LATE, 0.1)
    assert not found.clear
    applied = fit(late, apply=("delay",))
    assert "delay" not in applied.verdict.reasons
    (record_,) = applied.estimate.provenance["applied"]
    assert record_["code"] == "delay"
    json.dumps(record_)
    wrong = group_errors(fit(late).estimate.parameters.phi, BODY)
    right = group_errors(applied.estimate.parameters.phi, BODY)
    assert right.inertia < 0.2 * wrong.inertia


def test_a_turned_sensor_is_corrected_by_a_map():
    angle = np.radians(4.0)
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    turned = log(PATH.wrench(BODY, TIME) @ np.kron(np.eye(2), R).T)
    applied = fit(turned, apply=("wrench_misaligned",))
    assert_close(applied.estimate.provenance["applied"][0]["size"], [0.0, 0.0, -angle], 0.05)
    errors = group_errors(applied.estimate.parameters.phi, BODY)
    assert errors.first_moment < 0.01
    assert applied.estimate.certificate.optimal_for


def test_another_reading_is_applied_as_it_was_found():
    wrong = log(PATH.wrench(BODY, TIME) * [1, 1, 1, -1, -1, -1])
    found = check_logs(wrong)
    assert codes(found)[0] == "torque_sign"
    applied = fit(wrong, apply=("torque_sign",)).estimate
    assert group_errors(applied.parameters.phi, BODY).inertia < 0.05


def test_what_is_not_found_or_no_code_is_refused():
    with pytest.raises(NotCorrected, match="--apply delay: not found in these logs; found: noth"):
        fit(log(), apply=("delay",))
    with pytest.raises(SchemaError, match=r"no code of a finding 'dealy' .* did you mean 'delay'"):
        fit(log(), apply=("dealy",))


def test_there_is_a_document_where_there_is_no_estimate():
    found = check_logs(log(-PATH.wrench(BODY, TIME)))
    assert found.result is None
    assert codes(found) == ["wrench_sign"]
    record_ = json.loads(json.dumps(found.record()))
    assert record_["verdict"]["usable"] == "no"
    assert record_["findings"][0]["evidence"]["mass"] < 0.0


def test_a_frozen_wrench_is_left_out_when_asked():
    recording = log()
    signals = dict(recording.signals)
    for name in ("force", "torque"):
        values = signals[name].copy()
        values[800:950] = values[800]
        signals[name] = values
    frozen = replace(recording, signals=signals)
    found = check_logs(frozen)
    assert "frozen_wrench" in codes(found)
    applied = fit(frozen, apply=("frozen_wrench",))
    ((start, stop),) = applied.estimate.provenance["applied"][0]["left_out"][0]
    assert_close([start, stop], [8.0, 9.5], 0.01)
    assert applied.estimate.samples < found.result.estimate.samples


def test_causes_of_rounding_are_not_looked_for_but_those_of_a_wrong_exact_log_are(monkeypatch):
    exact = record(PATH, BODY, TIME)
    w = PATH.wrench(BODY, TIME - LATE)
    wrong = replace(exact, signals={**exact.signals, "force": w[:, :3], "torque": w[:, 3:]})
    tried: list[str] = []
    monkeypatch.setattr(ranking, "_likeliest", lambda now, some: tried.extend(h.name for h in some))
    checks = fit(exact).checks
    assert tried == []
    assert {"delay", "clock_rate"} <= {test.hypothesis.name for test in checks.diagnosis.tests}
    fit(wrong)
    assert "delay" in tried
