from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.diagnosis import Fault, LogFacts, Ranking
from identify.diagnosis.faults import faults_of
from identify.diagnosis.misfit import BandRows, misfit
from identify.diagnosis.ranking import CLEAR_LEAD
from identify.inertia import pseudo_inertia
from identify.logs import Recording, read_log
from identify.pipeline.explanations import rank_explanations
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors import scan
from tests.close import assert_close
from tests.recordings import GRAVITY, Path, record, still_poses
from tests.strategies import random_body

BODY = random_body(np.random.default_rng(11))
TIME = np.arange(0.0, 12.0, 0.01)
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
    facts = LogFacts.of(log, (1.0, 1.0))
    return [fault for (fault,) in faults_of([facts]) if fault.sizes is None]


def ranked(log: Recording) -> Ranking:
    return rank_explanations([ScannedLog(log, scan(log))])


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


@pytest.mark.parametrize("code", SLIPS)
def test_a_slip_is_named_with_the_line_to_change_and_the_mass_without_it(code):
    log, line = SLIPS[code]
    if code == "already_compensated":  # its torque too
        up = -TURN.inv().apply(GRAVITY)
        log = replace(log, signals={**log.signals, "torque": T - np.cross(BODY[1:4], up)})
    found = ranked(log)
    assert not found.as_read
    best = found.best
    if code == "torque_unit":  # a force in kN is as good, of a body a thousand times as heavy
        tied = {each.code: each for each in found.tied}
        assert set(tied) == {"torque_unit", "force_unit"}
        best = tied[code]
    else:
        assert best.code == code
        assert found.lead > CLEAR_LEAD
    assert line in best.remedy
    assert_close(best.mass, BODY[0], 0.05 if code == "already_compensated" else 5e-3)


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


def test_a_clean_log_is_as_it_was_read():
    found = ranked(with_signals())
    assert found.as_read
    assert found.best.code == ""
    assert_close(found.best.mass, BODY[0], 5e-3)


def test_still_poses_tell_no_sign_of_the_torque_from_another():
    rotations = Rotation.random(12, rng=np.random.default_rng(2))
    log = still_poses(BODY, rotations, bias=np.full(6, 0.2), noise=0.02)
    assert ranked(log).as_read


def test_one_still_pose_explains_nothing_otherwise():
    log = still_poses(BODY, Rotation.random(1, rng=np.random.default_rng(2)))
    assert ranked(log).as_read


def test_a_map_of_the_statistics_is_what_reading_the_changed_log_gives():
    """Each linear fault of the wrench, against a log whose wrench was changed."""
    wide = BandRows.of(scan(with_signals(), wide=True).statistics)
    for one in slips_of(with_signals()):
        if one.code not in ("force_sign", "torque_sign", "torque_unit"):
            continue
        C = one.fit_map()[13:19, 13:19].T
        wrench = np.hstack((F, T)) @ C.T
        changed = with_signals(force=wrench[:, :3], torque=wrench[:, 3:])
        other = BandRows.of(scan(changed, wide=True).statistics)
        mapped, read = (rows.factors[:, :, :18] for rows in (wide.mapped(one.fit_map()), other))
        assert_close(np.swapaxes(mapped, 1, 2) @ mapped, np.swapaxes(read, 1, 2) @ read, 1e-9)


def test_the_misfit_is_a_likelihood_and_its_body_least_squares():
    rows = BandRows.of(scan(with_signals(), wide=True).statistics)
    found = misfit([rows])
    assert_close(found.phi[0], BODY[0], 5e-3)
    assert np.linalg.eigvalsh(pseudo_inertia(found.phi))[0] > 0.0
    factors = rows.factors.copy()
    factors[:, :, 12:18] *= 2.0
    twice = misfit([replace(rows, factors=factors)])
    n = rows.samples.sum()
    assert_close(twice.cost - found.cost, 12.0 * n * np.log(2.0), 1e-6)
    assert_close(twice.phi, 2.0 * found.phi, 1e-6)


def test_a_log_file_that_is_misread_is_the_same_log(tmp_path):
    np.savez(tmp_path / "log.npz", t=TIME, p=P, q=np.roll(Q, 1, axis=1), f=F, n=T)
    schema = {
        "log": {"time": "t"},
        "pose": {
            "position": [f"p[{k}]" for k in range(3)],
            "quaternion": [f"q[{k}]" for k in range(4)],
        },
        "wrench": {
            "force": [f"f[{k}]" for k in range(3)],
            "torque": [f"n[{k}]" for k in range(3)],
            "frame": "body",
            "acts_on": "body",
        },
    }
    assert ranked(read_log(tmp_path / "log.npz", schema)).best.code == "quaternion_order"


def test_axes_of_a_wrench_in_world_axes_are_found_by_reading_it_again():
    world = {"force": TURN.apply(F)[:, [1, 0, 2]], "torque": TURN.apply(T)[:, [1, 0, 2]]}
    log = with_signals(**world)
    schema = {**SCHEMA, "wrench": {**SCHEMA["wrench"], "frame": "world"}}
    found = ranked(replace(log, frames={**log.frames, "wrench": "world"}, schema=schema))
    assert found.best.code == "wrench_axes"
    assert "what the log calls y, x, z" in found.best.text
    assert found.lead > CLEAR_LEAD
    assert_close(found.best.mass, BODY[0], 5e-3)


def test_gravity_a_little_off_is_no_other_direction():
    tilted = Rotation.from_rotvec([0.1, 0.0, 0.0]).apply(GRAVITY)
    changes = [
        a.text
        for a in slips_of(replace(with_signals(), gravity=tilted))
        if a.code == "gravity_direction"
    ]
    assert len(changes) == 5
    assert not any("-z of" in text for text in changes)
