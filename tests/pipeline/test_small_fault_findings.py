"""Notes on small faults of a sensor: what they say, what obeying them does, and when not."""

import re
import tomllib
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import identify
from experiments.silent_study.scoring import fault_of, subject
from identify import Recording, Result
from identify.logs import Noise
from identify.logs.patch import patched
from identify.logs.synthetic import random_motion, synthetic_recording
from identify.pipeline import check_logs
from identify.pipeline.corrected_logs import NotCorrected
from identify.pipeline.small_fault_findings import (
    MAX_SMALL_ROTATION,
    SMALL_FAULT_CODES,
    all_faults_small,
    small_fault_findings,
)
from tests.checks import checks_of, effects_of, fit_corrected
from tests.close import assert_close, group_errors
from tests.slow import few_or_many
from tests.small_faults import (
    CROSSTALK,
    LEVER,
    PHI,
    RATE_HZ,
    SHIFT,
    TILT,
    TURN,
    WEIGHT,
    direction,
    displaced,
    drifting,
    exact,
    late,
    logged,
    low_passed,
    mapped,
    misaligned,
    slow_clock,
    still,
    swinging,
    tilted,
    with_play,
    with_schema,
)

SCHEMA = {
    "log": {"time": "t"},
    "pose": {"position": list("xyz"), "quaternion": list("abcd")},
    "wrench": {
        "force": ["fx", "fy", "fz"],
        "torque": ["tx", "ty", "tz"],
        "frame": "body",
        "acts_on": "body",
    },
}


PRECISE = Noise(position=1e-5, orientation=5e-5, force=5e-3, torque=3e-4)


def read(log: Recording, seed: int = 3) -> Recording:
    return replace(logged(log, seed), schema=SCHEMA)


def ratios(result: Result, name: str) -> np.ndarray:
    """Effects of a group over their errors."""
    effects = effects_of(result)
    (own,) = [block.columns for block in effects.model.blocks if block.fault.name == name]
    return np.abs(effects.eta[own]) / effects.errors[own]


def lines_of(remedy: str) -> dict[str, Any]:
    """The keys of the schema that a remedy sets, as a patch."""
    patch = {}
    for table, text in re.findall(r"\[([a-z.]+)\], (.*?)(?=; in \[|$)", remedy):
        for line in re.findall(r"(?:set|to) `([^`]*)`", text):
            patch |= {f"{table}.{key}": value for key, value in tomllib.loads(line).items()}
    return patch


OBEYED = {
    "delay": (late(exact(3), 7e-3), "delay_s", {"wrench.delay_s": 7e-3}),
    "wrench_misaligned": (misaligned(exact(3), TURN), "misalignment_deg", {}),
    "gravity_tilted": (tilted(exact(3), TILT), "tilt_deg", {}),
}


@pytest.fixture(scope="module", params=OBEYED)
def noted(request) -> tuple[str, Recording, Result]:
    log = read(OBEYED[request.param][0])
    return request.param, log, identify.fit(log)


def test_a_note_has_code_sizes_with_intervals_and_the_line_of_the_schema(noted):
    code, _, result = noted
    (note,) = result.findings
    effects = effects_of(result)
    _, name, expected = OBEYED[code]
    assert (note.code, note.severity) == (code, "info")
    (own,) = [block.columns for block in effects.model.blocks if block.fault.name == name]
    assert_close(note.evidence["size"], effects.eta[own], 0.0)
    low, high = np.array(note.evidence["interval"]).T
    assert_close(0.5 * (high - low), 1.96 * effects.errors[own], 1e-12)
    assert_close(0.5 * (high + low), effects.eta[own], 1e-12)
    per, unit = {"delay": (1e-3, "ms")}.get(code, (np.radians(1.0), "deg"))
    for size, half in zip(effects.eta[own], 1.96 * effects.errors[own], strict=True):
        assert f"{size / per:.3g} ± {half / per:.2g} {unit}" in note.text
    lines = lines_of(note.remedy)
    assert lines
    for key, value in expected.items():
        assert abs(lines[key] - value) < 3.0 * effects.errors[own][0]
    assert result.verdict.usable == "yes"


def test_applying_a_note_removes_it_and_keeps_body(noted):
    code, log, before = noted
    after = identify.fit(patched(log, lines_of(before.findings[0].remedy)))
    name = OBEYED[code][1]
    assert (ratios(before, name) > 4.0).any()
    assert (ratios(after, name) < 4.0).all()
    assert after.findings == ()
    low, high = after.estimate.intervals["m"]
    assert low < PHI[0] < high
    assert abs(after.estimate.mass - before.estimate.mass) < 0.5 * (high - low)


def test_the_line_counts_the_delay_that_the_schema_has():
    log = patched(read(late(exact(3), 7e-3)), {"wrench.delay_s": 3e-3})
    (note,) = identify.fit(log).findings
    assert_close(note.evidence["size"], [4e-3], 0.03)
    assert_close(lines_of(note.remedy)["wrench.delay_s"], 7e-3, 0.02)


@pytest.mark.parametrize("corner_hz", few_or_many(20.0, 5.0))
def test_a_filter_is_noted_with_its_corner_and_not_as_a_delay(corner_hz):
    result = identify.fit(read(low_passed(exact(3), corner_hz)))
    (note,) = result.findings
    assert note.code == "sensor_lag"
    assert "low-pass filtered" in note.text
    (corner,) = re.findall(r"a corner near ([\d.]+) Hz", note.remedy)
    assert_close(float(corner), corner_hz, 0.03)
    assert result.verdict.usable == "yes"


def test_a_delay_of_a_slow_log_may_be_a_filter():
    """Its ½ τ² ẅ is within the noise: the note says both, and the filter stays as uncertain."""
    motion = random_motion(np.random.default_rng(3), bandwidth_hz=0.3)
    slow = synthetic_recording(
        PHI, rng=np.random.default_rng(3), motion=motion, duration=20.0, rate_hz=RATE_HZ
    )
    (note,) = identify.fit(read(late(slow, 8e-3))).findings
    assert note.code == "delay"
    assert note.evidence["equivalent"] == ["sensor_lag"]
    assert "low-pass filter" in note.text


@pytest.mark.parametrize("share", few_or_many(0.01, 0.03))
def test_hysteresis_is_neither_a_delay_nor_a_filter(share):
    result = identify.fit(read(with_play(exact(3), share)))
    first = result.findings[0]
    assert (first.code, first.severity) == ("hysteresis", "warning")
    assert {"delay", "sensor_lag"}.isdisjoint(note.code for note in result.findings)
    widths = np.array(first.evidence["widths"])
    assert ((0.6 * share < widths) & (widths < 1.2 * share)).all()
    assert f"{100.0 * widths.max():.2g} ± " in first.text


def test_applied_hysteresis_gives_the_body_that_widened_intervals_cover():
    motion = random_motion(np.random.default_rng(3), bandwidth_hz=0.5)
    slow = synthetic_recording(
        PHI, rng=np.random.default_rng(3), motion=motion, duration=30.0, rate_hz=RATE_HZ
    )
    log = read(with_play(slow, 0.03))
    as_read = identify.fit(log)
    applied = fit_corrected(log, as_read, "hysteresis")
    widths = np.array(as_read.findings[0].evidence["widths"])
    assert (np.abs(widths - 0.03) < 0.25 * 0.03).all()
    for estimate, covered in ((as_read.estimate, slice(10)), (applied.estimate, slice(4))):
        low, high = np.array(list(estimate.intervals.values())[covered]).T
        assert ((low < PHI[covered]) & (high > PHI[covered])).all()
    before, after = (group_errors(r.estimate.parameters.phi, PHI) for r in (as_read, applied))
    assert after.mass < 0.4 * before.mass
    assert after.inertia < 0.4 * before.inertia
    (record,) = applied.estimate.provenance["applied"]
    assert record["code"] == "hysteresis"
    assert "hysteresis" not in {finding.code for finding in applied.findings}


@pytest.mark.parametrize(
    ("log", "change", "code"),
    [
        ("slow-2", "x of the position negated", "position_axes"),
        ("fast-1", "rotation vector called xyz", "rotation_convention"),
    ],
)
def test_a_misread_log_is_not_one_of_a_sensor_with_play(log, change, code):
    """What play leaves of a misread log is small, but another reading leaves nothing."""
    fault, clean = fault_of(change, 102), subject(log, 102)
    rng = np.random.default_rng([102, crc32(f"{log} {change}".encode())])
    checks = check_logs(*(made.read() for made in fault.make(clean, rng)))
    codes = [finding.code for finding in checks.findings]
    assert codes[0] == code
    assert "hysteresis" not in codes
    assert checks.verdict.usable == "no"


def test_hysteresis_between_static_poses_is_named_and_covered():
    """Each pose is reached from the one before; what lags is no smaller gain."""
    log = with_play(still(3), 0.015)
    as_read = identify.fit(log)
    applied = fit_corrected(log, as_read, "hysteresis")
    first = as_read.findings[0]
    assert (first.code, first.severity) == ("hysteresis", "warning")
    assert_close(max(first.evidence["widths"]), 0.015, 0.2)
    for result in (as_read, applied):
        low, high = np.array(list(result.estimate.intervals.values())[:4]).T
        assert ((low < PHI[:4]) & (high > PHI[:4])).all()
    before, after = (abs(each.estimate.mass / PHI[0] - 1.0) for each in (as_read, applied))
    assert after < 0.4 * before
    assert all(finding.code != "hysteresis" for finding in identify.fit(still(3)).findings)


@pytest.mark.parametrize(
    ("share", "hertz", "damping", "word"),
    [
        (0.1, 1.6, 0.08, "swings, sloshes"),
        pytest.param(0.05, 2.5, 0.15, "swings, sloshes", marks=pytest.mark.slow),
        pytest.param(1.0, 5.0, 0.05, "mount", marks=pytest.mark.slow),
    ],
)
def test_what_swings_is_named_covered_and_taken_off_on_request(share, hertz, damping, word):
    log = read(swinging(exact(3), share, hertz, damping, PHI[1:4] / PHI[0] + [0.01, 0.0, 0.02]))
    as_read = identify.fit(log)
    applied = fit_corrected(log, as_read, "resonance")
    first = as_read.findings[0]
    assert (first.code, first.severity) == ("resonance", "warning")
    assert word in first.text
    if share < 1.0:
        assert_close(first.evidence["frequency_hz"], hertz, 0.05)
    else:
        assert_close(first.evidence["stiffness"], PHI[0] * (2.0 * np.pi * hertz) ** 2, 0.25)
    for result in (as_read, applied):
        low, high = np.array(list(result.estimate.intervals.values())[:10]).T
        covered = (low < PHI) & (high > PHI)
        assert covered[:4].all()
        assert covered[4:].sum() >= 5
    before, after = (group_errors(r.estimate.parameters.phi, PHI) for r in (as_read, applied))
    assert after.inertia < 0.6 * before.inertia
    assert "resonance" not in {finding.code for finding in applied.findings}


def test_a_delay_beside_little_hysteresis_is_the_delay():
    result = identify.fit(read(late(with_play(exact(3), 5e-4), 15e-3)))
    assert result.findings[0].code == "delay"
    assert "hysteresis" not in {note.code for note in result.findings}


def test_a_displaced_point_is_a_warning_with_its_place():
    result = identify.fit(read(displaced(exact(3), SHIFT)))
    (note,) = result.findings
    assert (note.code, note.severity) == ("kinematic_offset", "warning")
    assert_close(note.evidence["size"], -SHIFT, 0.05)
    assert "is of the point at [3.5" in note.remedy
    assert "(x 3.5" in note.text
    # From the pose's point the centre of mass is as far from that of the estimate as the points.
    other = np.array(note.evidence["com_from_point_of_pose"])
    assert_close(other - result.estimate.com, np.array(note.evidence["size"]), 5e-3)
    half_width = np.array(note.evidence["com_half_width"])
    assert (np.abs(other - (PHI[1:4] / PHI[0] - SHIFT)) < 1.5 * half_width).all()
    assert "If the point of the pose is correct" in note.text
    assert result.verdict.usable == "with care"
    assert result.verdict.reasons == ("kinematic_offset",)
    # A sign or a unit of the torque of a moving log is like a point: they are compared.
    assert not all_faults_small(effects_of(result))
    assert checks_of(result).ranking is not None
    assert checks_of(result).ranking.confirms_schema


@pytest.mark.parametrize("rate", few_or_many(0.057, -0.05))
def test_a_scale_of_the_position_is_not_named_for_a_clock_that_it_imitates(rate):
    log = displaced(logged(exact(3), 3, PRECISE), 0.6 * SHIFT)
    result = identify.fit(slow_clock(log, rate))
    first = result.findings[0]
    assert {first.code, *first.evidence.get("equivalent", ())} >= {"clock_rate"}
    with pytest.raises(NotCorrected):
        identify.fit(slow_clock(log, rate), apply="position_unit")


def test_a_stated_accuracy_does_not_hide_a_gain_behind_a_displaced_point():
    log = logged(mapped(exact(3), np.diag(np.repeat([1.1, 1.0], 3))), 3, PRECISE)
    result = identify.fit(with_schema(log, wrench={"gain_accuracy": 0.01}))
    (note,) = [each for each in result.findings if each.code == "kinematic_offset"]
    assert note.evidence["equivalent"] == ["gain"]
    low, high = result.estimate.intervals["m"]
    assert low < PHI[0] < high
    assert high - low > 2.0 * 0.1 * PHI[0]


@pytest.mark.parametrize("gains", few_or_many((1.1, 1.0), (1.0, 1.1)))
def test_after_a_corrected_torque_gain_the_force_may_still_be_wrong(gains):
    log = logged(mapped(exact(3), np.diag(np.repeat(gains, 3))), 3, PRECISE)
    applied = identify.fit(log, apply="gain")
    (record,) = applied.estimate.provenance["applied"]
    assert record["meaning"].startswith("corrected: torque gain")
    low, high = applied.estimate.intervals["m"]
    assert low < PHI[0] < high
    of_force = gains[1] / gains[0] * applied.estimate.parameters.mass  # if the force was wrong
    assert low < of_force < high
    assert_close(applied.estimate.parameters.com, PHI[1:4] / PHI[0], 5e-3)
    weighed = identify.fit(log, apply="gain", mass=PHI[0])
    assert_close(weighed.estimate.parameters.com, PHI[1:4] / PHI[0], 5e-3)
    assert weighed.estimate.intervals["m"] == pytest.approx((PHI[0], PHI[0]))


def test_crosstalk_is_noted_by_its_entries_without_a_line():
    result = identify.fit(read(mapped(exact(3), CROSSTALK)))
    (note,) = result.findings
    assert (note.code, note.severity) == ("wrench_calibration", "info")
    assert len(note.evidence["size"]) == len(note.evidence["interval"]) == 30
    effects, told = effects_of(result), ratios(result, "crosstalk") > 4.0
    (group,) = [b.fault for b in effects.model.blocks if b.fault.name == "crosstalk"]
    for name, shown in zip(group.columns, told, strict=True):
        assert (name in note.text) == shown
    assert 0 < np.count_nonzero(told) < 30
    assert note.remedy == "Calibrate the sensor again for narrower intervals."


def test_a_drift_is_noted_with_its_range():
    share = 0.02 * WEIGHT * np.array([0.7, -1.0, 0.3, 0.3 * LEVER, 0.7 * LEVER, -0.7 * LEVER])
    result = identify.fit(read(drifting(exact(3), share)))
    (note,) = result.findings
    assert (note.code, note.severity) == ("drift", "info")
    largest = np.abs(share).reshape(2, 3).max(axis=1).repeat(3)
    assert_close(note.evidence["range"] / largest, 2.0**1.5 * np.abs(share) / largest, 0.25)


@pytest.fixture(scope="module")
def clean() -> Result:
    return identify.fit(read(exact(3)))


def test_clean_log_has_no_notes_and_no_alternative_readings(clean):
    for result in (clean, identify.fit(still(3))):
        assert not SMALL_FAULT_CODES & {finding.code for finding in result.findings}
        assert list(small_fault_findings(effects_of(result))) == []
        assert all_faults_small(effects_of(result))
        assert checks_of(result).ranking is None


def test_harmless_effects_of_noise_free_log_are_not_noted():
    effects = effects_of(identify.fit(exact(3)))
    assert (np.abs(effects.eta) > 4.0 * effects.errors).any()
    assert list(small_fault_findings(effects)) == []


def test_an_effect_at_its_cap_is_a_warning_and_other_readings_are_tried():
    log = read(tilted(exact(3), np.radians(6.0) * direction(0.6, -0.8, 0.0)))
    result = identify.fit(log)
    effects = effects_of(result)
    assert effects.at_cap == ("tilt_deg",)
    assert not all_faults_small(effects)
    assert checks_of(result).ranking is not None
    assert "gravity_tilted" in {each.code for each in checks_of(result).ranking.explanations}
    (note,) = [note for note in small_fault_findings(effects) if note.code == "gravity_tilted"]
    assert note.severity == "warning"
    assert "at the limit of this kind of fault" in note.text
    assert result.verdict.usable != "yes"
    assert "gravity_tilted" in result.verdict.reasons


@pytest.mark.slow
def test_a_turn_far_beyond_its_cap_is_named_by_the_ranking_with_its_line():
    turn = np.radians(15.0) * direction(1.0, -2.0, 0.5)
    log = read(misaligned(exact(3), turn))
    result = identify.fit(log)
    assert checks_of(result).ranking is not None
    first = result.findings[0]
    assert (first.code, first.severity) == ("wrench_misaligned", "error")
    # The fit has turned the wrench back already: it doubts none of the numbers.
    assert result.verdict.usable == "no"
    assert result.verdict.quantities["com"] != "no"
    assert_close(result.estimate.parameters.com, PHI[1:4] / PHI[0], 1e-3)
    obeyed = identify.fit(patched(log, lines_of(first.remedy)))
    assert obeyed.verdict.usable == "yes"
    low, high = obeyed.estimate.intervals["m"]
    assert low < PHI[0] < high


@pytest.mark.parametrize(("share", "small"), [(0.99, True), (1.01, False)])
def test_sensor_rotation_of_some_degrees_is_a_small_fault(clean, share, small):
    effects = effects_of(clean)
    (own,) = [b.columns for b in effects.model.blocks if b.fault.name == "misalignment_deg"]
    eta = effects.eta.copy()
    eta[own] = share * MAX_SMALL_ROTATION * direction(1.0, -2.0, 0.5)
    assert all_faults_small(replace(effects, eta=eta)) == small


SLIGHT_GAINS = np.diag(1.0 + 0.01 * np.array([0.8, -0.9, 0.5, -0.7, 0.4, 1.0]))
"""Gains of a sensor with an accuracy of 1 %."""


@pytest.mark.parametrize("form", few_or_many("still", "moving"))
@pytest.mark.parametrize(
    ("errors", "accuracy", "severity"),
    [
        (SLIGHT_GAINS, 0.01, None),
        (np.diag([1.04, 0.97, 1.0, 0.96, 1.03, 1.0]), 0.01, "warning"),
        (np.diag([1.0, 1.25, 1.4, 1.4, 1.2, 1.0]), 0.01, "error"),  # as of a printed sensor
        (np.diag([1.0, 1.25, 1.4, 1.4, 1.2, 1.0]), 0.2, None),
        (np.diag([1.0, 1.25, 1.4, 1.4, 1.2, 1.0]), None, "error"),  # nothing is stated
    ],
    ids=["accurate", "differing", "printed", "printed, as said", "printed, nothing said"],
)
def test_errors_that_a_stated_accuracy_excludes_are_said(form, errors, accuracy, severity):
    log = mapped(still(3) if form == "still" else exact(3), errors)
    log = log if form == "still" else logged(log, 3)
    result = identify.fit(with_schema(log, wrench={"gain_accuracy": accuracy} if accuracy else {}))
    found = [each for each in result.findings if each.code == "gain_accuracy"]
    assert [each.severity for each in found] == ([] if severity is None else [severity])
    if severity == "error":
        assert result.verdict.usable == "no"
    if accuracy is not None and severity != "error":
        low, high = result.estimate.intervals["m"]
        assert low < PHI[0] < high
    for each in found:
        assert re.search(r"gain_accuracy = 0\.\d+` in \[wrench\]", each.remedy)
        size, given = each.evidence["size"], each.evidence.get("given")
        assert 0.5 * np.diag(errors).std() < size < 4.0 * np.diag(errors).std()
        assert given == accuracy
        heeded = identify.fit(with_schema(log, wrench={"gain_accuracy": size}), mass=PHI[0])
        assert "gain_accuracy" not in {one.code for one in heeded.findings}
        assert heeded.verdict.usable != "no"


@pytest.mark.parametrize("form", few_or_many("exact", "still"))
def test_gains_at_their_limit_make_the_scale_as_uncertain(form):
    gains = 1.05 * np.diag([1.0, 1.1, 1.16, 1.16, 1.08, 1.0])
    log = mapped(still(3) if form == "still" else exact(3), gains)
    result = identify.fit(log if form == "still" else logged(log, 3))
    codes = {finding.code for finding in result.findings}
    assert "gain_accuracy" not in codes  # not clearly likelier
    assert {"gain", "scale_limit"} <= codes
    low, high = result.estimate.intervals["m"]
    assert low < PHI[0] < high
    accuracy = checks_of(result).contradicted_accuracy
    assert accuracy.lead < 20.0
    assert high - low > 2.0 * 1.96 * accuracy.accuracy * PHI[0]
