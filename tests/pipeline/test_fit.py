import json
import pickle
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.commands.summary import log_line
from identify.errors import LogError, SchemaError, SolveError
from identify.estimation import (
    EstimatorSettings,
    TooLittleMotion,
    estimate_body,
)
from identify.estimation.terms import ComInBox, KnownCom, MassBetween
from identify.exchange import read_estimate
from identify.inertia import PHI as NAMES, phi_from_inertia
from identify.logs import DroppedRows, Recording, read_log, synthetic_recording
from identify.logs.recording import recording_rows
from identify.logs.synthetic import random_motion
from identify.pipeline import FitOptions, FitSettings, JointSettings, Result, fit
from identify.pipeline.fit_findings import findings_of_fit
from identify.pipeline.scanned_log import scan_log
from identify.pipeline.settings import merge_settings
from identify.pipeline.small_fault_fit import FittedLogs
from identify.regressors import block_statistics
from identify.signals import Interpretation, prepare
from identify.significance import HALF_WIDTH_SIGMA
from tests.close import assert_close, group_errors
from tests.recordings import (
    ALL,
    GRAVITY,
    POSE,
    WRENCH_ARRAYS,
    Path,
    record,
    still_poses,
    with_signals,
    with_wrench,
    without_effects,
)
from tests.stages import stages_logged
from tests.strategies import random_body

BODY = random_body(np.random.default_rng(0))
TIME = np.arange(0.0, 20.0, 0.01)
BIAS = np.array([1.0, -2.0, 3.0, 0.1, 0.05, -0.1])
NOISE = {"force": 0.1, "torque": 0.01}


def log(seed: int = 1, give=POSE, noise=NOISE, bias=BIAS, **options):
    options.setdefault("name", f"log {seed}")
    return record(Path.random(seed), BODY, TIME, give, noise=noise, bias=bias, seed=seed, **options)


@pytest.fixture(scope="module")
def result() -> Result:
    recordings = [
        replace(
            log(1),
            dropped=DroppedRows(not_finite=2, cut_short=1),
            rows=2003,
            schema={"wrench": {"acts_on": "body"}, "log": {"time": "t"}},
        ),
        log(2, bias=-BIAS),
    ]
    return fit(recordings, FitSettings(cutoff_hz=4.0), command="identify fit a.csv b.csv")


@pytest.fixture(scope="module")
def clean() -> tuple[Result, list[str]]:
    """A fit with nothing wrong, and the stages of it, as the logger has them."""
    with stages_logged() as lines:
        return fit(log(12), needs="mass 1%"), lines


@pytest.fixture(scope="module")
def still() -> Result:
    poses = still_poses(BODY, Rotation.random(9, random_state=0), bias=BIAS, noise=0.003)
    return fit(poses, needs="inertia 1000%, mass 50%")


def test_two_noisy_logs_give_the_body_and_the_bias_of_each(result):
    errors = group_errors(result.estimate.parameters.phi, BODY)
    assert errors.mass < 5e-3
    assert errors.first_moment < 1e-2
    assert errors.inertia < 5e-2
    assert_close(result.estimate.biases, [BIAS, -BIAS], 0.02)
    assert set(result.estimate.decided_by.values()) <= {"data", "constraint"}
    assert result.estimate.parameters.consistent


def test_fit_counts_logs_rows_and_samples(result):
    estimate = result.estimate
    digests = [one.recording.sha256 for one in result.logs]
    assert [offset.sha256 for offset in estimate.bias] == digests
    assert estimate.dropped_rows == 3
    used = sum(one.statistics.samples.sum() for one in result.logs)
    assert estimate.samples == round(used) > 3000
    assert_close(
        estimate.effective_samples, sum(one.independent_rows for one in result.logs), 1e-12
    )
    assert result.settings.cutoff_hz == 4.0
    assert [one.cutoff_hz for one in result.logs] == [4.0, 4.0]
    assert result.validation.scores.folds == 5
    assert result.validation.replay is not None


def finding(result, code: str):
    """The one finding of a code, or None."""
    found = [one for one in result.findings if one.code == code]
    assert len(found) <= 1
    return found[0] if found else None


def test_dropped_rows_are_reported_without_lowering_verdict(result):
    dropped = finding(result, "rows_dropped")
    assert str(dropped) == (
        "log 1: 3 of 2003 rows dropped (2 not finite, 1 cut short, 0 not numbers)."
    )
    assert (dropped.severity, dropped.evidence["dropped"]) == ("info", 3)
    assert (result.verdict.usable, result.verdict.reasons) == ("yes", ())
    assert result.verdict.identifiable == tuple(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "per_kg"), [("grams", 1e3), ("pounds", 2.20462262), (None, 1.5)])
def test_a_mass_given_in_another_unit_is_recognised(unit, per_kg):
    recording = log(4)
    given, fitted = float(f"{per_kg * BODY[0]:.6g}"), f"{BODY[0]:.4g}"
    found = finding(fit(recording, mass=given), "choice_contradicted")
    expected = "Check the given mass, and correct or omit what is wrong."
    if unit is not None:
        expected = f"The given mass {given:g} looks like {unit}; give {fitted} (in kg)."
    assert found.remedy == expected


def test_a_weighed_mass_that_contradicts_leads_to_the_scale_of_the_sensor():
    found = finding(fit(log(4), mass=1.1 * BODY[0]), "choice_contradicted")
    assert "If the body was weighed, the sensor's scale is off by 9.1 %" in found.remedy
    assert "`gain_accuracy = 0.091` in [wrench]" in found.remedy


@pytest.mark.slow
def test_term_rejected_by_data_is_kept_and_reported():
    mass = float(BODY[0])
    terms = [MassBetween(1.5 * mass, 2.0 * mass), MassBetween(0.1 * mass, np.inf)]
    away = fit(without_effects(log(4)), terms=terms)
    said = json.loads(json.dumps(away.estimate.provenance))["options"]["terms"]
    assert said[0] == {"kind": "mass_between", "low": 1.5 * mass, "high": 2.0 * mass, "body": None}
    assert said[1]["high"] is None
    assert_close(away.estimate.mass, 1.5 * BODY[0], 1e-6)
    found = finding(away, "choice_contradicted")
    assert "standard errors" in found.text
    free = fit(without_effects(log(4))).estimate
    low, high = free.intervals["m"]
    errors = 2.0 * HALF_WIDTH_SIGMA * (1.5 * mass - free.mass) / (high - low)
    assert found.evidence["standard_errors"] >= errors * (1.0 - 1e-6) > 5.0
    assert_close(found.evidence["mass_by_data"], free.mass, 1e-12)
    assert str(terms[0]) in found.text
    assert str(terms[1]) not in found.text
    assert "choice_contradicted" in away.verdict.reasons
    # Folds without a proved optimum at that bound are no little motion.
    scores = away.validation.scores
    assert scores is not None
    fitted = FittedLogs.fit([scan_log(log(4), Interpretation(), all_columns=True)], away.settings)
    for unproved, little in ((2, 0), (0, 1)):
        some = replace(away.validation, scores=replace(scores, refused=2, unproved=unproved))
        found = list(findings_of_fit(some, away.estimate, fitted, away.settings))
        assert sum(one.code == "little_motion" for one in found) == little
        (said,) = (one.text for one in found if one.code == "choice_contradicted")
        assert ("could not be certified" in said) == bool(unproved)


def log_with_gains(gains: tuple[float, float]) -> Recording:
    attitudes = Rotation.random(12, random_state=7)
    clean, rng = still_poses(BODY, attitudes).signals, np.random.default_rng(6)
    noise = [
        2e-3 * np.abs(clean[name]).max() * rng.normal(size=(12, 3)) for name in ("force", "torque")
    ]
    return read_log(
        {
            "quaternion": attitudes.as_quat(),
            "force": gains[0] * clean["force"] + noise[0],
            "torque": gains[1] * clean["torque"] + noise[1],
        },
        {
            "log": {"still": True},
            "pose": {"quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS | {"gain_accuracy": 0.01},
        },
    )


@pytest.mark.parametrize("share", [1.0, 1.2])
def test_a_weighed_mass_is_held_against_the_log_with_the_error_of_its_scale(share):
    result = fit(log_with_gains((1.015, 0.99)), mass=share * BODY[0])
    contradicted = finding(result, "choice_contradicted")
    assert (contradicted is None) == (share == 1.0)


@pytest.mark.slow
def test_wrong_known_com_suggests_box_that_contains_estimate():
    com = BODY[1:4] / BODY[0]
    off = fit(log(4), terms=[KnownCom((com[0] + 2e-3, com[1], com[2] - 1e-3))])
    contradicted = finding(off, "choice_contradicted")
    assert " mm from the given one" in contradicted.text
    distance = re.search(r"is ([\d.]+) mm from", contradicted.text)
    assert distance is not None
    assert float(distance[1]) == pytest.approx(np.hypot(2.0, 1.0), rel=0.2)
    box = contradicted.remedy.partition("--com-box ")[2].split()
    x0, x1, y0, y1, z0, z1 = map(float, box)
    within = fit(log(4), terms=[ComInBox((x0, y0, z0), (x1, y1, z1))])
    assert not any(one.code == "choice_contradicted" for one in within.findings)
    far = finding(fit(log(4), terms=[KnownCom(tuple(3.0 * com))]), "choice_contradicted")
    assert "--com-box" not in far.remedy


@pytest.mark.parametrize("low", [-1.0, 1.0])
def test_a_box_far_from_the_body_is_met_and_contradicted(low):
    """As where metres were meant and centimetres written."""
    high = low + abs(low) / 2.0
    blocks = [block_statistics(prepare(log(5)))]
    settings = EstimatorSettings(terms=(ComInBox((low,) * 3, (high,) * 3),))
    estimate = estimate_body(blocks, settings)
    assert (estimate.com >= low - 1e-6 * abs(low)).all()
    assert (estimate.com <= high + 1e-6 * abs(low)).all()
    assert estimate.certificate.active[-1].startswith("centre of mass in x")


def test_infeasible_com_box_states_remedy():
    with pytest.raises(SolveError, match="far from the estimate without it: fit without it first"):
        fit(without_effects(log(5)), terms=[ComInBox((-20.0,) * 3, (-10.0,) * 3)])


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"mass": "1.3"}, r"mass: expected a number \[kg\], got '1.3'"),
        ({"cutoff_hz": "5"}, "cut-off: expected a number"),
        ({"terms": MassBetween(1.0, 2.0)}, r"terms: expected a list of terms such as MassBetween"),
        ({"terms": ["x"]}, "terms: expected a list of terms"),
        ({"gravity": 9.81}, r"gravity: expected shape \(3\), got \(\)"),
        ({"gravity": "down"}, "gravity: expected numbers of shape"),
        (
            {"settings": "schema.toml"},
            r"expected FitSettings .*, got str; give a schema by its name",
        ),
    ],
)
def test_choices_of_another_type_are_rejected(choice, message):
    with pytest.raises(SchemaError, match=message):
        fit(log(7), **choice)


@pytest.mark.parametrize(
    ("thing", "kind"),
    [("log.csv", r"the path 'log\.csv'"), ({"t": [0.0]}, "dict"), ([np.zeros(3)], "ndarray")],
)
def test_a_log_that_is_not_read_needs_a_schema(thing, kind):
    with pytest.raises(LogError, match=rf"got {kind}; .* need a schema: give schema="):
        fit(thing)


def test_a_table_with_its_schema_is_fitted_as_what_is_read_of_it():
    table = recording_rows(log(4), 0, 500).to_dataframe().reset_index(names="t")
    schema = {
        "log": {"time": "t"},
        "pose": {"position": ["px", "py", "pz"], "quaternion": ["qx", "qy", "qz", "qw"]},
        "wrench": {"force": ["fx", "fy", "fz"], "torque": ["tx", "ty", "tz"]}
        | {"frame": "body", "acts_on": "body"},
    }
    phi = fit(read_log(table, schema)).estimate.parameters.phi
    for given in (table, [dict(table.items())]):
        np.testing.assert_array_equal(fit(given, schema=schema).estimate.parameters.phi, phi)


def test_provenance_is_plain_json_with_command_and_options(result, tmp_path):
    provenance = json.loads(json.dumps(result.estimate.provenance, allow_nan=False))
    assert provenance["command"] == "identify fit a.csv b.csv"
    assert provenance["options"] == {
        "bias": "per_log",
        "mass": None,
        "cutoff_hz": 4.0,
        "gravity": None,
        "terms": [],
        "prior": {
            "kind": "ball",
            "is": "solid ball of 1000 kg/m³ about the centre of mass",
        },
        "needs": "",
        "interval": "formula",
        "simultaneous": False,
        "apply": [],
        "check": False,
        "bounds": False,
    }
    assert [entry["name"] for entry in provenance["logs"]] == ["log 1", "log 2"]
    assert provenance["logs"][0]["schema"]["wrench"] == {"acts_on": "body"}
    assert provenance["logs"][0]["dropped_rows"]["not_finite"] == 2
    assert provenance["logs"][0]["sha256"] == result.logs[0].recording.sha256
    assert provenance["logs"][1]["gravity"] == GRAVITY.tolist()
    assert provenance["logs"][0]["cutoff_hz"] == 4.0
    assert_close(provenance["logs"][0]["rate_hz"], 100.0, 1e-9)
    assert {"python", "numpy", "scipy", "cvxpy", "clarabel"} <= set(provenance["versions"])
    saved = read_estimate(result.estimate.save(tmp_path / "estimate.json"))
    assert json.loads(json.dumps(saved.provenance)) == provenance
    assert saved.bias[1].sha256 == result.logs[1].recording.sha256


def test_single_recording_needs_no_list_and_progress_is_reported(clean):
    one, lines = clean
    assert len(one.logs) == 1
    assert any(line.startswith("preparing log 12 (2000 rows)") for line in lines)
    assert {"estimating", "validating"} <= set(lines)


@pytest.mark.slow
def test_gravity_of_the_settings_replaces_that_of_the_log():
    moon = np.array([0.0, 0.0, -1.625])
    recording = replace(log(8, gravity=moon), gravity=GRAVITY)
    right = fit(recording, FitSettings(gravity=(0.0, 0.0, -1.625)))
    assert_close(right.estimate.parameters.mass, 1.0, 2e-2)
    assert right.logs[0].recording.gravity.tolist() == [0.0, 0.0, -1.625]
    assert right.estimate.provenance["options"]["gravity"] == (0.0, 0.0, -1.625)


def test_static_poses_give_mass_and_centre_and_mark_the_rest(still):
    assert_close(still.estimate.parameters.mass, 1.0, 0.01)
    assert {still.estimate.decided_by[name] for name in NAMES[4:]} == {"default"}
    assert still.validation.replay is None
    assert json.dumps(still.estimate.provenance)


def scaled(recording, factor: float, *names: str):
    return with_signals(recording, **{name: factor * recording.signals[name] for name in names})


@pytest.mark.slow
def test_position_in_millimetres_is_reported_when_unused():
    wrong = fit(scaled(log(9, ALL), 1e3, "position", "linear_velocity"))
    found = finding(wrong, "position_unit")
    assert 'set `position_unit = "mm"` in [pose]' in found.remedy
    assert found.evidence["fastest"] > 20.0
    assert found.severity == "info"
    assert max(group_errors(wrong.estimate.parameters.phi, BODY)) < 0.05


@pytest.mark.slow
def test_fast_motion_is_usable():
    """A pose that runs away at 30 m/s, in metres: no other unit explains the wrench better."""
    recording = log(9)
    away = 30.0 * TIME[:, None] * [1.0, 0.0, 0.0]
    fast = fit(with_signals(recording, position=recording.signals["position"] + away))
    assert finding(fast, "position_unit").severity == "info"
    assert fast.verdict.usable == "yes"


@pytest.mark.slow
def test_small_push_is_a_warning():
    recording = log(11)
    force = recording.signals["force"].copy()
    force[500:560] += 10.0
    pushed = fit(with_signals(recording, force=force))
    assert finding(pushed, "unexplained").severity == "warning"
    assert pushed.verdict.usable == "with care"


@pytest.mark.slow
def test_omitted_bias_that_data_require_is_reported():
    recording = log(21, ALL)
    biased = with_wrench(recording, np.array([[2.0, -1.0, 3.0, 0.0, 0.0, 0.0]]))
    found = fit(biased, FitSettings(bias="none"))
    assert "without sensor offset" in finding(found, "choice_contradicted").text


def test_log_with_many_short_segments_is_reported():
    """Pieces of 0.2 s between gaps: little more than half is used, and a person is told."""
    whole = log(12, ALL)
    piece = np.concatenate((np.arange(700), *(np.arange(k, k + 20) for k in range(720, 1960, 40))))
    signals = {name: values[piece] for name, values in whole.signals.items()}
    result = fit(replace(whole, time=TIME[piece], signals=signals))
    assert result.logs[0].unused_rows == 31 * 20
    assert finding(result, "rows_unused").evidence["unused"] == 620


def test_a_good_fit_has_no_findings(clean):
    result, _ = clean
    assert result.findings == ()
    assert (result.verdict.needs, result.verdict.usable) == ({"mass 1%": True}, "yes")
    assert result.estimate.r_squared == tuple(result.validation.scores.r_squared.tolist())


def test_static_poses_completed_by_default_body_are_usable_with_care(still):
    assert finding(still, "completed").evidence["completed"] == 6
    met = replace(still.estimate, needs={}, findings=still.estimate.findings[-1:]).verdict
    assert (met.usable, met.reasons) == ("with care", ("completed",))
    assert (still.verdict.usable, still.verdict.reasons) == ("no", ("need_unmet", "completed"))
    assert still.verdict.identifiable == tuple(NAMES[:4])


def test_a_need_of_what_is_not_identifiable_is_not_met(still):
    assert still.verdict.needs == {"inertia 1000%": False, "mass 50%": True}


def test_empty_and_duplicate_logs_are_rejected():
    with pytest.raises(LogError, match="fit needs at least one log"):
        fit([])
    one = log(13)
    with pytest.raises(LogError, match=r"again: the same data as log 13.*Give each log once"):
        fit([one, replace(one, name="again")])


@pytest.mark.parametrize(
    ("dead", "value", "mass"),
    [("force", 0.0, None), ("torque", 1.7, None), ("torque", 0.0, 1.0), ("force", 1.7, 1.0)],
)
def test_a_sensor_that_never_changes_is_rejected_with_its_value(dead, value, mass):
    """A known mass excuses a force of zero, and nothing else."""
    recording = log(14)
    constant = np.full_like(recording.signals[dead], value)
    broken = with_signals(recording, **{dead: constant})
    message = rf"the {dead} is \[{value}, .*in all 2000 rows: the sensor was"
    with pytest.raises(LogError, match=message):
        fit(broken, mass=mass)


def test_single_static_pose_raises_too_little_motion():
    recording = still_poses(BODY, Rotation.random(1, random_state=1), bias=BIAS)
    with pytest.raises(TooLittleMotion, match="does not identify m, hx, hy, hz") as e:
        fit(recording)
    assert e.value.finding.code == "little_motion"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bias": "each"}, 'bias: expected "per_log", "shared" or "none", got \'each\''),
        ({"mass": 0.0}, r"mass: expected a positive, finite number \[kg\], got 0"),
        ({"interval": "jackknife"}, "interval: expected"),
        ({"cutoff_hz": 0.0}, r"cut-off: expected a positive, finite number \[Hz\], got 0"),
        ({"gravity": (0.0, 0.0)}, r"gravity: expected shape \(3\), got \(2,\)"),
        ({"gravity": (0.0, 0.0, float("inf"))}, r"gravity: entry \(2,\) is inf"),
    ],
)
def test_invalid_settings_are_rejected(options, message):
    with pytest.raises(SchemaError, match=message) as caught:
        FitSettings(**options)
    assert caught.value.exit_code == 2


def test_options_of_a_fit_match_its_settings():
    of_fit = FitSettings.__dataclass_fields__.keys() - {"unloaded", "joints"}
    of_prior = {"prior_error", "prior_weight", "shape", "shape_at", "shape_scale", "shape_error"}
    names = {*of_fit, *JointSettings.__dataclass_fields__, *of_prior}
    assert set(FitOptions.__annotations__) == names
    assert all(f"`{name}`" in fit.__doc__ for name in names)


def test_unknown_option_suggests_nearest():
    unknown: Any = {"biass": "none"}
    with pytest.raises(SchemaError, match=r"no option of fit 'biass' among .*mean 'bias'"):
        fit(log(7), **unknown)


def test_explicit_option_overrides_settings():
    settings = FitSettings(bias="shared", mass=2.0, apply=("delay",))
    assert merge_settings(settings, {"mass": 3.0, "bias": None, "apply": []}) == FitSettings(
        bias="shared", mass=3.0
    )
    assert merge_settings(None, {}) == FitSettings()


def brisk(rate_hz: float, seed: int = 0) -> Recording:
    """A log of exact sensors on a motion of up to some 3 Hz."""
    rng = np.random.default_rng(seed)
    motion = random_motion(rng, bandwidth_hz=2.0, reach=0.15, turn=0.6)
    return synthetic_recording(BRISK, rng=rng, motion=motion, duration=15.0, rate_hz=rate_hz)


BRISK = phi_from_inertia(1.2, [0.02, -0.03, 0.06], np.diag([5e-3, 4e-3, 6e-3]))


def error_of(recording: Recording, cutoff_hz: float | None = None) -> float:
    """Relative error of the inertia that a recording of `BRISK` gives."""
    estimate = estimate_body([block_statistics(prepare(recording, cutoff_hz))])
    return group_errors(estimate.parameters.phi, BRISK).inertia


def test_cutoff_below_motion_is_reported():
    low = fit(brisk(100.0), cutoff_hz=2.0)
    (finding,) = (f for f in low.estimate.findings if f.code == "cutoff_low")
    assert finding.severity == "warning"
    assert low.verdict.usable == "with care"
    enough = finding.evidence["motion_hz"]
    assert 2.0 < enough <= 5.0
    assert error_of(brisk(100.0), 2.0) > 3.0 * error_of(brisk(100.0), enough)


def test_the_cutoff_of_a_log_of_few_rows_follows_its_motion():
    """A tenth of the rate would be 2.5 Hz, and leave out what the inertia is told by."""
    slow = brisk(25.0)
    assert 2.5 < prepare(slow).cutoff_hz <= 5.0
    assert error_of(slow) < 0.5 * error_of(slow, 2.5)


def test_pickled_result_keeps_readings_and_replays():
    """As from a worker process; what was not looked at yet is worked out there."""
    result = fit(without_effects(log(5)), check=True)
    again = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert again.estimate.parameters == result.estimate.parameters
    assert again.checks == result.checks
    assert again.checks.interpretations
    assert again.findings == result.findings
    errors = [each.validation.replay.errors["estimate"] for each in (result, again)]
    assert_close(errors[0].position, errors[1].position, 1e-12)


def test_gap_and_unused_rows_are_reported():
    """Also where the log is read in chunks; and the RMS of all vectors is of the same kind."""
    whole = log(12, ALL)
    kept = np.r_[0:800, 1010:1020, 1040 : len(TIME)]
    signals = {name: values[kept] for name, values in whole.signals.items()}
    result = fit(replace(whole, time=TIME[kept], signals=signals))
    missing = finding(result, "rows_missing")
    step = TIME[1] - TIME[0]
    (span,) = missing.evidence["spans"]
    assert span == pytest.approx((TIME[799], TIME[1010]))
    assert missing.evidence["seconds"] == pytest.approx(211 * step)
    text = log_line(result.logs[0])
    assert f"({result.logs[0].unused_rows} of them not used)" in text
    numbers = [float(x) for x in re.findall(r"([\d.e-]+) rad/s² RMS", text)]
    changes = result.logs[0].features[:, 3:6]
    vector = np.sqrt(((changes - changes.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert numbers == [pytest.approx(vector, rel=0.06)]
