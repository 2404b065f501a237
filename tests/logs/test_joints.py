"""Logs of a robot's joints, by the table `[joints]` of a schema."""

import pickle

import numpy as np
import pytest

from identify.errors import LogError, MissingColumn, SchemaError
from identify.logs import LogFile, Recording, load_schema, open_log, read_log
from identify.logs.log_writing import write_log
from identify.signals import on_one_clock, prepare
from tests.close import assert_close
from tests.recordings import WRENCH_ARRAYS

NAMES = ["base", "elbow", "wrist"]
TIME = np.arange(40) / 100.0
Q = 0.4 * np.sin(TIME[:, None] * [3.0, 5.0, 7.0] + [0.1, 0.2, 0.3])
V = 0.4 * np.array([3.0, 5.0, 7.0]) * np.cos(TIME[:, None] * [3.0, 5.0, 7.0] + [0.1, 0.2, 0.3])
TAU = 10.0 * np.cos(TIME[:, None] * [2.0, 4.0, 6.0])
TABLE = {
    "t": TIME,
    **{f"{word}{k}": x[:, k] for word, x in (("q", Q), ("v", V), ("u", TAU)) for k in range(3)},
}


def joints(**changes):
    """A schema of the table with changes of `[joints]`; a key that is None is left out."""
    table = {
        "names": NAMES,
        "position": ["q0", "q1", "q2"],
        "velocity": ["v0", "v1", "v2"],
        "effort": ["u0", "u1", "u2"],
        **changes,
    }
    return {"log": {"time": "t"}, "joints": {k: v for k, v in table.items() if v is not None}}


def write_csv(path, columns):
    np.savetxt(
        path,
        np.stack(list(columns.values()), axis=-1),
        delimiter=",",
        header=",".join(columns),
        comments="",
        fmt="%.17g",
    )
    return path


def currents(rows=1200, *, clocks=False):
    """Currents with noise, and the targets of a controller with a model of friction of its own."""
    rng, gains = np.random.default_rng(2), np.array([12.0, 9.8, 10.5])
    t = np.arange(rows) / 100.0
    rate = np.array([1.1, 1.7, 2.3])
    q, v, a = np.sin(rate * t[:, None]), rate * np.cos(rate * t[:, None]), -(rate**2)
    torque = 20.0 * np.cos(q) + 3.0 * (a * q) + 5.0 * np.sin(0.7 * rate * t[:, None])
    target = torque / gains + 0.4 * np.sign(v) + 0.3 * v + 0.2 * (a * q) - 0.1
    noisy = {"q": q, "v": v, "i": target + 0.2 * rng.normal(size=q.shape)}
    noisy |= {"it": target + 0.02 * rng.normal(size=q.shape), "ut": torque}
    table = {f"{word}{k}": x[:, k] for word, x in noisy.items() for k in range(3)}
    return {"t": t, **table}, gains


CURRENTS = {
    "effort": ["i0", "i1", "i2"],
    "effort_unit": "A",
    "target_current": ["it0", "it1", "it2"],
    "target_effort": ["ut0", "ut1", "ut2"],
}


@pytest.mark.parametrize("changes", [{}, {"velocity": None}, {"effort_acts_on": "motor"}])
def test_gains_of_currents_are_those_of_the_targets(tmp_path, changes):
    table, gains = currents()
    log = read_log(write_csv(tmp_path / "a.csv", table), joints(**CURRENTS, **changes))
    (finding,) = log.findings
    found = np.array([finding.evidence[name] for name in NAMES])
    assert_close(found, gains, 0.01)
    assert "N m/A" in finding.text
    assert set(log.signals) <= {"joint_position", "joint_velocity", "effort"}
    sign = -1.0 if changes.get("effort_acts_on") else 1.0
    logged = np.stack([table[f"i{k}"] for k in range(3)], axis=1)
    assert_close(log.signals["effort"], sign * found * logged)


def test_gains_are_found_in_streams_with_clocks_of_their_own(tmp_path):
    table, gains = currents()
    motion = {k: x for k, x in table.items() if k[0] in "tqv"}
    write_csv(tmp_path / "motion.csv", motion)
    efforts = {k: x for k, x in table.items() if k[0] in "iu"}
    write_csv(tmp_path / "effort.csv", {"t": table["t"], **efforts})
    streams = {"joints": {"file": "motion.csv"}, "effort": {"file": "effort.csv"}}
    log = read_log(tmp_path, joints(**CURRENTS) | {"streams": streams})
    found = next(f for f in log.findings if f.code == "current_gains")
    assert_close([found.evidence[name] for name in NAMES], gains, 0.01)
    assert {name for part in (log, *log.streams) for name in part.signals} <= {
        *("joint_position", "joint_velocity", "effort"),
    }


@pytest.mark.parametrize("joint", [0, 2])
def test_joint_that_does_not_move_has_no_gain(tmp_path, joint):
    table, _ = currents()
    table |= {f"v{joint}": 0.0 * table["t"], f"q{joint}": 0.0 * table["t"]}
    path = write_csv(tmp_path / "a.csv", table)
    with pytest.raises(LogError, match=rf"gain of '{NAMES[joint]}'.*move the joint more"):
        read_log(path, joints(**CURRENTS))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target_effort": None}, "give both target_current and target_effort"),
        ({"gains": 1.0}, "target_current: gains and motor cannot be given with it"),
        ({"effort_unit": "Nm"}, 'target_current: given with effort_unit = "Nm"'),
        ({"target_current": ["it0"]}, "target_current: expected one for each of 3 names"),
    ],
)
def test_targets_that_contradict_other_keys_are_refused(changes, message):
    with pytest.raises(SchemaError, match=message):
        load_schema(joints(**CURRENTS | changes))


def test_columns_become_signals_in_the_order_of_names(tmp_path):
    path = write_csv(tmp_path / "arm.csv", TABLE)
    names = ["wrist", "base", "elbow"]
    order = [2, 0, 1]
    listed = {
        key: [f"{letter}{k}" for k in order]
        for key, letter in (("position", "q"), ("velocity", "v"), ("effort", "u"))
    }
    log = read_log(path, joints(names=names, **listed))
    assert log.joints.names == ("wrist", "base", "elbow")
    assert (log.name, log.rows, len(log)) == ("arm", 40, 40)
    np.testing.assert_array_equal(log.time, TIME)
    np.testing.assert_array_equal(log.signals["joint_position"], Q[:, order])
    np.testing.assert_array_equal(log.signals["joint_velocity"], V[:, order])
    np.testing.assert_array_equal(log.signals["effort"], TAU[:, order])
    assert log.joints.still_below.tolist() == [0.05] * 3
    assert log.joints.motor_per_joint is None
    assert log.sources[0].path == path
    assert not log.signals["joint_position"].flags.writeable


def test_velocity_and_effort_are_optional():
    log = read_log(TABLE, joints(velocity=None, effort=None))
    assert "joint_velocity" not in log.signals
    assert "effort" not in log.signals
    assert set(log.signals) == {"joint_position"}


@pytest.mark.parametrize("spelled", ["q[0:3]", "q", ["q[0]", "q[1]", "q[2]"]])
def test_an_array_is_as_wide_as_there_are_names(spelled):
    log = read_log(TABLE, joints(position=spelled))
    np.testing.assert_array_equal(log.signals["joint_position"], Q)


def test_degrees_offsets_and_units_by_joint_become_si():
    table = {**TABLE, "q0": np.rad2deg(Q[:, 0]), "q1": 1e3 * Q[:, 1], "v1": 1e3 * V[:, 1]}
    table["v0"] = np.rad2deg(V[:, 0])
    changes = {"unit": ["deg", "mm", "rad"], "offset": [90.0, 20.0, -0.5]}
    log = read_log(table, joints(**changes))
    assert_close(log.signals["joint_position"], Q + np.array([np.pi / 2, 0.02, -0.5]), rtol=1e-14)
    assert_close(log.signals["joint_velocity"], V, rtol=1e-14)
    assert log.joint_axes.still_below.tolist() == [0.05, 0.005, 0.05]
    given = read_log(table, joints(**changes, still_below=[0.05, 0.002, 0.05]))
    assert given.joint_axes.still_below.tolist() == [0.05, 0.002, 0.05]


def test_currents_become_torques_by_the_gains():
    log = read_log(TABLE, joints(effort_unit="mA", gains=[8.0, 9.0, 10.0]))
    assert_close(log.signals["effort"], 1e-3 * TAU * [8.0, 9.0, 10.0], rtol=1e-14)


def test_the_torque_on_the_motor_is_negated():
    log = read_log(TABLE, joints(effort_acts_on="motor"))
    np.testing.assert_array_equal(log.signals["effort"], -TAU)


R = np.array([[30.0, 0.0, 0.0], [0.0, -48.0, 0.0], [0.0, 32.0, 32.0]])


def test_motors_with_a_coupled_wrist_become_joints():
    offset = np.array([0.1, -np.pi / 2, 0.0])
    q, v = (Q - offset) @ R.T, V @ R.T
    table = {
        **TABLE,
        **{f"q{k}": q[:, k] for k in range(3)},
        **{f"v{k}": v[:, k] for k in range(3)},
    }
    changes = {"motor": {"position": R.tolist()}, "offset": offset.tolist()}
    log = read_log(table, joints(**changes))
    assert_close(log.signals["joint_position"], Q, rtol=1e-13)
    assert_close(log.signals["joint_velocity"], V, rtol=1e-13)
    np.testing.assert_array_equal(log.joints.motor_per_joint, R)
    power_of_motors = np.sum(TAU * v, axis=1)
    power_of_joints = np.sum(log.signals["effort"] * log.signals["joint_velocity"], axis=1)
    assert_close(power_of_joints, power_of_motors, rtol=1e-13)


def test_gears_may_be_a_diagonal_and_torques_have_a_matrix_of_their_own():
    torque = [[1.0, 0.0, 0.0], [0.0, 2.0, 0.5], [0.0, 0.0, 3.0]]
    log = read_log(TABLE, joints(motor={"position": [10, 20, -40], "torque": torque}))
    assert_close(log.signals["joint_position"], Q / [10.0, 20.0, -40.0], rtol=1e-14)
    assert_close(log.signals["effort"], TAU @ np.transpose(torque), rtol=1e-14)


def test_two_files_at_a_rate_are_read_side_by_side(tmp_path):
    """Both may call their columns alike; a row that lacks a number in one is left out of both."""
    q, tau = Q.copy(), TAU.copy()
    tau[7, 1] = np.nan
    for name, values in (("q.csv", q), ("tau.csv", tau)):
        write_csv(tmp_path / name, {f"j{k}": values[:, k] for k in range(3)})
    columns = {"position": ["j0", "j1", "j2"], "effort": ["j0", "j1", "j2"], "velocity": None}
    schema = joints(**columns) | {
        "log": {"rate_hz": 100.0},
        "streams": {"joints": {"file": "q.csv"}, "effort": {"file": "tau.csv"}},
    }
    log = read_log(tmp_path, schema)
    kept = np.arange(40) != 7
    assert log.dropped.not_finite == 1
    assert len(log.sources) == 2
    assert not log.streams
    assert_close(log.time, TIME[kept], rtol=1e-14)
    np.testing.assert_array_equal(log.signals["joint_position"], q[kept])
    np.testing.assert_array_equal(log.signals["effort"], tau[kept])


def test_an_effort_with_a_clock_of_its_own_is_a_stream(tmp_path):
    write_csv(tmp_path / "q.csv", {"t": TIME, **{f"q{k}": Q[:, k] for k in range(3)}})
    write_csv(tmp_path / "u.csv", {"t": TIME[::2], **{f"u{k}": TAU[::2, k] for k in range(3)}})
    schema = joints(velocity=None)
    schema["streams"] = {"joints": {"file": "q.csv"}, "effort": {"file": "u.csv"}}
    log = read_log(tmp_path, schema)
    (stream,) = log.streams
    assert set(log.signals) == {"joint_position"}
    np.testing.assert_array_equal(stream.signals["effort"], TAU[::2])
    assert_close(stream.time, TIME[::2], rtol=1e-14)


def test_a_recording_of_joints_is_pickled():
    log = read_log(TABLE, joints(motor={"position": R.tolist()}))
    copy = pickle.loads(pickle.dumps(log))  # noqa: S301
    np.testing.assert_array_equal(copy.signals["joint_position"], log.signals["joint_position"])
    np.testing.assert_array_equal(copy.joints.motor_per_joint, R)
    assert copy.joints.names == tuple(NAMES)
    for array in (copy.signals["effort"], copy.joints.still_below, copy.joints.motor_per_joint):
        assert not array.flags.writeable
    assert repr(copy) == repr(log)
    assert "3 joints, 40 rows, 0.39 s at 100 Hz: joint_position, joint_velocity, effort" in repr(
        log
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gains": [1, 0, 3]}, r"gains: expected numbers other than zero"),
        ({"gain_accuracy": [0.1, 2, 0.1]}, r"gain_accuracy: expected shares from 0 to 0\.5, as 0"),
        ({"gain_accuracy": 0.1, "effort_unit": "A"}, r"gain_accuracy: currents need `gains`"),
        ({"effort": ["u0", "u1"]}, r"effort: expected one for each of 3 names, got 2"),
        ({"position": "q[0:2]"}, r"position: expected one for each of 3 names, got 2"),
        ({"position": None}, r"key 'position' is missing"),
        ({"names": ["base", "elbow", "base"]}, r"names: joint 'base' is named twice"),
        ({"names": []}, r"names"),
        ({"unit": "grad"}, r"unit: expected one of 'rad', 'deg'"),
        ({"unit": ["rad", "deg"]}, r"unit: expected one for each of 3"),
        ({"effort_acts_on": "sensor"}, r"expected one of 'joint', 'motor'"),
        ({"effort_unit": "A", "gains": [1.0]}, r"gains: expected one for each of 3"),
        ({"velocity": ["v0", "v1", "v1"]}, r"column 'v1' is named twice"),
        ({"effort": ["v0", "v1", "v2"]}, r"column 'v0' is named twice"),
        ({"still_below": -1}, r"still_below: expected speeds"),
        ({"motor": {"position": [[1, 0], [0, 1]]}}, r"position: expected 3 rows.* got 2"),
        ({"motor": {"position": [[1, 2, 3]]}}, r"expected a square matrix by rows"),
        ({"motor": {"position": [1, 0, 1]}}, r"has no inverse"),
        ({"motor": {"torque": [1, 1, 1]}}, r"key 'position' is missing"),
        ({"efort": "u"}, r"unknown key 'efort'; did you mean 'effort'"),
    ],
)
def test_a_wrong_key_is_named_with_the_remedy(changes, message):
    with pytest.raises(SchemaError, match=message):
        load_schema(joints(**changes))


def test_static_poses_tell_no_torques_of_joints():
    with pytest.raises(SchemaError, match=r"needs a motion: give time or rate_hz"):
        load_schema(joints() | {"log": {"still": True}})


def test_a_schema_of_joints_alone_reads_no_wrench(tmp_path):
    path = write_csv(tmp_path / "arm.csv", TABLE)
    assert load_schema(joints()).sensor == read_log(TABLE, joints()).sensor == "joints"
    for read in (read_log, open_log):
        with pytest.raises(SchemaError, match=r"--robot arm\.urdf.*identify\.read_log"):
            read(path, joints(), "wrench")


def test_joints_beside_a_wrench_are_read_on_their_own(schema):
    document = schema(joints=joints()["joints"])
    assert load_schema(document).sensor == "wrench"
    with pytest.raises(MissingColumn, match="px"):
        read_log(TABLE, document)
    log = read_log(TABLE, document, "joints")
    np.testing.assert_array_equal(log.signals["effort"], TAU)
    assert log.schema["wrench"]
    with pytest.raises(SchemaError, match=r"the schema has no \[joints\]"):
        read_log(TABLE, schema(), "joints")


def test_joints_that_a_log_of_a_wrench_leaves_out_are_named(schema):
    body = dict.fromkeys(
        ["px", "py", "pz", "qx", "qy", "qz", "fx", "fy", "fz", "tx", "ty", "tz"], np.zeros(40)
    )
    table = {**TABLE, **body, "qw": np.ones(40)}
    codes = [f.code for f in read_log(table, schema(joints=joints()["joints"])).findings]
    assert codes == ["joints_unused"]
    positions_alone = {**joints()["joints"], "effort": None}
    assert not read_log(table, schema(joints=positions_alone)).findings


@pytest.mark.parametrize("read", [read_log, open_log])
def test_an_unknown_sensor_names_the_nearest(tmp_path, read):
    path = write_csv(tmp_path / "arm.csv", TABLE)
    expected = "no sensor 'joint' among wrench, joints; did you mean 'joints'"
    with pytest.raises(SchemaError, match=expected):
        read(path, joints(), "joint")


def test_a_long_log_of_joints_is_read_in_parts_as_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("identify.logs.log_file.MIN_ROWS_IN_CHUNKS", 10)
    path, schema = write_csv(tmp_path / "arm.csv", TABLE), joints(still_below=0.2)
    log, whole = open_log(path, schema), read_log(path, schema)
    assert isinstance(log, LogFile)
    part = log.reader()(10, 30, 2).recording
    assert_close(part.time, whole.time[8:32], 0.0)
    for name, values in whole.signals.items():
        assert_close(part.signals[name], values[8:32], 0.0)
    for each in (log.recording, part):
        assert (each.sensor, each.sha256, each.schema) == ("joints", whole.sha256, whole.schema)
        assert each.joint_axes.names == whole.joint_axes.names
        assert_close(each.joint_axes.still_below, whole.joint_axes.still_below, 0.0)


def test_gains_by_targets_need_the_whole_log(tmp_path, monkeypatch):
    monkeypatch.setattr("identify.logs.log_file.MIN_ROWS_IN_CHUNKS", 10)
    path = write_csv(tmp_path / "arm.csv", currents()[0])
    assert isinstance(open_log(path, joints(**CURRENTS)), Recording)


def test_a_log_of_joints_is_no_wrench_and_the_reverse(tmp_path):
    log = read_log(TABLE, joints())
    assert log.joint_axes.names == tuple(NAMES)
    for use in (
        prepare,
        lambda log: write_log(log, tmp_path / "log.csv"),
    ):
        with pytest.raises(
            LogError, match="table: expected a log of a wrench, got one of the joints of an arm"
        ):
            use(log)
    wrench = read_log(
        {
            "quaternion": [[0, 0, 0, 1]] * 40,
            "force": Q,
            "torque": Q,
        },
        {
            "log": {"still": True},
            "pose": {"quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS,
        },
    )
    assert (wrench.sensor, len(wrench), wrench.end_time) == ("wrench", 40, 0.0)
    with pytest.raises(LogError, match=r"one of a wrench; read its \[joints\] with read_log"):
        _ = wrench.joint_axes


def test_efforts_that_are_all_zero_are_refused(tmp_path):
    zeros = {f"u{k}": np.zeros(40) for k in range(3)}
    path = write_csv(tmp_path / "arm.csv", {**TABLE, **zeros})
    with pytest.raises(
        LogError, match=r"arm\.csv: the effort of all joints is zero in all 40 rows"
    ):
        read_log(path, joints())


def test_a_missing_column_names_the_nearest(tmp_path):
    path = write_csv(tmp_path / "arm.csv", TABLE)
    with pytest.raises(MissingColumn, match=r"no 'qq2' among .* did you mean 'q2'"):
        read_log(path, joints(position=["q0", "q1", "qq2"]))


def test_a_public_log_of_a_ur10e_is_read(shared_data):
    folder = shared_data / "ur10e_payload"
    log = read_log(folder / "loaded.csv", shared_data / "schemas" / "ur10e_payload.toml")
    raw = np.genfromtxt(folder / "loaded.csv", delimiter=",", names=True)
    assert log.joints.names[0] == "shoulder_pan_joint"
    np.testing.assert_array_equal(log.signals["joint_position"][:, 2], raw["q3"])
    np.testing.assert_array_equal(log.signals["effort"][:, 5], raw["tau6"])
    assert log.gravity.tolist() == [0.0, 0.0, -9.81]


def test_angles_that_wrap_at_a_turn_are_continued():
    degrees = np.rad2deg(Q)
    degrees[:, 0] = np.linspace(300.0, 800.0, 40)
    lengths = np.linspace(0.0, 8.0, 40)
    lengths[20:] -= 7.0
    table = {**TABLE, "q0": degrees[:, 0] % 360.0, "q1": degrees[:, 1], "q2": lengths}
    log = read_log(table, joints(unit=["deg", "deg", "m"]))
    assert_close(log.signals["joint_position"][:, :2], np.deg2rad(degrees[:, :2]), rtol=1e-13)
    np.testing.assert_array_equal(log.signals["joint_position"][:, 2], lengths)


def test_an_effort_with_a_clock_of_its_own_is_put_on_the_slower_one(tmp_path):
    fast, slow = np.arange(2000) / 500.0, np.arange(400) / 100.0 + 0.0013
    phases = np.array([0.1, 0.2, 0.3])

    def angles(time):
        return 0.4 * np.sin(2.0 * time[:, None] + phases)

    write_csv(tmp_path / "q.csv", {"t": fast, **dict(zip("abc", angles(fast).T, strict=True))})
    write_csv(tmp_path / "u.csv", {"t": slow, **dict(zip("def", angles(slow).T, strict=True))})
    schema = joints(velocity=None, position=["a", "b", "c"], effort=["d", "e", "f"])
    schema["streams"] = {"joints": {"file": "q.csv"}, "effort": {"file": "u.csv"}}
    log = read_log(tmp_path, schema)
    joined = on_one_clock(log)
    assert not joined.streams
    assert "effort" in joined.signals
    assert "clocks_joined" in [finding.code for finding in joined.findings]
    assert len(joined) > 350
    assert_close(joined.signals["effort"], angles(joined.time), rtol=1e-12)
    assert_close(joined.signals["joint_position"], joined.signals["effort"], rtol=1e-4)


def test_held_samples_of_joints_are_dropped(tmp_path):
    time = np.arange(4000) / 500.0
    held = np.arange(4000) // 4 * 4 / 500.0
    values = np.sin(held[:, None] * [3.0, 5.0, 7.0])
    table = {"t": time, **{f"q{k}": values[:, k] for k in range(3)}}
    table |= {f"u{k}": np.cos(values[:, k]) for k in range(3)}
    log = on_one_clock(read_log(table, joints(velocity=None)))
    assert [finding.code for finding in log.findings] == ["held_samples"]
    np.testing.assert_array_equal(log.signals["joint_position"], values[::4])


def test_a_log_of_joints_on_one_clock_stays_as_it_is():
    log = read_log(TABLE, joints())
    assert on_one_clock(log) is log
