import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

from identify.diagnosis import Explanation, Ranking
from identify.diagnosis.faults import faults_of
from identify.errors import SchemaError
from identify.estimation import EstimatorSettings, estimate_body
from identify.logs import Noise, Recording, synthetic_recording
from identify.logs.log_properties import LogProperties
from identify.logs.synthetic import random_motion
from identify.pipeline import FitSettings, Result, check_logs, correcting, fit
from identify.pipeline.checks import Checks
from identify.pipeline.corrected_logs import NotCorrected
from identify.pipeline.correcting import apply_corrections
from identify.pipeline.explanations import rescan_under_explanation
from identify.pipeline.hypotheses import findings_of
from identify.pipeline.result import summarise_checks
from identify.pipeline.scanned_log import scan_log
from identify.pipeline.wrench_hypotheses import wrench_hypotheses
from identify.reporting.diagnosis import _small_fault_tables
from identify.signals import Interpretation
from identify.spatial import Pose
from tests.checks import checks_of, fit_corrected
from tests.close import assert_close, group_errors
from tests.pipeline.test_fit import BODY, NOISE
from tests.recordings import Path, record, with_signals, with_wrench, without_effects
from tests.slow import few_or_many, mostly_slow

PATH = Path.random(21)
TIME = np.arange(0.0, 12.0, 0.01)
LATE = 0.02


def log(wrench=None, path=PATH, **options) -> Recording:
    recording = record(path, BODY, TIME, noise=NOISE, bias=np.full(6, 0.2), **options)
    if wrench is None:
        return recording
    return with_wrench(recording, wrench - path.wrench(BODY, TIME))


def turned_by(angle: float) -> np.ndarray:
    """What a sensor turned about z makes of a wrench in columns, shape (6, 6)."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.kron(np.eye(2), R).T


@pytest.fixture(scope="module")
def clean_check():
    return check_logs(log())


@pytest.fixture(scope="module")
def late() -> Recording:
    path = Path.random(22)
    return log(path.wrench(BODY, TIME - 1.5 * LATE), path)


@pytest.fixture(scope="module")
def late_check(late):
    return check_logs(late)


def assert_refused(why: str, recording: Recording, found: Result, *codes: str) -> NotCorrected:
    """Codes are not corrected in a log by what a check has found of it, for a reason."""
    with pytest.raises(NotCorrected, match=why) as caught:
        fit_corrected(recording, found, *codes)
    return caught.value


def codes(found) -> list[str]:
    return [one.code for one in found.findings if one.severity != "info"]


def test_clean_log_has_no_findings(clean_check):
    assert clean_check.passed
    assert codes(clean_check) == []
    assert clean_check.result.checks.interpretations[0].code == ""


def test_a_late_wrench_is_noted_and_its_delay_is_part_of_the_fit(late, late_check):
    assert late_check.passed
    (note,) = late_check.findings
    assert note.code == "delay"
    assert re.search(r"\(delay (29\.|30)", note.text)
    assert "In the schema, [wrench], set `delay_s = 0.0" in note.remedy
    ((low, high),) = note.evidence["interval"]
    assert low < 1.5 * LATE < high
    assert high - low < 0.002
    applied = fit_corrected(late, late_check.result, "delay")
    meaning = "delay: always part of the fit, no correction needed"
    assert applied.estimate.provenance["applied"] == [{"code": "delay", "meaning": meaning}]
    assert errors(applied) == errors(late_check.result)
    assert errors(applied).inertia < 0.01


def test_time_in_another_unit_is_read_again_wholly(monkeypatch):
    right = log()
    assert right.time is not None
    slow = scan_log(replace(right, time=1e3 * right.time), Interpretation(), all_columns=True)
    facts = LogProperties.of(slow.summary.recording, slow.summary.max_rates)
    (unit,) = (each for each in faults_of([facts]) if each[0].time_factor == 1e-3)
    checks = Checks(ranking=Ranking((Explanation(100.0, BODY, unit),)))
    monkeypatch.setattr(correcting, "run_checks", lambda *_, **__: checks)
    (again,), *_ = apply_corrections([slow], ["time_unit"], EstimatorSettings())
    expected = scan_log(right, Interpretation(), all_columns=True)
    assert again.summary.cutoff_hz == expected.summary.cutoff_hz != slow.summary.cutoff_hz
    ours, theirs = (estimate_body([of.summary.statistics]) for of in (again, expected))
    assert_close(ours.parameters.phi, theirs.parameters.phi, 1e-6)
    assert_close(ours.covariance, theirs.covariance, 1e-6)


def test_another_reading_is_applied_as_it_was_found():
    wrong = without_effects(log(PATH.wrench(BODY, TIME) * [1, 1, 1, -1, -1, -1]))
    found = check_logs(wrong)
    assert codes(found)[0] == "torque_sign"
    line = 'set `torque = ["-tx", "-ty", "-tz"]`'
    assert found.findings[0].remedy == f"In the schema, [wrench], to be added, {line}."
    assert errors(fit_corrected(wrong, found.result, "torque_sign")).inertia < 0.05


def test_corrected_log_has_no_findings(clean_check):
    recording = log()
    larger = with_signals(recording, position=1.06 * recording.signals["position"])
    found = check_logs(without_effects(larger)).result
    applied = fit_corrected(larger, found, "position_unit")
    assert applied.findings == ()
    (replayed, meant) = (fit_of.validation.replay for fit_of in (applied, clean_check.result))
    assert replayed is not None
    assert meant is not None
    ours, theirs = (of.errors["estimate"].attitude[-1] for of in (replayed, meant))
    assert ours < 1.2 * theirs


@pytest.mark.parametrize("seed", mostly_slow(range(4), {0}))
def test_log_without_noise_passes(seed):
    """As those of `simulate`: what derivatives leave is no reason to read it otherwise."""
    rng = np.random.default_rng(seed)
    motion = random_motion(rng, bandwidth_hz=float(rng.uniform(0.3, 2.0)))
    exact = synthetic_recording(BODY, rng=rng, motion=motion, duration=20.0, rate_hz=100.0)
    found = check_logs(without_effects(exact) if seed == 0 else exact)
    assert (found.findings, found.verdict.usable) == ((), "yes")


def test_apply_rejects_absent_or_unknown_codes(clean_check):
    why = r"--apply torque_sign \(.*\): not found in these logs; found: noth"
    error = assert_refused(why, log(), clean_check.result, "torque_sign")
    assert str(error).startswith("--apply torque_sign (in Python, apply='torque_sign')")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), again.code) == (str(error), "torque_sign")
    with pytest.raises(
        SchemaError, match=r"no code of .* corrected 'dealy' .* did you mean 'delay'"
    ):
        fit(log(), apply="spikes, dealy")
    with pytest.raises(SchemaError, match="no code of a finding that can be corrected") as caught:
        FitSettings(apply=("logs_swapped",))
    assert "bodies_differ" not in str(caught.value)


@pytest.mark.parametrize(("factor", "unit"), [(1e6, "us"), (1e9, "ns")])
def test_wrong_time_unit_is_reported_before_other_findings(factor, unit):
    recording = log()
    slow = replace(recording, time=factor * recording.time, schema={"log": {"time": "t"}})
    found = check_logs(slow)
    assert codes(found) == ["time_unit"]
    assert f'set `time_unit = "{unit}"`' in found.findings[0].remedy
    assert found.result is None


def test_turns_faster_than_any_robots_at_a_rare_rate_are_of_another_unit_of_time():
    recording = log()
    schema = {"log": {"time": "t", "time_unit": "us"}}
    fast = replace(recording, time=1e-3 * recording.time, schema=schema)
    found = check_logs(fast)
    assert codes(found) == ["time_unit"]
    assert "turns at" in found.findings[0].text
    assert 'to `time_unit = "ms"`' in found.findings[0].remedy


def test_frozen_wrench_is_excluded_on_request():
    recording = log()
    signals = {name: recording.signals[name].copy() for name in ("force", "torque")}
    for values in signals.values():
        values[800:950] = values[800]
    frozen = with_signals(recording, **signals)
    found = check_logs(frozen)
    assert "frozen_wrench" in codes(found)
    applied = fit_corrected(frozen, found.result, "frozen_wrench")
    ((start, stop),) = applied.estimate.provenance["applied"][0]["left_out"][0]
    assert_close([start, stop], [8.0, 9.5], 0.01)
    assert applied.estimate.samples < found.result.estimate.samples
    why = r"torque_sign.*: not found in .* after frozen_wrench was corrected; found: frozen_wrench"
    assert_refused(why, frozen, found.result, "frozen_wrench", "torque_sign")


def spiked(recording: Recording) -> Recording:
    """The recording with 1 % of the rows of its wrench far out."""
    rng = np.random.default_rng(4)
    at = rng.random(len(TIME)) < 0.01
    signals = {name: recording.signals[name].copy() for name in ("force", "torque")}
    for values, size in zip(signals.values(), (100.0, 10.0), strict=True):
        values[at] += size * rng.choice([-1.0, 1.0], size=(int(at.sum()), 3))
    return with_signals(recording, **signals)


def errors(found):
    return group_errors(found.estimate.parameters.phi, BODY)


def outside(found: Result) -> list[str]:
    """Names of parameters whose intervals do not hold the truth."""
    bounds = list(found.estimate.intervals.items())[:10]
    return [name for (name, of), x in zip(bounds, BODY, strict=True) if not of[0] <= x <= of[1]]


@pytest.mark.slow
def test_spikes_are_taken_out_before_the_low_pass_and_counted(clean_check):
    rows = spiked(log())
    found = check_logs(rows)
    (spikes,) = (f for f in found.findings if f.code == "spikes")
    rows_out = spikes.evidence["rows"]
    assert f"spikes of single rows: {rows_out} rows in " in spikes.text
    assert "fit with --apply spikes" in spikes.remedy
    as_read = next(e for e in checks_of(found.result).ranking.explanations if not e.code)
    beside = group_errors(as_read.phi, BODY)
    assert beside.mass < 0.02 * errors(found.result).mass  # all else is looked for without them
    applied = fit_corrected(rows, found.result, "spikes")
    assert applied.verdict.reasons == ()
    (record_,) = applied.estimate.provenance["applied"]
    (count,) = record_["rows"]
    assert count == rows_out
    assert applied.corrected == (f"spikes: {count} rows interpolated.",)
    assert errors(applied).mass < 0.02 * errors(found.result).mass
    assert errors(applied).inertia < 1.5 * errors(clean_check.result).inertia


@pytest.mark.parametrize("gains", few_or_many((1.0, 0.94), (0.94, 1.0)))
def test_intervals_cover_both_gain_and_kinematic_offset(gains):
    found = check_logs(log(PATH.wrench(BODY, TIME) * np.repeat(gains, 3)))
    note = next(f for f in found.findings if f.severity != "info")
    assert (note.code, note.severity) == ("kinematic_offset", "warning")
    assert "The log cannot distinguish it from gains of the sensor" in note.text
    assert note.evidence["equivalent"] == ["gain"]
    assert "--mass KG" in note.remedy
    assert "In the schema" not in note.remedy  # its line would end all doubt of the gain
    assert outside(found.result) == []


@pytest.mark.parametrize("gains", few_or_many((1.0, 0.94), (0.94, 1.0)))
def test_intervals_cover_a_gain_that_a_contact_hides(gains):
    force = 0.8 * 9.80665 * BODY[0] * np.array([0.36, 0.48, 0.8])
    push = np.concatenate((force, np.cross([0.05, 0.0, 0.08], force)))
    touched = ((TIME > 5.0) & (TIME < 6.3))[:, None]
    pushed = log(PATH.wrench(BODY, TIME) * np.repeat(gains, 3) + touched * push)
    found = fit(pushed)
    assert found.all_findings[0].code == "contact"
    applied = fit_corrected(pushed, found, "contact")
    assert outside(found) == outside(applied) == []


@pytest.mark.slow
def test_implausible_gain_is_attributed_to_displaced_point():
    scaled = log(PATH.wrench(BODY, TIME) * np.repeat([1.0, 0.4], 3))
    found = fit(scaled)
    assert found.all_findings[0].code == "kinematic_offset"
    assert found.verdict.usable != "yes"


@pytest.mark.slow
def test_compensated_weight_is_restored_on_request(clean_check):
    weight = 0.7 * PATH.rotation(TIME).inv().apply([0.0, 0.0, -9.80665])
    com = BODY[1:4] / BODY[0] + [0.02, 0.0, -0.01]
    relieved = log(PATH.wrench(BODY, TIME) + np.hstack((weight, np.cross(com, weight))))
    plain = fit(without_effects(relieved))
    assert plain.verdict.usable == "no"
    (first, *_) = plain.all_findings
    assert first.code == "partly_compensated"
    said = re.search(r"the weight of a body of (\S+) ± (\S+) kg", first.text)
    assert abs(float(said[1]) - 0.7) < float(said[2])
    applied = fit_corrected(relieved, plain, "partly_compensated")
    assert "partly_compensated" not in applied.verdict.reasons
    assert errors(applied).mass < 0.01
    assert errors(applied).inertia < 0.05
    assert outside(applied) == []
    widths = [np.diff(each.estimate.intervals["m"]) for each in (applied, clean_check.result)]
    assert widths[0] > 1.4 * widths[1]  # the error of the weight is counted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_intervals_count_the_error_of_a_size_that_is_applied(seed):
    weight = 0.7 * PATH.rotation(TIME).inv().apply([0.0, 0.0, -9.80665])
    noise = np.random.default_rng(seed).normal(size=(len(TIME), 6)) * np.repeat([0.1, 0.01], 3)
    relieved = log(PATH.wrench(BODY, TIME) + np.hstack((weight, np.zeros_like(weight))) + noise)
    applied = fit(relieved, apply=("partly_compensated",))
    assert outside(applied) == []
    given = fit(log(PATH.wrench(BODY, TIME) + noise))
    widths = [np.diff(found.estimate.intervals["m"])[0] for found in (applied, given)]
    assert widths[0] > 1.4 * widths[1]


@pytest.mark.slow
def test_displaced_point_may_be_a_wrong_mount():
    mounted = Pose.from_quaternion([0.0, 0.0, 0.0, 1.0], [0.02, 0.0, 0.01])
    rows = log(PATH.wrench(BODY, TIME))
    rows = replace(rows, X_BS=mounted, frames={**rows.frames, "wrench": "sensor"})
    (first,) = (f for f in check_logs(rows).findings if f.severity != "info")
    assert (first.code, first.severity) == ("kinematic_offset", "warning")
    assert_close(first.evidence["size"], [-0.02, 0.0, -0.01], 0.1)
    line = re.search(r"\[wrench\.mount\], set `translation = \[(.*?)\]`", first.remedy)
    assert_close([float(number) for number in line[1].split(",")], [0.0, 0.0, 0.0], 1e-3, scale=1.0)


@pytest.mark.slow
def test_small_faults_are_noted_once_spikes_are_taken_out():
    angle = np.radians(4.0)
    applied = fit(
        spiked(log(PATH.wrench(BODY, TIME - LATE) @ turned_by(angle))),
        apply=("spikes", "wrench_misaligned", "delay"),
    )
    assert applied.verdict.reasons == ()
    asked = [one["code"] for one in applied.estimate.provenance["applied"]]
    assert asked == ["spikes", "wrench_misaligned", "delay"]
    sizes = {finding.code: finding.evidence["size"] for finding in applied.findings}
    assert sizes.keys() == {"wrench_misaligned", "delay"}
    assert_close(sizes["wrench_misaligned"], [0.0, 0.0, -angle], 0.05)
    assert_close(sizes["delay"], [LATE], 0.05)
    assert errors(applied).first_moment < 0.01
    assert errors(applied).inertia < 0.05
    assert applied.estimate.certificate.optimal_for


@pytest.mark.slow
def test_temporary_load_is_excluded_as_contact():
    noise = Noise(position=2e-5, orientation=2e-5, force=0.05, torque=0.005)
    clean = synthetic_recording(
        BODY, rng=np.random.default_rng(8), duration=80.0, rate_hz=50.0, noise=noise
    )
    more = 1.0 + 0.3 * ((clean.time > 31.0) & (clean.time < 39.0))[:, None]
    signals = {name: clean.signals[name] * more for name in ("force", "torque")}
    rows = with_signals(clean, **signals)
    plain = fit(rows)
    without = fit_corrected(rows, plain, "contact")
    assert errors(without).mass < 0.01 * errors(plain).mass
    assert without.verdict.usable == "yes"
    assert without.estimate.effective_samples < plain.estimate.effective_samples


@pytest.mark.slow
def test_a_contact_between_spikes_is_found_beside_them():
    pushed = np.zeros((len(TIME), 6))
    pushed[500:620, 2] = 8.0
    found = fit(spiked(with_wrench(log(), pushed)))
    ((one, two),) = found.checks.spans
    assert (one.code, two.code) == ("spikes", "contact")
    assert one.start < two.start < two.stop < one.stop
    assert_close([two.start, two.stop], [5.0, 6.2], 0.1)


def test_rounding_is_no_fault_and_the_delay_of_an_exact_log_is_noted():
    exact = record(PATH, BODY, TIME)
    assert fit(exact).findings == ()
    w = PATH.wrench(BODY, TIME - LATE)
    (note,) = fit(with_signals(exact, force=w[:, :3], torque=w[:, 3:])).findings
    assert note.code == "delay"
    assert_close(note.evidence["size"], [LATE], 0.01)


def test_report_marks_significant_small_faults(late_check):
    table, others = _small_fault_tables(late_check.result.checks.small_faults)
    (noted,) = table.rows
    assert others.kind == "folded"
    assert noted.cells[0].text == "delay"
    assert noted.cells[1].text.endswith(" ms")


@pytest.mark.slow
def test_misread_log_gets_no_excitation_advice(clean_check):
    def advice(found):
        checks = checks_of(found)
        more = replace(checks.excitation, advice=("Turn faster.",))
        findings = findings_of(wrench_hypotheses(checks))
        return summarise_checks(replace(checks, excitation=more), findings).motion_advice

    wrong = check_logs(log(PATH.wrench(BODY, TIME) * np.repeat([1.0, 1e3], 3))).result
    assert wrong.checks.interpretations[0].code == "torque_unit"
    assert (advice(clean_check.result), advice(wrong)) == (("Turn faster.",), ())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "text"), [(0.0, "gravity is missing: it points along -z"), (15.9, "gravity is 9.807")]
)
def test_wrong_gravity_ranks_before_clock_and_axes(size, text):
    wrong = replace(log(), gravity=np.array([0.0, 0.0, -size]))
    (first, *_) = check_logs(wrong).findings
    assert (first.code, first.severity) == ("gravity_magnitude", "error")
    assert text in first.text
    assert "`gravity = [0.0, 0.0, -9.80665]`" in first.remedy
    assert_close(first.evidence["mass"], BODY[0], 0.01)


def test_lunar_gravity_notes_dependence_of_mass():
    moon = np.array([0.0, 0.0, -1.62])
    lunar = record(PATH, BODY, TIME, noise=NOISE, bias=np.full(6, 0.2), gravity=moon)
    found = check_logs(without_effects(lunar))
    assert found.passed
    (note,) = found.findings
    assert note.code == "gravity_magnitude"
    assert "would be 0.165 times the estimate" in note.text


def test_swapped_force_and_torque_columns_are_reported():
    swapped = log(PATH.wrench(BODY, TIME)[:, [3, 4, 5, 0, 1, 2]])
    (first, *_) = check_logs(without_effects(swapped)).findings
    assert first.code == "wrench_axes"
    assert "the columns of force and torque are swapped" in first.text
    assert_close(first.evidence["mass"], BODY[0], 0.01)


def test_correction_of_loaded_logs_applies_to_unloaded_logs():
    logs = [scan_log(log(), Interpretation()) for _ in range(2)]
    facts = LogProperties.of(logs[0].summary.recording)
    sign = next(each for each in faults_of([facts]) if each[0].code == "torque_sign")
    checks = rescan_under_explanation(logs, Explanation(1.0, BODY, sign))
    assert [each.summary.reading.patch[0][0] for each in checks] == ["wrench.torque"] * 2
