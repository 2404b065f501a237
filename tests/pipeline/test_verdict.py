"""What an estimate is good for: how precise it is, and whether that is as needed."""

from dataclasses import replace

import numpy as np
import pytest

import identify
from identify import Estimate, Recording
from identify.estimation import EstimatorSettings, estimate_body
from identify.estimation.intervals import COM_NAMES
from identify.estimation.terms import MassBetween
from identify.logs.synthetic import Noise
from identify.pipeline.required_precision import ARM_LIMITS, precision_findings, repeatability
from tests.close import assert_close
from tests.estimation.simulated import samples, wrench_noise
from tests.small_faults import PHI, displaced, exact, late, logged, still, with_schema
from tests.strategies import random_body

NOISY = Noise(position=1e-4, orientation=5e-4, force=10.0, torque=1.0)
CARRIER = random_body(np.random.default_rng(2), 2.0, 0.1)


@pytest.fixture(scope="module")
def estimate() -> Estimate:
    rng = np.random.default_rng(3)
    phi = random_body(rng)
    log = samples(phi, rng, 400, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6))
    return estimate_body([log.blocks()])


def with_half_widths(estimate: Estimate, mass: float, com: tuple[float, float, float]) -> Estimate:
    """The estimate with other intervals of mass, relative, and of the centre of mass [m]."""
    widths = {"m": (estimate.mass, mass * estimate.mass)}
    widths |= {name: each for name, *each in zip(COM_NAMES, estimate.com, com, strict=True)}
    intervals = {name: (value - half, value + half) for name, (value, half) in widths.items()}
    return replace(estimate, intervals={**estimate.intervals, **intervals})


@pytest.mark.parametrize(
    ("mass", "com", "severity"),
    [
        (0.019, (3.9e-3, 1e-3, 3.9e-3), None),
        (0.021, (1e-3, 1e-3, 1e-3), "warning"),
        (0.001, (1e-3, 4.1e-3, 1e-3), "warning"),
        (0.001, (1e-3, 1e-3, 4.1e-3), "warning"),
        (0.099, (19e-3, 1e-3, 19e-3), "warning"),
        (0.101, (1e-3, 1e-3, 1e-3), "error"),
        (0.001, (20.1e-3, 1e-3, 1e-3), "error"),
        (0.5, (1.0, 1.0, 1.0), "error"),
    ],
)
def test_imprecise_mass_and_centre_are_reported(estimate, mass, com, severity):
    found = list(precision_findings(with_half_widths(estimate, mass, com), ""))
    if severity is None:
        assert found == []
        return
    (one,) = found
    assert (one.code, one.severity) == ("imprecise", severity)
    assert_close(one.evidence["mass"], mass, 1e-9)
    assert_close(one.evidence["com"], max(com), 1e-9)
    assert f"± {100.0 * mass:.2g} %" in one.text
    millimetres = f"{1e3 * max(com):.2g}".replace("1e+03", "1000")
    assert f"± {millimetres} mm" in one.text
    beyond = "beyond 2 % or 4 mm" if severity == "warning" else "beyond 10 % or 20 mm"
    assert beyond in one.text


@pytest.mark.parametrize(
    ("mass", "com", "severity"),
    [
        (0.059, 9.9e-3, []),
        (0.061, 1e-3, ["warning"]),
        (0.149, 39e-3, ["warning"]),
        (0.151, 1e-3, ["error"]),
        (0.01, 41e-3, ["error"]),
    ],
)
def test_loads_from_joint_torques_have_wider_limits(estimate, mass, com, severity):
    wide = with_half_widths(estimate, mass, (com, 1e-3, 1e-3))
    found = list(precision_findings(wide, "", ARM_LIMITS))
    assert [one.severity for one in found] == severity
    for one in found:
        limits = "15 % or 40 mm" if severity == ["error"] else "6 % or 10 mm"
        assert f"beyond {limits}" in one.text


def test_centre_without_interval_makes_estimate_unusable(estimate):
    intervals = {**estimate.intervals, "cy": None}
    (one,) = precision_findings(replace(estimate, intervals=intervals), "")
    assert (one.code, one.severity) == ("imprecise", "error")


def test_sensor_scale_error_does_not_count_as_imprecise(estimate):
    """The intervals count it; logs of one sensor differ by the rest."""
    phi, share = estimate.parameters.phi, 0.05
    calibration = share**2 * np.outer(phi, phi)  # of a gain that all channels have in common
    wide = replace(
        with_half_widths(estimate, 1.96 * share, (1e-3, 1e-3, 1e-3)),
        covariance=estimate.covariance + calibration,
        calibration=calibration,
    )
    errors = [np.sqrt(one.covariance[0, 0]) for one in (estimate, wide)]
    mass, com = repeatability(wide)
    assert_close(mass, 1.96 * share * estimate.mass * errors[0] / errors[1], 1e-9)
    assert_close(com, 1e-3, 1e-9)  # the centre of mass is that of any scale
    assert list(precision_findings(wide, "")) == []
    (unmet,) = precision_findings(wide, "mass 1%")
    assert "a longer log does not narrow it" in unmet.remedy
    (short,) = precision_findings(wide, "mass 0.001%")
    assert short.remedy.startswith("Log longer")
    unknown = replace(wide, calibration=None)
    assert [one.code for one in precision_findings(unknown, "")] == ["imprecise"]


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
    (name, carrier), precise = *payload.others.items(), (1e-3, 1e-3, 1e-3)
    carrier = with_half_widths(carrier, 0.05, precise)
    payload = replace(with_half_widths(payload, 0.15, precise), others={name: carrier})
    of_payload, of_carrier = precision_findings(payload, "")
    assert (of_payload.severity, of_carrier.severity) == ("error", "warning")
    assert "the mass of the payload is known" in of_payload.text
    assert "the mass of the carrier is known" in of_carrier.text


def test_explicit_need_replaces_default_precision(estimate):
    wide = with_half_widths(estimate, 0.05, (5e-3, 5e-3, 5e-3))
    assert list(precision_findings(wide, "mass 6%, com 6mm")) == []
    (unmet,) = precision_findings(wide, "mass 4%, com 6mm")
    assert (unmet.code, unmet.severity) == ("need_unmet", "error")
    assert_close(unmet.evidence["half_width"], 5.0, 1e-9)
    assert unmet.evidence["needed"] == 4.0
    assert unmet.text.startswith("the need mass 4% is not met: the mass is known to ± 5 %")


PRECISE = logged(exact(3), 3)


@pytest.mark.parametrize(
    ("log", "usable", "severity"),
    [
        (PRECISE, "yes", None),
        (logged(exact(3), 3, noise=NOISY), "with care", "warning"),
        (logged(exact(3, 4.0), 3, noise=NOISY), "no", "error"),
    ],
    ids=["precise", "noisy", "noisy and short"],
)
def test_a_log_is_usable_as_far_as_it_is_precise(log, usable, severity):
    result = identify.fit(log)
    assert result.verdict.usable == usable
    found = [one.severity for one in result.findings if one.code == "imprecise"]
    assert found == ([] if severity is None else [severity])
    assert ("imprecise" in result.verdict.reasons) == (severity is not None)
    mass, com = repeatability(result.estimate)
    limits = {None: (0.02, 0.004), "warning": (0.1, 0.02)}.get(severity, (np.inf, np.inf))
    assert mass / result.estimate.mass <= limits[0]
    assert com <= limits[1]


def test_a_gain_that_is_given_as_inexact_makes_no_estimate_imprecise():
    result = identify.fit(with_schema(still(3), wrench={"gain_accuracy": 0.05}))
    low, high = result.estimate.intervals["m"]
    assert high - low > 2.0 * 1.96 * 0.05 * result.estimate.mass
    assert "imprecise" not in result.verdict.reasons
    needed = identify.fit(with_schema(still(3), wrench={"gain_accuracy": 0.05}), needs="mass 2%")
    assert needed.verdict.usable == "no"
    assert needed.verdict.needs == {"mass 2%": False}


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


def test_contact_invalidates_affected_needs_only():
    log = pushed(logged(exact(3), 3))
    whole = identify.fit(log)
    (contact,) = whole.findings
    assert (contact.code, whole.verdict.usable) == ("contact", "with care")
    assert contact.evidence["doubted"] == ["inertia"]
    assert "The mass and the centre of mass are nearly the same in both cases." in contact.text
    assert identify.fit(log, needs="mass 2%, com 1cm").verdict.usable == "yes"
    verdict = identify.fit(log, needs="mass 2%, inertia 10%").verdict
    assert (verdict.usable, verdict.reasons) == ("with care", ("contact",))
    assert all(verdict.needs.values())


def test_doubted_intervals_keep_bounds_and_cones_that_hold_at_once():
    log = pushed(logged(exact(3), 3))
    bound = MassBetween(0.5 * PHI[0], 1.0003 * PHI[0])
    low, high = identify.fit(log, terms=[bound]).estimate.intervals["m"]
    assert (low > bound.low, high) == (True, bound.high)
    one, at_once = (identify.fit(log, simultaneous=flag).estimate for flag in (False, True))
    for axis, same in zip(one.principal_axes, at_once.principal_axes, strict=True):
        assert same.half_angle == pytest.approx(axis.half_angle, rel=1e-9)


def test_displaced_point_does_not_invalidate_mass_need():
    log = displaced(logged(exact(3), 3), np.full(3, 3.5e-3))
    assert identify.fit(log, needs="mass 2%").verdict.usable == "yes"
    verdict = identify.fit(log, needs="mass 2%, com 1cm").verdict
    assert (verdict.usable, verdict.reasons) == ("with care", ("kinematic_offset",))
