from dataclasses import replace

import numpy as np
import pytest

from identify.errors import SchemaError
from identify.logs import Recording, read_log
from identify.logs.patch import completed_schema, patched, wrench_map
from identify.logs.schema_tables import WrenchTable
from tests.close import assert_close

RNG = np.random.default_rng(5)
ROWS = 12
Q = RNG.standard_normal((ROWS, 4))
Q /= np.linalg.norm(Q, axis=1, keepdims=True)
COLUMNS = {f"{key}{axis}": RNG.normal(size=ROWS) for key in "pvwabft" for axis in "xyz"}
COLUMNS |= dict(zip(("q1", "q2", "q3", "q4"), Q.T, strict=True))
TABLE = COLUMNS | {"t": np.arange(ROWS) * 0.1}


def three(key: str) -> list[str]:
    return [f"{key}x", f"{key}y", f"{key}z"]


def schema(**changed: dict[str, object]) -> dict[str, dict[str, object]]:
    whole = {
        "log": {"time": "t"},
        "pose": {"position": three("p"), "quaternion": ["q1", "q2", "q3", "q4"]},
        "twist": {"linear": three("v"), "angular": three("w"), "frame": "body"},
        "acceleration": {
            "linear": three("a"),
            "angular": three("b"),
            "frame": "body",
            "kind": "classical",
        },
        "wrench": {"force": three("f"), "torque": three("t"), "frame": "body", "acts_on": "body"},
    }
    return {name: {**whole.get(name, {}), **changed.get(name, {})} for name in {**whole, **changed}}


PATCHES = [
    {"pose": {"order": "wxyz"}},
    {"pose": {"maps": "world_to_body"}},
    {"pose": {"order": "wxyz", "maps": "world_to_body"}},
    {"pose": {"position_axes": "body"}},
    {"pose": {"maps": "world_to_body", "position_axes": "body"}},
    {"pose": {"maps": "world_to_body", "position_axes": "world"}},
    {"pose": {"position": ["-px", "-py", "-pz"], "position_unit": "mm"}},
    {"twist": {"angle_unit": "deg"}, "acceleration": {"angle_unit": "deg"}},
    {"acceleration": {"kind": "proper"}},
    {"wrench": {"acts_on": "sensor"}},
    {"wrench": {"force": ["-fy", "fx", "fz"], "torque": ["tx", "-tz", "ty"]}},
    {"wrench": {"force": three("t"), "torque": three("f")}},
    {"wrench": {"force_unit": "kgf", "torque_unit": "lbfin", "force_noise": 0.1}},
    {"wrench": {"frame": "world"}},
    {"wrench": {"delay_s": 0.01}},
    {"wrench": {"compensated": {"mass": 1.4, "com": [0, 0, 0.05], "frame": "body"}}},
    {"world": {"gravity": [1.0, 2.0, 3.0]}},
]


def assert_same(ours: Recording, theirs: Recording) -> None:
    assert ours.signals.keys() == theirs.signals.keys()
    for name, values in theirs.signals.items():
        assert_close(ours.signals[name], values, 1e-13)
    assert_close(ours.gravity, theirs.gravity, 0.0)
    for name in ("frames", "noise", "wrench_delay", "compensated", "acceleration_kind", "schema"):
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("changed", PATCHES, ids=str)
def test_a_patched_recording_is_the_log_read_with_the_patched_schema_and_back(changed):
    log, other = read_log(TABLE, schema()), read_log(TABLE, schema(**changed))
    patch = {f"{name}.{key}": value for name, of in changed.items() for key, value in of.items()}
    assert_same(patched(log, patch), other)
    whole = schema()
    back = {
        place: whole.get(table, {}).get(key)
        for place in patch
        for table, _, key in [place.partition(".")]
    }
    restored = patched(other, back)
    for name, values in log.signals.items():
        assert_close(restored.signals[name], values, 1e-13)


@pytest.mark.parametrize(
    "pose",
    [
        {"rotation_vector": ["-ay", "ax", "az"]},
        {"euler": three("a"), "order": "zxz"},
        {"euler": ["az", "ay", "-ax"], "order": "YXZ", "angle_unit": "deg"},
    ],
    ids=str,
)
def test_numbers_of_a_rotation_are_read_by_any_convention(pose):
    """Though angles are beyond a turn, which no quaternion tells."""
    table = TABLE | {f"a{axis}": 4.0 * TABLE[f"a{axis}"] for axis in "xyz"}
    whole = {"log": {"time": "t"}, "wrench": schema()["wrench"]}
    placed = {"position": three("p")}
    log = read_log(table, whole | {"pose": placed | {"rotation_vector": three("a")}})
    other = read_log(table, whole | {"pose": placed | pose})
    gone = {} if "rotation_vector" in pose else {"pose.rotation_vector": None}
    patch = gone | {f"pose.{key}": value for key, value in pose.items()}
    assert_same(patched(log, patch), other)
    assert_same(patched(patched(log, patch), patch), other)


def test_a_mount_that_is_turned_matches_the_schema():
    mount = {"translation": [0.0, 0.1, 0.0], "quaternion": [0.0, 0.0, 0.6, 0.8]}
    given = schema(wrench={"frame": "sensor", "mount": mount})
    turned = patched(read_log(TABLE, given), {"wrench.mount.quaternion": [0.6, 0.0, 0.0, 0.8]})
    mount["quaternion"] = [0.6, 0.0, 0.0, 0.8]
    expected = read_log(TABLE, schema(wrench={"frame": "sensor", "mount": mount}))
    assert_close(turned.X_BS.matrix, expected.X_BS.matrix, 1e-12)


@pytest.mark.parametrize(
    "patch",
    [
        {"log.time_unit": "ms"},
        {"wrench.force": ["fx", "fy", "elsewhere"]},
        {"pose.quaternion": ["q2", "q1", "q3", "elsewhere"]},
        {"wrench.frame": "sideways"},
        {"pose.turn": "left"},
    ],
    ids=str,
)
def test_patch_that_needs_the_file_is_rejected(patch):
    with pytest.raises(SchemaError):
        patched(read_log(TABLE, schema()), patch)


def test_schema_is_parsed_once_and_invalid_schema_is_rejected():
    recording = read_log(TABLE, schema())
    assert completed_schema(recording) is completed_schema(replace(recording))
    odd = replace(recording, schema=schema(pose={"order": object()}))
    with pytest.raises(SchemaError, match="order"):
        completed_schema(odd)


def test_a_column_with_a_minus_is_negated_and_named_once():
    log = read_log(TABLE, schema(wrench={"force": ["-fx", "fy", "-fz"]}))
    expected = np.stack([-TABLE["fx"], TABLE["fy"], -TABLE["fz"]], axis=-1)
    assert_close(log.signals["force"], expected, 0.0)
    with pytest.raises(SchemaError, match="'fx' is named twice"):
        read_log(TABLE, schema(wrench={"force": ["-fx", "fx", "fz"]}))
    with pytest.raises(SchemaError, match="'tx' is named in force and in torque"):
        read_log(TABLE, schema(wrench={"force": ["-tx", "fy", "fz"]}))


def test_gain_is_applied_in_axes_of_log():
    old = WrenchTable(
        force=("fx", "fy", "fz"), torque=("tx", "ty", "tz"), frame="body", acts_on="body"
    )
    new = old.model_copy(
        update={"acts_on": "sensor", "force_unit": "kN", "torque": ("-ty", "tx", "tz")}
    )
    expected = -np.diag([1e3] * 3 + [1.0] * 3)
    expected[3:, 3:] = -np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert_close(wrench_map(old, new), expected, 1e-15)
