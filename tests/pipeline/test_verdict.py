"""What an estimate is good for: how precise it is, and whether that is as needed."""

from dataclasses import replace

import numpy as np
import pytest

import identify
from identify import Estimate, Recording, Result
from identify.commands.summary import summary
from identify.estimation import EstimatorSettings, estimate_body
from identify.estimation.scale_accuracy import GIVEN_SCALE_ALONE
from identify.estimation.terms import MassBetween
from identify.exchange import export_body, write_estimate
from identify.exchange.controllers import CONTROLLERS
from identify.findings import Finding
from identify.logs.synthetic import Noise
from identify.pipeline import check_logs
from identify.pipeline.precision_findings import precision_findings, precision_levels
from identify.pipeline.required_precision import ARM_LIMITS, half_width, required_precision_met
from identify.reporting.result import verdict_in_words
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial import BodyFrame, Pose
from tests.close import assert_close
from tests.estimation.simulated import samples, wrench_noise
from tests.small_faults import (
    PHI,
    displaced,
    exact,
    late,
    logged,
    still,
    with_schema,
    with_wrench,
    wrench_of,
)
from tests.strategies import random_body

NOISY = Noise(position=1e-4, orientation=5e-4, force=10.0, torque=1.0)
CARRIER = random_body(np.random.default_rng(2), 2.0, 0.1)


@pytest.fixture(scope="module")
def estimate() -> Estimate:
    rng = np.random.default_rng(3)
    phi = random_body(rng)
    log = samples(phi, rng, 400, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6))
    return estimate_body([log.blocks()])


def with_half_widths(estimate: Estimate, mass: float, com: float, inertia: float) -> Estimate:
    """The estimate with other widest intervals: of the mass and inertia relative, com in metres."""
    largest = np.linalg.eigvalsh(estimate.parameters.inertia_about_com)[-1]
    names = {"m": mass * estimate.mass, "cy": com, "Icxz": inertia * largest}
    intervals = dict(estimate.intervals)
    for name, half in names.items():
        middle = np.mean(intervals[name])
        intervals[name] = (middle - half, middle + half)
    return replace(estimate, intervals=intervals)


@pytest.mark.parametrize(
    ("widths", "severities", "levels"),
    [
        ((0.019, 3.9e-3, 0.19), {}, ("yes", "yes", "yes")),
        ((0.021, 1e-3, 0.01), {"mass": "warning"}, ("with care", "yes", "yes")),
        ((0.001, 4.1e-3, 0.01), {"com": "warning"}, ("yes", "with care", "yes")),
        ((0.001, 1e-3, 0.21), {"inertia": "info"}, ("yes", "yes", "with care")),
        (
            (0.099, 19e-3, 0.49),
            {"mass": "warning", "com": "warning", "inertia": "info"},
            ("with care",) * 3,
        ),
        ((0.101, 1e-3, 0.01), {"mass": "error"}, ("no", "yes", "yes")),
        ((0.001, 20.1e-3, 0.01), {"com": "error"}, ("yes", "no", "yes")),
        ((0.001, 1e-3, 0.51), {"inertia": "info"}, ("yes", "yes", "no")),
    ],
)
def test_each_quantity_has_its_limits(estimate, widths, severities, levels):
    wide = with_half_widths(estimate, *widths)
    found = {one.evidence["doubted"][0]: one for one in precision_findings(wide, "")}
    assert {quantity: one.severity for quantity, one in found.items()} == severities
    assert {one.code for one in found.values()} <= {"imprecise"}
    assert tuple(precision_levels(wide, "").values()) == levels
    shown = {"mass": f"{100 * widths[0]:.4g} %", "com": f"{1e3 * widths[1]:.4g} mm"}
    shown["inertia"] = f"{100 * widths[2]:.4g} % of its largest principal moment"
    for quantity, one in found.items():
        assert f"± {shown[quantity]}" in one.text
    whole = replace(wide, precision=precision_levels(wide, ""), findings=tuple(found.values()))
    worst = {"error": "no", "warning": "with care", "info": "with care"}
    usable = min((worst[one] for one in severities.values()), default="yes", key=len)
    assert whole.verdict.usable == usable
    assert tuple(whole.verdict.quantities.values()) == levels


def test_static_poses_need_more_poses_and_a_motion_larger_turns():
    remedies = list[str]()
    for log in (still(3), logged(exact(3))):
        findings = identify.fit(log, needs="com 0.01mm").findings
        remedies += [finding.remedy for finding in findings if finding.code == "need_unmet"][:1]
    assert remedies[0].startswith("Log more poses")
    assert "--poses" in remedies[0]
    assert remedies[1].startswith("Log longer, with larger turns")


@pytest.mark.parametrize(
    ("mass", "com", "severities"),
    [
        (0.059, 9.9e-3, []),
        (0.061, 1e-3, ["warning"]),
        (0.149, 39e-3, ["warning", "warning"]),
        (0.151, 1e-3, ["error"]),
        (0.01, 41e-3, ["error"]),
    ],
)
def test_loads_from_joint_torques_have_wider_limits(estimate, mass, com, severities):
    wide = with_half_widths(estimate, mass, com, 0.01)
    assert [one.severity for one in precision_findings(wide, "", ARM_LIMITS)] == severities


def test_a_quantity_without_interval_is_of_no_use(estimate):
    for name, quantity, severity in (("cy", "com", "error"), ("Icxy", "inertia", "info")):
        open_ = replace(estimate, intervals={**estimate.intervals, name: None})
        (one,) = precision_findings(open_, "")
        assert (one.code, one.severity) == ("imprecise", severity)
        assert precision_levels(open_, "")[quantity] == "no"


def test_remedy_of_an_imprecise_inertia_names_the_axes_to_turn_about(estimate):
    for names, about in (
        (("Icyy",), "y,"),
        (("Icxz",), "x and z,"),
        (("Icxx", "Icyz"), "x, y and"),
    ):
        wide = dict.fromkeys(names, (-1.0, 1.0))
        (one,) = precision_findings(replace(estimate, intervals={**estimate.intervals, **wide}), "")
        assert f"Turn to and fro about {about}" in one.remedy


def with_scale_error(estimate: Estimate, share: float) -> Estimate:
    """The estimate from a sensor whose channels have an error of scale in common."""
    phi = estimate.parameters.phi
    calibration = share**2 * np.outer(phi, phi)
    covariance = estimate.covariance + calibration
    wide = HALF_WIDTH_SIGMA * share
    return replace(
        with_half_widths(estimate, wide, 1e-3, wide), covariance=covariance, calibration=calibration
    )


def test_needs_are_held_against_what_the_log_decides(estimate):
    wide = with_scale_error(estimate, 0.05)
    total, between_logs = (half_width(wide, "m", total) / wide.mass for total in (True, False))
    assert_close(total, HALF_WIDTH_SIGMA * 0.05, 1e-9)
    errors = [np.sqrt(one.covariance[0, 0]) for one in (estimate, wide)]
    assert_close(between_logs, total * errors[0] / errors[1], 1e-9)
    for needs in ("mass 1%", "mass"):
        (limited,) = precision_findings(wide, needs)
        assert (limited.code, limited.severity) == ("scale_limit", "info")
        assert "the scale limits the mass to ± 9.8 %" in limited.text
        assert "--mass KG" in limited.remedy
        assert precision_levels(wide, needs)["mass"] == "with care"
        assert all(required_precision_met(needs, wide).values())
    assert [one.code for one in precision_findings(wide, "")] == ["scale_limit"]
    (unmet,) = precision_findings(wide, "mass 1% total")
    assert (unmet.code, unmet.severity) == ("need_unmet", "error")
    assert "--mass KG" in unmet.remedy
    (short,) = precision_findings(wide, "mass 0.001%")
    assert (short.code, short.remedy[:10]) == ("need_unmet", "Log longer")
    unknown = replace(wide, calibration=None)
    assert [one.code for one in precision_findings(unknown, "")] == ["imprecise"]


def test_a_width_beyond_its_limit_is_shown_in_digits_that_tell_them_apart(estimate):
    share = 0.02004 / HALF_WIDTH_SIGMA
    (scale,) = precision_findings(with_scale_error(estimate, share), "mass")
    assert "the scale limits the mass to ± 2.004 % (95 %), beyond 2 %; the log" in scale.text
    com, inertia = precision_findings(with_half_widths(estimate, 1e-3, 20.0003e-3, 0.2000001), "")
    assert "known to ± 20.0003 mm (95 %, repeatability), beyond 20 mm." in com.text
    assert "known to ± 20.00001 % of" in inertia.text
    (wide,) = precision_findings(with_half_widths(estimate, 1e-3, 0.123, 0.1), "com 3 mm")
    assert "known to ± 120 mm (95 %)" in wide.text


@pytest.mark.slow
def test_unexplained_log_lists_signals_missing_from_schema():
    faulty = logged(late(exact(3), 0.05))
    found = identify.fit(with_schema(faulty, effects={"delay_s": False})).findings
    (unexplained,) = (one for one in found if one.code == "unexplained")
    assert "[effects] excludes delay_s from the fit." in unexplained.text
    assert not any("[effects]" in one.text for one in identify.fit(faulty).findings)


def test_each_body_of_a_fit_is_named():
    rng = np.random.default_rng(4)
    both = [
        samples(phi, rng, 400, noise=wrench_noise(PHI, 0.02)) for phi in (PHI + CARRIER, CARRIER)
    ]
    settings = EstimatorSettings(unloaded=1)
    payload = estimate_body([log.blocks() for log in both], settings)
    ((name, carrier),) = payload.others.items()
    carrier = with_half_widths(carrier, 0.05, 1e-3, 0.1)
    payload = replace(with_half_widths(payload, 0.15, 1e-3, 0.1), others={name: carrier})
    of_payload, of_carrier = precision_findings(payload, "")
    assert (of_payload.severity, of_carrier.severity) == ("error", "warning")
    assert "the mass of the payload is known" in of_payload.text
    assert "the mass of the carrier is known" in of_carrier.text


def test_explicit_need_replaces_default_precision(estimate):
    wide = with_half_widths(estimate, 0.051, 5e-3, 0.9)
    assert list(precision_findings(wide, "mass 6%, com 6mm")) == []
    (unmet,) = precision_findings(wide, "mass 4%, com 6mm")
    assert (unmet.code, unmet.severity) == ("need_unmet", "error")
    assert_close(unmet.evidence["half_width"], 5.1, 1e-9)
    assert unmet.evidence["needed"] == 4.0
    assert unmet.text.startswith("the need mass 4% is not met: the mass is known to ± 5.1 %")
    assert unmet.remedy.endswith('fit again with --need "mass 6%, com 6mm".')
    other = replace(wide, findings=(Finding("unexplained", "error", "R² is 0.1."),))
    assert not any("fit again" in one.remedy for one in precision_findings(other, "mass 4%"))


@pytest.mark.parametrize(
    ("widths", "needs", "advice"),
    [
        ((0.01, 5.3e-3, 0.1), "com 4mm", '"mass, com 6mm, inertia".'),
        ((0.01, 5.3e-3, 0.1), "com 0.4 cm", '"mass, com 0.6cm, inertia".'),
        ((0.01, 5.3e-3, 0.1), "com 4mm, com 5.5mm", '"mass, com 5.5mm, inertia".'),
        ((0.01, 1e-3, 0.43), "inertia 20%", '"mass, com, inertia 50%".'),
        (
            (0.01, 0.03, 0.1),
            "com",
            '"mass, inertia"; exports, which need the centre of mass, stay refused.',
        ),
    ],
)
def test_an_unmet_need_suggests_the_next_that_is_met(estimate, widths, needs, advice):
    wide = with_half_widths(estimate, *widths)
    first = next(precision_findings(wide, needs))
    assert first.code == "need_unmet"
    assert first.remedy.endswith(f"fit again with --need {advice}")
    suggested = advice.partition('"')[2].partition('"')[0]
    assert all(required_precision_met(suggested, wide).values())


def test_a_suggested_need_is_no_laxer_than_the_poorest_usual_one(estimate):
    wide = with_half_widths(estimate, 0.12, 1e-3, 0.1)
    unmet = next(precision_findings(wide, "mass 8%", ARM_LIMITS))
    assert '--need "mass 15%, com, inertia"' in unmet.remedy


PRECISE = logged(exact(3), 3)


@pytest.mark.parametrize(
    ("log", "usable", "severity"),
    [
        (PRECISE, "yes", None),
        pytest.param(
            *(logged(exact(3), 3, noise=NOISY), "with care", "warning"), marks=pytest.mark.slow
        ),
        pytest.param(
            *(logged(exact(3, 4.0), 3, noise=NOISY), "no", "error"), marks=pytest.mark.slow
        ),
    ],
    ids=["precise", "noisy", "noisy and short"],
)
def test_a_log_is_usable_as_far_as_it_is_precise(log, usable, severity):
    result = identify.fit(log)
    assert result.verdict.usable == usable
    found = [one.severity for one in result.findings if one.code == "imprecise"]
    assert found[:1] == ([] if severity is None else [severity])
    assert ("imprecise" in result.verdict.reasons) == (severity is not None)
    levels = {result.verdict.quantities[quantity] for quantity in ("mass", "com")}
    allowed = {"yes": {"yes"}, "with care": {"yes", "with care"}}.get(usable, levels)
    assert levels <= allowed
    assert usable != "no" or "no" in levels


def test_a_gain_that_is_given_as_inexact_asks_for_care_with_and_without_a_need():
    inexact = with_schema(still(3), wrench={"gain_accuracy": 0.05})
    check = check_logs(inexact)
    assert check.passed, check.findings  # it is no fault of the log
    assert "scale_limit" in {finding.code for finding in check.findings}
    assert check.result is not None
    needed = (identify.fit(inexact, needs=needs) for needs in ("mass 2%", "compensation"))
    for result in (check.result, *needed):
        low, high = result.estimate.intervals["m"]
        assert high - low > 2.0 * 1.96 * 0.05 * result.estimate.mass
        assert result.verdict.usable == "with care"
        assert "scale_limit" in result.verdict.reasons
        assert result.verdict.quantities["mass"] == "with care"
    total = identify.fit(inexact, needs="mass 2% total").verdict
    assert (total.usable, dict(total.needs)) == ("no", {"mass 2% total": False})
    given = identify.fit(inexact, needs="mass 2%, inertia 9000%", mass=PHI[0])
    assert "scale_limit" not in given.verdict.reasons


def test_a_mass_without_a_given_scale_asks_to_weigh_the_body():
    for accuracy in (None, 0.005):
        table = {} if accuracy is None else {"gain_accuracy": accuracy}
        words = verdict_in_words(identify.fit(with_schema(still(3), wrench=table)))
        assert ("weigh the body" in words.quantities["mass"]) == (accuracy is None)


def test_a_need_that_the_scale_forbids_is_said_before_the_fit(caplog):
    log = logged(exact(3), 3)
    for accuracy, need, percent in ((0.02, "mass 3%", "3.2"), ([0.02] * 6, "mass 1%", "1.6")):
        caplog.clear()
        limited = identify.fit(with_schema(log, wrench={"gain_accuracy": accuracy}), needs=need)
        (line,) = caplog.messages
        assert line.startswith(f"need {need}: ")
        assert f"± {percent} % (95 %), however long the log." in line
        low, high = limited.estimate.intervals["m"]
        # The log in all attitudes comes within a fifth of that bound.
        ratio = 50.0 * (high - low) / limited.estimate.mass / float(percent)
        assert 0.98 < ratio < 1.2
        assert limited.verdict.reasons == ("scale_limit",)
    caplog.clear()
    identify.fit(with_schema(log, wrench={"gain_accuracy": 0.02}), needs="mass 4%")
    assert not caplog.messages


def test_static_poses_that_meet_needs_are_usable_with_default_body():
    without = identify.fit(still(3))
    assert without.verdict.usable == "with care"
    assert without.verdict.reasons == ("completed",)
    result = identify.fit(still(3), needs="mass 1%, com 2mm")
    assert result.verdict.needs == {"mass 1%": True, "com 2mm": True}
    assert "completed" in {finding.code for finding in result.findings}
    assert result.verdict.usable == "yes"
    assert result.verdict.reasons == ()
    of_inertia = identify.fit(still(3), needs="mass 1%, inertia 10%")
    assert of_inertia.verdict.usable == "no"
    assert of_inertia.findings[0].text == (
        "the need inertia 10% is not met: the inertia about the centre of mass has no interval "
        "(95 %)."
    )


def pushed(log: Recording) -> Recording:
    """A log whose body is pushed with 2 N for .6 s."""
    force = log.signals["force"].copy()
    force[len(force) // 2 :][:60] += [0.0, 0.0, 2.0]
    return replace(log, signals={**log.signals, "force": force})


@pytest.fixture(scope="module")
def fit_of_pushed() -> tuple[Recording, Result]:
    log = pushed(logged(exact(3), 3))
    return log, identify.fit(log)


def test_contact_invalidates_affected_needs_only(fit_of_pushed):
    log, whole = fit_of_pushed
    (contact,) = whole.findings
    assert (contact.code, whole.verdict.usable) == ("contact", "with care")
    assert contact.evidence["doubted"] == ["inertia"]
    assert "The mass and the centre of mass are nearly the same in both cases." in contact.text
    assert identify.fit(log, needs="mass 2%, com 1cm").verdict.usable == "yes"
    verdict = identify.fit(log, needs="mass 2%, inertia 10%").verdict
    assert (verdict.usable, verdict.reasons) == ("with care", ("contact",))
    assert all(verdict.needs.values())


def test_doubted_intervals_keep_bounds_and_cones_that_hold_at_once(fit_of_pushed):
    log, one = fit_of_pushed
    bound = MassBetween(0.5 * PHI[0], 1.0003 * PHI[0])
    low, high = identify.fit(log, terms=[bound]).estimate.intervals["m"]
    assert (low > bound.low, high) == (True, bound.high)
    at_once = identify.fit(log, simultaneous=True).estimate
    for axis, same in zip(one.estimate.principal_axes, at_once.principal_axes, strict=True):
        assert same.half_angle == pytest.approx(axis.half_angle, rel=1e-9)


@pytest.mark.slow
def test_displaced_point_does_not_invalidate_mass_need():
    log = displaced(logged(exact(3), 3), np.full(3, 3.5e-3))
    assert identify.fit(log, needs="mass 2%").verdict.usable == "yes"
    verdict = identify.fit(log, needs="mass 2%, com 1cm").verdict
    assert (verdict.usable, verdict.reasons) == ("with care", ("kinematic_offset",))


def test_after_an_error_of_the_torques_unit_no_quantity_is_usable(cli, tmp_path):
    """The small faults cannot be fitted: the error of the scale that the schema gives still counts.

    Both readings have nearly the same mass, as the torque in another unit has no weight in the fit.
    """
    quiet = Noise(position=1e-5, orientation=1e-5, force=0.03, torque=1e-3)
    log = logged(exact(3), 3, quiet)
    force, torque = np.split(wrench_of(log), 2, axis=1)
    in_nmm = with_wrench(log, np.concatenate((force, 1e3 * torque), axis=1))
    result = identify.fit(with_schema(in_nmm, wrench={"gain_accuracy": 0.005}), needs="mass 2%")
    assert result.findings[0].code == "torque_unit"
    assert set(result.verdict.quantities.values()) == {"no"}
    assert result.verdict.needs == {"mass 2%": False}
    answer = verdict_in_words(result)
    assert answer.needs["mass 2%"] == f"not met, {answer.quantities['mass'].removeprefix('no, ')}"
    assert result.estimate.interval_kind.endswith(GIVEN_SCALE_ALONE)
    assert half_width(result.estimate, "m", total=True) > 0.008 * PHI[0]
    assert half_width(result.estimate, "m", total=False) < 0.002 * PHI[0]
    path = write_estimate(result.estimate, tmp_path / "estimate.json")
    for name in CONTROLLERS:
        refused = cli("export", path, "--to", name, "--at", *"000000")
        assert (refused.status, refused.out) == (4, "")
        assert 'set `torque_unit = "Nmm"`' in refused.err


def test_unneeded_quantities_are_not_among_the_reasons():
    result = identify.fit(still(3), needs="mass")
    assert "completed" in {finding.code for finding in result.findings}
    assert (result.verdict.usable, verdict_in_words(result).usable) == ("yes", "yes")
    shown = [line for line in summary(result, None) if isinstance(line, str)]
    assert not any(line.startswith("Note [completed]") for line in shown)
    assert any("completed" in line for line in shown if line.startswith("Notes, with --verbose"))


LENGTH = np.array([0.0, 0.0, 0.12])
FLANGE = BodyFrame(flange=Pose(np.eye(3), -LENGTH))


def of_tool_point(frame: BodyFrame, shift: np.ndarray = LENGTH) -> Recording:
    """A log of the wrench at the flange and of the pose of a tool point so far from it."""
    return replace(displaced(logged(exact(3), 3), shift), body_frame=frame)


@pytest.mark.slow
@pytest.mark.parametrize("frame", [FLANGE, BodyFrame(flange=Pose.identity())])
def test_a_flange_whose_place_is_doubted_forbids_the_use_of_the_centre_of_mass_alone(frame):
    result = identify.fit(of_tool_point(frame))
    levels = {"mass": "yes", "com": "no", "inertia": "yes"}
    assert (result.verdict.usable, dict(result.verdict.quantities)) == ("no", levels)
    assert result.verdict.reasons == ("imprecise", "kinematic_offset")
    first = result.findings[0]
    assert (first.code, first.severity) == ("imprecise", "error")
    assert "about the flange is known to ± 120 mm, beyond 20 mm" in first.text
    assert "`kinematic_offset`" in first.remedy
    assert '--need "mass, inertia"; exports, which need the centre of mass, stay' in first.remedy
    of_mass = identify.fit(of_tool_point(frame), needs="mass")
    assert (of_mass.verdict.usable, dict(of_mass.verdict.quantities)) == ("yes", levels)
    mark = "poor centre of mass: the flange may be 120 mm from where the schema places it"
    assert export_body(of_mass.estimate, "ur").text.startswith(f"# {mark}\n")
    unmet = identify.fit(of_tool_point(frame), needs="controller").verdict
    assert (unmet.usable, unmet.needs["com 4mm"]) == ("no", False)


@pytest.mark.slow
def test_a_displaced_point_is_used_with_care_if_the_flange_is_near_or_no_answer_is_about_it():
    near = identify.fit(of_tool_point(FLANGE, np.full(3, 3.5e-3)))
    assert near.verdict.quantities["com"] == near.verdict.usable == "with care"
    assert "known to ± 6.1 mm, beyond 4 mm" in next(
        f.text for f in near.findings if f.code == "imprecise"
    )
    about_wrench = identify.fit(of_tool_point(BodyFrame("wrist sensor"))).verdict
    assert (about_wrench.usable, about_wrench.reasons) == ("with care", ("kinematic_offset",))
    assert about_wrench.quantities["com"] == "with care"
