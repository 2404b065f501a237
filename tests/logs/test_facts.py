import json
from dataclasses import replace

import numpy as np
import pytest

from identify.diagnosis.faults import FAMILIES, faults_of, parametric_faults
from identify.logs import load_schema, read_log
from identify.logs.log_properties import LogProperties
from identify.spatial import Pose
from tests.diagnosis.logs import PHI
from tests.recordings import POSE, WRENCH_ARRAYS, Path, record

PATH = Path.random(3)
TIME = np.arange(0.0, 2.0, 0.01)
TWIST = ("linear_velocity", "angular_velocity")


@pytest.mark.parametrize(
    ("give", "kind", "without"),
    [
        (POSE, "classical", set()),
        ((*POSE, "angular_velocity"), "classical", {"clock_rate"}),
        ((*POSE, *TWIST), "classical", {"clock_rate", "position_scale"}),
        (
            (*POSE, *TWIST, "linear_acceleration"),
            "proper",
            {"clock_rate", "position_scale", "gravity_tilted", "partly_compensated"},
        ),
    ],
)
def test_measured_signals_are_not_attributed_to_others(give, kind, without):
    names = [
        {fault.name for fault, *_ in faults_of([LogProperties.of(log)]) if fault.parameters}
        for log in (record(PATH, PHI, TIME, POSE), record(PATH, PHI, TIME, give, kind=kind))
    ]
    assert names[0] - names[1] == without


def test_sensor_rotation_patches_existing_mount():
    X_BS = Pose.from_quaternion([0.2, -0.5, 0.1, 0.8], [0.02, -0.05, 0.08])
    facts = LogProperties.of(record(PATH, PHI, TIME, POSE, wrench="sensor", X_BS=X_BS))
    assert facts.X_BS == X_BS
    assert LogProperties.of(record(PATH, PHI, TIME, POSE)).X_BS is None
    ((turn,),) = parametric_faults([facts], ["wrench_misaligned"])
    line = turn.remedy_at(np.zeros(3))
    given = np.array([0.2, -0.5, 0.1, 0.8]) / np.linalg.norm([0.2, -0.5, 0.1, 0.8])
    said = np.array(json.loads(line.partition("= ")[2].partition("`")[0]))
    assert abs(said @ given) == pytest.approx(1.0, abs=1e-5)


def test_families_have_the_codes_of_their_faults():
    """Of logs that differ in what they give, in their axes and in what their schema says."""
    every = (*POSE, *TWIST, "linear_acceleration", "angular_acceleration")
    logs = [
        record(PATH, PHI, TIME, POSE),
        record(PATH, PHI, TIME, POSE, wrench="world"),
        record(PATH, PHI, TIME, every, kind="proper"),
        record(PATH, PHI, TIME, every, kind="classical"),
        record(PATH, PHI, TIME, ("angular_velocity", "linear_acceleration"), kind="proper"),
    ]
    facts = [LogProperties.of(log) for log in logs]
    facts.append(replace(facts[-1], imu_scale=1.0 / 9.80665))
    facts.append(replace(facts[3], top_speeds=(1.0, 100.0)))
    facts.append(replace(facts[0], gravity=np.array([0.0, 0.0, -1.62])))
    columns = dict.fromkeys(("force", "torque", "euler"), np.zeros((2, 3)))
    tables = {"log": {"still": True}, "pose": {"euler": "euler"}, "wrench": WRENCH_ARRAYS}
    facts.append(LogProperties.of(read_log(columns, tables)))
    keys = {"log": {"time": "t"}, "joints": {"names": ["a", "b"], "position": ["q0", "q1"]}}
    keys |= {"pose": {"robot": "a.urdf", "frame": "tool0"}, "wrench": facts[0].schema.wrench}
    facts.append(replace(facts[0], schema=load_schema(keys)))
    for family, codes in FAMILIES.items():
        assert {fault.code for of_log in facts for fault in family(of_log)} == set(codes)


def test_logs_that_were_measured_alike_share_their_faults():
    """An equal place of the sensor that is another object is the same; another place is not."""
    X_BS = Pose.from_quaternion([0.2, -0.5, 0.1, 0.8], [0.02, -0.05, 0.08])
    away = Pose(X_BS.rotation, X_BS.position + 1e-3)
    first = LogProperties.of(record(PATH, PHI, TIME, POSE, wrench="sensor", X_BS=X_BS))
    alike = replace(first, X_BS=Pose(X_BS.rotation.copy(), X_BS.position.copy()))
    moved, lighter = replace(first, X_BS=away), replace(first, gravity=0.99 * first.gravity)
    logs = [first, alike, moved, lighter, replace(moved)]
    names = "wrench_misaligned", "gravity_tilted", "partly_compensated"
    faults = parametric_faults(logs, names)
    alone = [tuple(map(id, of_log)) for of_log in zip(*faults, strict=True)]
    assert [alone.index(own) for own in alone] == [0, 0, 2, 3, 2]
    for name, of_logs in zip(names, faults, strict=True):
        for fault, log in zip(of_logs, logs, strict=True):
            ((own,),), size = parametric_faults([log], [name]), np.full(fault.parameter_count, 0.01)
            assert np.array_equal(fault.map_at(size), own.map_at(size))
