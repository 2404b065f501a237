"""`[wrench.compensated]`: the weight that a controller took off, added back where a log is read."""

from dataclasses import replace

import numpy as np
import pytest

import identify
from identify.errors import SchemaError
from identify.logs import Recording, load_schema, read_log
from identify.logs.log_writing import write_log
from identify.logs.schema_poses import placement_keys
from identify.signals import prepare
from identify.spatial import Pose
from tests.close import assert_close
from tests.recordings import GRAVITY, POSE, WRENCH_ARRAYS, Path, record, still_poses
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
PATH = Path.random(3)
TIME = np.arange(0.0, 6.0, 1.0 / 200.0)
X_BF = Pose.from_quaternion([0.1, -0.5, 0.1, 0.8544003745317531], [0.02, -0.05, 0.08])
COM_F = np.array([0.0, 0.01, 0.05])
COM = X_BF.rotation @ COM_F + X_BF.position
MASS = 1.4
SCHEMA = {
    "log": {"time": "t"},
    "pose": {
        "position": "p",
        "quaternion": "q",
    },
    "wrench": {
        "force": "f",
        "torque": "n",
        "frame": "body",
        "acts_on": "body",
    },
}
SHOWN = {"mass": MASS, "com": COM_F.tolist()}
FLANGE = {"flange": placement_keys(X_BF)}


def without_weight(log: Recording) -> np.ndarray:
    """The wrench less the weight of the body on the pendant, by its point: r × m g."""
    R = PATH.rotation(TIME)
    weight = MASS * R.inv().apply(GRAVITY)
    added = np.hstack((weight, np.cross(COM, weight)))
    return np.hstack((log.signals["force"], log.signals["torque"])) + added


def table(wrench: np.ndarray) -> dict[str, np.ndarray]:
    q = PATH.rotation(TIME).as_quat()
    return {"t": TIME, "p": PATH.position(TIME), "q": q, "f": wrench[:, :3], "n": wrench[:, 3:]}


def said(**keys: object) -> dict[str, object]:
    return SCHEMA | {"body": FLANGE, "wrench": {**SCHEMA["wrench"], "compensated": SHOWN | keys}}


WHOLE = record(PATH, PHI, TIME, POSE)
TAKEN_OFF = table(without_weight(WHOLE))


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"unit": "mm", "com": (1e3 * COM_F).tolist()},
        {"frame": "body", "com": COM.tolist()},
    ],
    ids=str,
)
def test_the_weight_is_added_back_exactly(keys):
    log = read_log(TAKEN_OFF, said(**keys))
    ours, theirs = prepare(log, 5.0), prepare(WHOLE, 5.0)
    for one, other in zip(ours.blocks, theirs.blocks, strict=True):
        assert_close(one.rows, other.rows, 1e-8)  # the attitude is smoothed, the wrench not
    assert_close(identify.fit(log).estimate.parameters.phi, PHI, 1e-5)


def test_a_sensor_elsewhere_and_a_late_wrench_have_it_added_back_too():
    """What is logged late was without the weight when it was measured."""
    X_BS = Pose.from_quaternion([0.5, 0.1, -0.3, 0.806225774829855], [-0.03, 0.02, 0.11])
    late = table(without_weight(WHOLE))
    at_sensor = np.hstack((late["f"], late["n"] - np.cross(X_BS.position, late["f"])))
    turned = np.hstack([part @ X_BS.rotation for part in np.split(at_sensor, 2, axis=1)])
    schema = said()
    schema["wrench"] = {**schema["wrench"], "frame": "sensor", "mount": placement_keys(X_BS)}
    shifted = {**table(turned), "t": TIME}
    shifted |= {name: np.roll(shifted[name], 2, axis=0) for name in ("f", "n")}
    shifted = {name: values[2:] for name, values in shifted.items()}
    schema["wrench"]["delay_s"] = 2.0 / 200.0
    assert_close(identify.fit(read_log(shifted, schema)).estimate.parameters.phi, PHI, 1e-4)


def test_static_poses_have_it_added_back():
    rotations = PATH.rotation(TIME[::100])
    whole = still_poses(PHI, rotations)
    weight = MASS * rotations.inv().apply(GRAVITY)
    log = read_log(
        {
            "quaternion": rotations.as_quat(),
            "force": whole.signals["force"] + weight,
            "torque": whole.signals["torque"] + np.cross(COM, weight),
        },
        {
            "log": {"still": True},
            "body": {"flange": X_BF},
            "pose": {"quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS | {"compensated": SHOWN},
        },
    )
    assert_close(prepare(log).rows, prepare(whole).rows, 1e-12)


def test_noise_of_the_attitude_is_in_the_weight():
    """As in a log whose wrench has it all: its noise is that of the wrench alone."""
    log, bare = read_log(TAKEN_OFF, said()), read_log(TAKEN_OFF, SCHEMA)
    noisy = {"quaternion": 1e-3, "force": 0.1, "torque": 0.01, "position": 1e-4}
    with_weight, without = (
        sum(
            float(np.trace(moment[12:15, 12:15]))
            for block in prepare(replace(one, noise=noisy), 5.0).blocks
            for moment in block.noise.values()
        )
        for one in (log, bare)
    )
    assert with_weight > (1.0 + 1e-5) * without


def test_compensated_body_round_trip(tmp_path):
    log = read_log(TAKEN_OFF, said())
    write_log(log, tmp_path / "log.csv")
    again = read_log(tmp_path / "log.csv", tmp_path / "log.toml")
    assert_close(again.compensated, log.compensated, 1e-12)


BAD = [
    ({"com": [0, 0, 0.05]}, r"\[wrench.compensated\] the key 'mass' is missing"),
    ({"mass": -1.0}, r"\[wrench.compensated\] mass: .*greater than 0"),
    ({"mass": 1.0, "com": [0, 0]}, r"\[wrench.compensated\] com: expected a list of 3 numbers"),
    ({"mass": 1.0, "frame": "tool"}, r"\[wrench.compensated\] frame: expected one of 'flange'"),
    ({"mass": 1.0}, r"com is in the flange, whose pose in B is unknown: give \[body.flange\]"),
]


@pytest.mark.parametrize(("keys", "why"), BAD, ids=str)
def test_invalid_compensated_body_is_rejected(keys, why):
    with pytest.raises(SchemaError, match=why):
        load_schema(SCHEMA | {"wrench": {**SCHEMA["wrench"], "compensated": keys}})


def test_compensated_body_needs_attitude():
    schema = said(frame="body")
    del schema["pose"]
    schema["twist"] = {"angular": ["w[0]", "w[1]", "w[2]"], "frame": "body"}
    schema["acceleration"] = {
        "linear": ["a[0]", "a[1]", "a[2]"],
        "frame": "body",
        "kind": "proper",
    }
    with pytest.raises(SchemaError, match=r"\[wrench.compensated\] needs the orientation"):
        load_schema(schema)
