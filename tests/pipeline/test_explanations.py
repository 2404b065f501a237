from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.diagnosis import Explanation, Fault, Ranking
from identify.diagnosis.body_likelihood import (
    BandRows,
    fit_body,
    high_snr_bands,
    motion_noise_map,
    pseudo_inertia_spectrum,
)
from identify.diagnosis.faults import faults_of
from identify.inertia import InertialParameters, pseudo_inertia
from identify.inertia.consistency import MAX_DENSITY, density_lower_bound, mean_density
from identify.logs import Recording, read_log
from identify.logs.log_properties import LogProperties
from identify.logs.synthetic import Noise, random_motion, synthetic_recording
from identify.pipeline import check_logs
from identify.pipeline.check_findings import (
    likeliest_explanation_finding,
    quantities_that_differ,
)
from identify.pipeline.checks import Checks
from identify.pipeline.corrected_logs import NotCorrected
from identify.pipeline.correcting import _correct_fault_of_code
from identify.pipeline.interpretation_comparison import rank_explanations
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors import summarise_log
from identify.significance import CLEAR_LIKELIHOOD_LEAD
from tests.close import assert_close
from tests.recordings import (
    GRAVITY,
    WRENCH_ARRAYS,
    Path,
    record,
    still_poses,
    with_signals as changed_signals,
)
from tests.slow import few_or_many, mostly_slow
from tests.strategies import random_body

BODY = random_body(np.random.default_rng(11))
TIME = np.arange(0.0, 12.0, 0.02)
NOISE = {"force": 0.05, "torque": 0.005, "position": 2e-5, "quaternion": 2e-5}
CLEAN = record(Path.random(5), BODY, TIME, bias=np.full(6, 0.3), noise=NOISE)
SCHEMA = {
    "log": {"time": "t", "time_unit": "s"},
    "pose": {"position": list("xyz"), "quaternion": list("abcd")},
    "wrench": {"force": ["fx", "fy", "fz"], "torque": ["tx", "ty", "tz"], "acts_on": "body"},
}


def with_signals(**changed) -> Recording:
    return replace(CLEAN, signals={**CLEAN.signals, **changed}, schema=SCHEMA)


def slips_of(log: Recording) -> list[Fault]:
    facts = LogProperties.of(log, (1.0, 1.0))
    return [fault for (fault,) in faults_of([facts]) if fault.parameters is None]


def ranked(log: Recording) -> Ranking:
    return rank_explanations([ScannedLog(log, summarise_log(log))])


F, T = CLEAN.signals["force"], CLEAN.signals["torque"]
Q, P = CLEAN.signals["quaternion"], CLEAN.signals["position"]
TURN = Rotation.from_quat(Q)
SLIPS = {
    "wrench_sign": (with_signals(force=-F, torque=-T), '`acts_on = "sensor"`'),
    "force_sign": (with_signals(force=-F), '`force = ["-fx", "-fy", "-fz"]`'),
    "torque_sign": (with_signals(torque=-T), '`torque = ["-tx", "-ty", "-tz"]`'),
    "wrench_axes": (
        with_signals(force=F[:, [1, 0, 2]], torque=T[:, [1, 0, 2]]),
        '`force = ["fy", "fx", "fz"]`',
    ),
    "torque_unit": (with_signals(torque=1e3 * T), '`torque_unit = "Nmm"`'),
    "gravity_direction": (
        replace(with_signals(), gravity=np.array([0.0, 9.80665, 0.0])),
        "`gravity = [0.0, 0.0, -9.80665]`",
    ),
    "position_unit": (with_signals(position=1e3 * P), '`position_unit = "mm"`'),
    "quaternion_order": (with_signals(quaternion=np.roll(Q, 1, axis=1)), '`order = "wxyz"`'),
    "pose_maps": (with_signals(quaternion=TURN.inv().as_quat()), '`maps = "world_to_body"`'),
    "position_axes": (with_signals(position=TURN.inv().apply(P)), '`position_axes = "body"`'),
    "wrench_frame": (
        with_signals(force=TURN.apply(F), torque=TURN.apply(T)),
        '`frame = "world"`',
    ),
    "already_compensated": (
        with_signals(force=F - BODY[0] * -TURN.inv().apply(GRAVITY)),
        "without gravity compensation",
    ),
}


SHOWN_BELOW = {
    *("wrench_sign", "force_sign", "torque_sign", "wrench_axes", "torque_unit"),
    *("position_unit", "quaternion_order", "pose_maps"),
}
"""Slips that other tests here, and those of checks and of rotations, name in quick logs too."""


@pytest.mark.parametrize("code", mostly_slow(SLIPS, SLIPS.keys() - SHOWN_BELOW))
def test_misreading_is_reported_with_schema_line_and_corrected_mass(code):
    log, line = SLIPS[code]
    if code == "already_compensated":  # its torque too
        up = -TURN.inv().apply(GRAVITY)
        log = replace(log, signals={**log.signals, "torque": T - np.cross(BODY[1:4], up)})
    found = ranked(log)
    assert not found.confirms_schema
    best = found.best
    assert best.code == code
    assert found.lead > CLEAR_LIKELIHOOD_LEAD
    assert line in best.remedy
    assert_close(best.mass, BODY[0], 0.05 if code == "already_compensated" else 5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("code", few_or_many("pose_maps", "quaternion_order"))
def test_misread_pose_under_inverted_gravity_keeps_centre_of_mass(code):
    """A position and a force of the other sign explain it as well, by a body mirrored in Bo."""
    log = replace(SLIPS[code][0], gravity=-GRAVITY)
    found = ranked(log)
    assert found.best.code == code
    assert "gravity points the other way" in found.best.text
    assert "`gravity = [0.0, 0.0, -9.80665]`" in found.best.remedy
    assert_close(found.best.phi[:4], BODY[:4], 5e-3)


@pytest.mark.parametrize("frame", few_or_many("world", "body"))
@pytest.mark.parametrize(
    ("key", "axis"), mostly_slow([("force", 1), ("torque", 2)], [("force", 1)])
)
def test_the_sign_of_a_single_axis_is_named(frame, key, axis):
    sign = np.where(np.arange(3) == axis, -1.0, 1.0)
    turned = TURN if frame == "world" else Rotation.identity()
    loads = {"force": turned.apply(F), "torque": turned.apply(T)}
    loads[key] = loads[key] * sign
    log = with_signals(**loads)
    schema = {**SCHEMA, "wrench": {**SCHEMA["wrench"], "frame": frame}}
    found = ranked(replace(log, frames={**log.frames, "wrench": frame}, schema=schema))
    assert found.best.code == f"{key}_sign"
    assert found.best.text == f"{'xyz'[axis]} of the {key} alone has the other sign"
    assert f'"-{key[0]}{"xyz"[axis]}"' in found.best.remedy
    assert found.lead > CLEAR_LIKELIHOOD_LEAD


AXES = [[0.36, -0.48, 0.8], [0.1, 0.7, 0.7], [-0.8, 0.0, 0.6]]


@pytest.mark.parametrize("axis", mostly_slow(AXES, AXES[:1]))
def test_a_sensor_turned_by_more_than_a_right_angle_is_found_at_its_size(axis):
    turn = Rotation.from_rotvec(np.radians(91.0) * np.array(axis) / np.linalg.norm(axis))
    log = with_signals(force=turn.apply(F), torque=turn.apply(T))
    found = ranked(log)
    assert found.best.code == "wrench_misaligned"
    assert found.lead > CLEAR_LIKELIHOOD_LEAD
    patch = found.best.faults[0].patch(np.zeros(0))
    quaternion = np.array(patch["wrench.mount.quaternion"])
    assert_close(Rotation.from_quat(quaternion).as_matrix(), turn.inv().as_matrix(), 5e-3)
    assert_close(found.best.mass, BODY[0], 5e-3)


@pytest.mark.slow
def test_quarter_turn_is_reported_as_swapped_axes():
    quarter = Rotation.from_rotvec([0.0, 0.0, np.pi / 2.0])
    found = ranked(with_signals(force=quarter.apply(F), torque=quarter.apply(T)))
    assert [each.code for each in found.tied] == ["wrench_axes"]


def relieved(mass: float, com: np.ndarray) -> Recording:
    """The log without the weight of another body."""
    weight = mass * TURN.inv().apply(GRAVITY)
    return with_signals(force=F + weight, torque=T + np.cross(com, weight))


@pytest.mark.slow
def test_overcompensated_weight_is_detected_without_fit():
    """The mass is then negative: no sign is wrong."""
    com = BODY[1:4] / BODY[0] + [0.03, 0.0, -0.02]
    found = check_logs(relieved(1.4, com))
    assert found.result is None
    (first,) = found.findings
    assert first.code == "partly_compensated"
    assert "most likely the weight of a body of 1.4" in found.fit_error
    assert "[wrench.compensated] the mass and the centre of mass" in found.fit_error


def said_to_lack(log: Recording, mass: float, com: list[float]) -> Recording:
    """The log whose schema says that the weight of such a body was taken off."""
    weight = {"mass": mass, "com": com, "frame": "body"}
    schema = {**SCHEMA, "wrench": {**SCHEMA["wrench"], "compensated": weight}}
    return replace(log, schema=schema, compensated=(mass, *(mass * np.array(com))))


def test_uncompensated_log_marked_as_compensated_is_detected():
    log = said_to_lack(with_signals(), 1.4, [0, 0, 0.05])
    found = ranked(log)
    assert found.best.code == "partly_compensated"
    assert "that of the 1.4 kg of [wrench.compensated] was never subtracted" in found.best.text
    assert found.best.remedy == "In the schema, [wrench], leave `compensated` out."
    assert found.lead > CLEAR_LIKELIHOOD_LEAD
    assert_close(found.best.mass, BODY[0], 5e-3)


@pytest.mark.slow
def test_faults_of_compensated_log_refer_to_logged_wrench():
    com = np.array([0.01, 0.02, 0.05])
    right = said_to_lack(relieved(0.6, com), 0.6, com.tolist())
    assert ranked(right).confirms_schema
    wrong = changed_signals(right, torque=-right.signals["torque"])
    found = ranked(wrong)
    assert found.best.code == "torque_sign"
    assert_close(found.best.mass, BODY[0], 5e-3)
    wide = BandRows.of(summarise_log(wrong, wide=True).statistics)
    mapped = wide.mapped(found.best.faults[0].fit_map()).factors[:, :, :18]
    read = BandRows.of(summarise_log(right, wide=True).statistics).factors[:, :, :18]
    assert_close(np.swapaxes(mapped, 1, 2) @ mapped, np.swapaxes(read, 1, 2) @ read, 1e-9)


UNITS = {
    "torque_unit, lbf in": (1.0, 1.0 / 0.1129848290276167, '`torque_unit = "lbfin"`'),
    "force_unit, lbf": (1.0 / 4.4482216152605, 1.0, '`force_unit = "lbf"`'),
    "both in pounds": (
        1.0 / 4.4482216152605,
        1.0 / 1.3558179483314004,
        '`force_unit = "lbf"` and change `torque_unit = "Nm"` to `torque_unit = "lbfft"`',
    ),
    "force_unit, kN": (1e-3, 1.0, '`force_unit = "kN"`'),
}


@pytest.mark.parametrize("case", mostly_slow(UNITS, {"both in pounds"}))
def test_units_are_tried_alone_and_together(case):
    force, torque, line = UNITS[case]
    units = {"force_unit": "N", "torque_unit": "Nm"}
    log = replace(
        with_signals(force=force * F, torque=torque * T),
        schema={**SCHEMA, "wrench": {**SCHEMA["wrench"], **units}},
    )
    found = ranked(log)
    assert line in found.best.remedy
    assert found.lead > CLEAR_LIKELIHOOD_LEAD
    assert_close(found.best.mass, BODY[0], 5e-3)


def test_density_distinguishes_unit_errors_of_equal_ratio():
    found = ranked(with_signals(torque=1e3 * T))
    assert [each.code for each in found.tied] == ["torque_unit"]
    assert "of a mean density of" in found.best.text
    assert "not as where the force is in kN" in found.best.text


def test_raw_counts_are_proposed_for_implausible_mass():
    log = with_signals(force=400.0 * F, torque=8000.0 * T)
    found = ranked(log)
    assert not found.confirms_schema
    assert found.best.raw_counts
    for each in found.explanations:
        heavy = each.mass > 2300.0 or mean_density(each.phi) > 2.5e4
        assert not (each.code in ("force_unit", "torque_unit") and heavy)
    finding = likeliest_explanation_finding(found)
    assert "20" in finding.text
    assert "known only after calibration" in finding.text
    assert "Counts? Apply the sensor's calibration" in finding.remedy
    assert "--apply" not in finding.remedy
    checks = Checks(ranking=found)
    with pytest.raises(NotCorrected, match="does not determine the scale"):
        _correct_fault_of_code([ScannedLog(log, summarise_log(log))], checks, "gain", ())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_force_in_counts_is_not_reported_as_torque_sign(seed):
    rng = np.random.default_rng(seed)
    noise = Noise(position=5e-5, orientation=1e-4, force=0.08, torque=0.004)
    inertia = np.diag([1.5e-3, 1.2e-3, 1e-3])
    phi = InertialParameters.from_com(0.8, [-0.02, 0.0, 0.05], inertia).phi
    motion = random_motion(rng, turn=1.5)
    log = synthetic_recording(phi, rng=rng, motion=motion, rate_hz=100.0, noise=noise)
    log = changed_signals(log, force=np.round(50.0 * log.signals["force"]))
    found = check_logs(log).findings
    assert (found[0].code, found[0].severity) == ("gain", "error")
    assert "as in raw counts" in found[0].text


def test_ambiguous_units_are_all_listed_and_not_applied():
    """A torque in N cm, or both in kgf and kgf cm: of a body ten times as heavy."""
    log = with_signals(torque=1e2 * T)
    scanned = ScannedLog(log, summarise_log(log))
    ranking = rank_explanations([scanned])
    finding = likeliest_explanation_finding(ranking)
    assert "the torque is in Ncm" in finding.text
    assert "the force is in kgf, not in N and the torque is in kgfcm" in finding.text
    assert finding.text.count("kg/m³") == 2
    assert finding.evidence["equivalent"] == ["torque_unit"]
    checks = Checks(ranking=ranking)
    with pytest.raises(NotCorrected, match=r'torque_unit .*: .* distinguish it from "the .* kgfcm'):
        _correct_fault_of_code([scanned], checks, "torque_unit", ())


def test_a_tie_of_units_is_rejected_by_either_code():
    """As where the log does not tell the body's size, and so no density."""
    texts = ("the force is in kN, not in N", "the torque is in Nmm, not in Nm")
    point = np.eye(10)[0]
    faults = [fault for fault in slips_of(with_signals()) if fault.text in texts]
    ranking = Ranking.of([Explanation(100.0, point, (fault,)) for fault in faults])
    assert len(ranking.tied) == 2
    for code in ("force_unit", "torque_unit"):
        with pytest.raises(NotCorrected, match="these logs cannot distinguish"):
            _correct_fault_of_code([], Checks(ranking=ranking), code, ())


def test_time_in_another_unit_is_named_by_its_line():
    """A clock of milliseconds taken for seconds: everything is a thousand times as slow."""
    slow = replace(
        with_signals(),
        time=1e3 * TIME,
        schema={**SCHEMA, "log": {"time": "t", "time_unit": "s"}},
    )
    found = ranked(slow)
    assert found.best.code == "time_unit"
    assert '`time_unit = "ms"`' in found.best.remedy


@pytest.mark.slow  # as a checked log is in `test_clean_log_has_no_findings`
def test_a_clean_log_is_as_it_was_read():
    found = ranked(with_signals())
    assert found.confirms_schema
    assert found.best.code == ""
    assert_close(found.best.mass, BODY[0], 5e-3)


def test_static_poses_do_not_determine_torque_sign():
    rotations = Rotation.random(12, rng=np.random.default_rng(2))
    log = still_poses(BODY, rotations, bias=np.full(6, 0.2), noise=0.02)
    assert ranked(log).confirms_schema


def test_single_static_pose_has_no_alternative_explanation():
    log = still_poses(BODY, Rotation.random(1, rng=np.random.default_rng(2)))
    assert ranked(log).confirms_schema


def test_a_unit_and_a_sign_that_are_both_wrong_are_named_together():
    best = ranked(with_signals(position=1e3 * P, force=-F, torque=-T)).best
    assert best.code == "position_unit"
    assert all(SLIPS[code][1] in best.remedy for code in ("position_unit", "wrench_sign"))
    assert_close(best.mass, BODY[0], 5e-3)


def test_mapped_statistics_match_rescanned_log():
    """Each linear fault of the wrench, against a log whose wrench was changed."""
    wide = BandRows.of(summarise_log(with_signals(), wide=True).statistics)
    for one in slips_of(with_signals()):
        if one.code not in ("force_sign", "torque_sign", "torque_unit"):
            continue
        C = one.fit_map()[13:19, 13:19].T
        wrench = np.hstack((F, T)) @ C.T
        changed = with_signals(force=wrench[:, :3], torque=wrench[:, 3:])
        other = BandRows.of(summarise_log(changed, wide=True).statistics)
        mapped, read = (rows.factors[:, :, :18] for rows in (wide.mapped(one.fit_map()), other))
        assert_close(np.swapaxes(mapped, 1, 2) @ mapped, np.swapaxes(read, 1, 2) @ read, 1e-9)


def test_the_misfit_is_a_likelihood_and_its_body_least_squares():
    rows = BandRows.of(summarise_log(with_signals(), wide=True).statistics)
    found = fit_body([rows])
    assert_close(found.phi[0], BODY[0], 5e-3)
    assert np.linalg.eigvalsh(pseudo_inertia(found.phi))[0] > 0.0
    factors = rows.factors.copy()
    factors[:, :, 12:18] *= 2.0
    twice = fit_body([replace(rows, factors=factors)])
    n = rows.effective_samples.sum()
    assert_close(twice.cost - found.cost, 12.0 * n * np.log(2.0), 1e-6)
    assert_close(twice.phi, 2.0 * found.phi, 1e-6)


@pytest.mark.slow
def test_axes_of_a_wrench_in_world_axes_are_found_by_reading_it_again():
    world = {"force": TURN.apply(F)[:, [1, 0, 2]], "torque": TURN.apply(T)[:, [1, 0, 2]]}
    log = with_signals(**world)
    schema = {**SCHEMA, "wrench": {**SCHEMA["wrench"], "frame": "world"}}
    found = ranked(replace(log, frames={**log.frames, "wrench": "world"}, schema=schema))
    assert found.best.code == "wrench_axes"
    assert "what the log calls y, x, z" in found.best.text
    assert found.lead > CLEAR_LIKELIHOOD_LEAD
    assert_close(found.best.mass, BODY[0], 5e-3)


def test_small_gravity_error_is_not_a_wrong_direction():
    tilted = Rotation.from_rotvec([0.1, 0.0, 0.0]).apply(GRAVITY)
    changes = [
        a.text
        for a in slips_of(replace(with_signals(), gravity=tilted))
        if a.code == "gravity_direction"
    ]
    assert len([text for text in changes if "points along" in text]) == 5
    assert not any("-z of" in text for text in changes)


TWO_MISTAKES = {
    "sign and unit": (
        with_signals(force=-F, torque=-1e3 * T),
        {"wrench.acts_on": "sensor", "wrench.torque_unit": "Nmm"},
    ),
    "axes and unit of the position": (
        with_signals(force=F[:, [1, 0, 2]], torque=T[:, [1, 0, 2]], position=1e3 * P),
        {
            "wrench.force": ["fy", "fx", "fz"],
            "wrench.torque": ["ty", "tx", "tz"],
            "pose.position_unit": "mm",
        },
    ),
    "gravity and unit": (
        replace(with_signals(torque=1e3 * T), gravity=-np.asarray(GRAVITY)),
        {"world.gravity": list(GRAVITY), "wrench.torque_unit": "Nmm"},
    ),
    "order and unit": (
        with_signals(quaternion=np.roll(Q, 1, axis=1), torque=1e3 * T),
        {"pose.order": "wxyz", "wrench.torque_unit": "Nmm"},
    ),
    "frame, gravity and sign": (
        replace(
            with_signals(force=-TURN.apply(F), torque=-TURN.apply(T)),
            gravity=-np.asarray(GRAVITY),
            schema={**SCHEMA, "world": {"gravity": [-float(g) for g in GRAVITY]}},
        ),
        {
            "wrench.frame": "world",
            "wrench.acts_on": "sensor",
            "world.gravity": list(GRAVITY),
        },
    ),
}


@pytest.mark.parametrize("mistakes", mostly_slow(TWO_MISTAKES, {"frame, gravity and sign"}))
def test_several_mistakes_at_once_are_named_together(mistakes):
    log, patch = TWO_MISTAKES[mistakes]
    best = ranked(log).best
    assert best.schema_patch == patch
    assert_close(best.mass, BODY[0], 5e-3)


def test_logs_that_small_faults_explain_are_compared_with_fewer_combinations():
    scanned = [ScannedLog(CLEAN, summarise_log(CLEAN))]
    scanned = [scanned[0]._replace(source=with_signals(), summary=summarise_log(with_signals()))]
    few, many = (rank_explanations(scanned, explained=is_so) for is_so in (True, False))
    texts = {
        each.text for each in few.explanations if each.faults and not each.faults[0].parametric
    }
    assert texts < {each.text for each in many.explanations}
    assert not few.best.code
    assert not many.best.code


@pytest.mark.parametrize(
    ("speeds", "unit", "factors"),
    [
        ((0.04, 0.05), "s", {1e-3, 0.5, 2.0}),
        ((0.04, 0.05), "ns", {0.5, 2.0}),
        ((40.0, 80.0), "ms", {2.0, 1e3}),
        ((40.0, 80.0), "s", {2.0}),
    ],
)
def test_units_of_time_are_those_that_a_clock_has(speeds, unit, factors):
    tables = {**SCHEMA, "log": {"time": "t", "time_unit": unit}}
    facts = LogProperties.of(replace(with_signals(), schema=tables), speeds)
    tried = [fault for (fault,) in faults_of([facts]) if fault.code == "time_unit"]
    assert {fault.time_factor for fault in tried} == factors


def test_a_world_of_other_gravity_is_not_a_mirrored_position():
    found = ranked(replace(with_signals(force=-F), gravity=-np.asarray(GRAVITY)))
    assert found.best.text == (
        "gravity points along -z of the world's axes, and the force alone has the other sign"
    )
    assert_close(found.best.mass, BODY[0], 5e-3)


def sliding(seed: int) -> Recording:
    """A heavy body far from the sensor that does not turn, with noise in its attitude."""
    phases = np.random.default_rng(seed).uniform(0.0, 6.0, 3)
    position = 0.05 * np.sin(4.0 * TIME[:, None] * [1.0, 0.8, 0.6] + phases)
    heavy = InertialParameters.from_com(4.0, [0.2, -0.1, 0.25], 0.02 * np.eye(3)).phi
    still = np.tile(Rotation.random(random_state=seed).as_quat(), (len(TIME), 1))
    a = np.gradient(np.gradient(position, TIME, axis=0), TIME, axis=0) - GRAVITY
    f = heavy[0] * Rotation.from_quat(still).inv().apply(a)
    rng = np.random.default_rng(seed)
    return read_log(
        {
            "time": TIME,
            "position": position + 2e-5 * rng.normal(size=position.shape),
            "quaternion": still + 1e-4 * rng.normal(size=still.shape),
            "force": f + 0.02 * rng.normal(size=f.shape),
            "torque": np.cross(heavy[1:4] / heavy[0], f) + 2e-3 * rng.normal(size=f.shape),
        },
        {
            "log": {"time": "time"},
            "pose": {"position": "position", "quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS,
        },
    )


@pytest.mark.parametrize("seed", mostly_slow(range(4), {0}))
def test_a_body_that_does_not_turn_has_no_other_unit(seed):
    """Torques of angular accelerations that are noise would be smaller in a smaller unit."""
    assert ranked(sliding(seed)).confirms_schema


def test_motion_that_is_noise_is_dropped():
    for log, turns in ((sliding(0), False), (CLEAN, True)):
        scanned = ScannedLog(log, summarise_log(log))
        statistics = scanned.rescan_subset(10_000, all_columns=True).statistics
        rows = BandRows.of(statistics, high_snr_bands(statistics, log.gravity))
        M = motion_noise_map(statistics, rows, log.gravity)
        assert_close(M[4:7, 4:7], float(turns) * np.eye(3), 1e-9, scale=1.0)
        of_weight = 0.0 if turns else np.kron(np.eye(3), log.gravity[:, None])
        assert_close(M[19:28, 1:4], of_weight + np.zeros((9, 3)), 1e-9, scale=1.0)
        assert (rows.turning_noise > 0.9) is not turns


def test_a_density_is_no_larger_than_an_attenuated_inertia_shows():
    """A share of noise s makes the inertia 1 − s of what it is: the bound is of all of it."""
    true = InertialParameters.from_com(2.0, [0.1, 0.0, 0.0], 0.004 * np.eye(3)).phi
    seen = np.concatenate((true[:4], 0.8 * true[4:]))
    none = np.zeros((10, 10))
    assert density_lower_bound(seen, none) > MAX_DENSITY > mean_density(true)
    assert density_lower_bound(seen, none, 0.2) == pytest.approx(mean_density(true))


def test_quantities_that_differ_are_those_beyond_the_bound_of_good_ones():
    com, inertia = np.array([0.1, 0.0, 0.05]), 0.02 * np.eye(3)
    first = InertialParameters.from_com(2.0, com, inertia).phi
    others = {
        (): InertialParameters.from_com(2.03, com + 0.003, 1.1 * inertia).phi,
        ("mass",): InertialParameters.from_com(2.05, com, inertia).phi,
        ("com",): InertialParameters.from_com(2.0, com + 0.005 * np.eye(3)[1], inertia).phi,
        ("inertia",): InertialParameters.from_com(2.0, com, 1.3 * inertia).phi,
        ("mass", "com", "inertia"): -first,
    }
    for differing, other in others.items():
        assert tuple(quantities_that_differ([first, other])) == differing


def test_the_slope_of_the_least_second_moment_is_its_derivative():
    body = BODY.copy()
    body[4] -= 0.9 * body[4]  # no body any more
    values, slope = pseudo_inertia_spectrum(body)
    assert values[0] < 0.0
    assert_close(slope @ body, values[0], 1e-9)  # Π is linear in φ
    length = np.sqrt(np.trace(pseudo_inertia(body)[:3, :3]) / body[0])
    units = np.diag([1.0 / length] * 3 + [1.0])
    ends = [
        np.linalg.eigvalsh(units @ pseudo_inertia(body + step) @ units)[0]
        for step in (1e-6 * np.eye(10)[5], -1e-6 * np.eye(10)[5])
    ]
    assert_close((ends[0] - ends[1]) / 2e-6, slope[5], 1e-5)
