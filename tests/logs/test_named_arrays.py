"""Arrays with named elements, data sets of LeRobot, and numbered columns that only values tell."""

import json
import sys
import tomllib
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from identify.errors import LogError
from identify.logs import Noise, read_log, synthetic_recording
from identify.logs.draft_lines import UNNAMED_LINE, drafted_keys
from identify.logs.draft_schema import draft_schema
from identify.logs.log_file import open_runs
from identify.logs.readers import plugins
from identify.logs.readers.array_columns import element_names
from identify.spatial.rotations import log_rotation
from tests.close import assert_close

NAMES = ("x", "y", "z", "qx", "qy", "qz", "qw", "fx", "fy", "fz", "tx", "ty", "tz")
PHI = (1.5, 0.03, 0.02, 0.13, 0.02, 0.0, 0.0, 0.02, 0.0, 0.004)


@pytest.fixture(scope="module")
def motion() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    noise = Noise(force=0.05, torque=0.005)
    rng = np.random.default_rng(4)
    log = synthetic_recording(PHI, rng=rng, duration=8.0, rate_hz=50.0, noise=noise)
    assert log.time is not None
    return log.time, dict(log.signals)


@pytest.fixture(scope="module")
def state(motion) -> np.ndarray:
    _, s = motion
    return np.hstack([s["position"], s["quaternion"], s["force"], s["torque"]])


def assert_read(path: Path, motion, *, digits: float = 1e-12, rows: slice = slice(None)) -> str:
    """The draft of a log reads it as it was written; returns the draft."""
    draft = draft_schema(path)
    assert draft.missing_signals == ()
    schema = tomllib.loads(draft.text)
    schema["wrench"]["acts_on"] = "body"
    log = read_log(path, schema)
    for name, values in motion[1].items():
        expected = values if name != "quaternion" else values * np.sign(values[:1, 3])
        got = log.signals[name][rows]
        got = got if name != "quaternion" else got * np.sign(got[:1, 3])
        assert_close(got, expected, digits)
    return draft.text


def write_lerobot(path: Path, version: str, states: list[np.ndarray], names: object) -> Path:
    """A data set as LeRobot lays it out: v2.1 a file for each episode, v3.0 one for several."""
    tables = []
    for episode, state in enumerate(states):
        time = pa.array((np.arange(len(state)) / 50.0).astype(np.float32))
        lists = pa.array(list(state), pa.list_(pa.float64()))
        index = pa.array(np.full(len(state), episode))
        columns = {"action": lists, "observation.state": lists, "timestamp": time}
        tables.append(pa.table(columns | {"episode_index": index}))
    (path / "meta").mkdir(parents=True)
    (path / "data" / "chunk-000").mkdir(parents=True)
    if version == "v3.0":
        pq.write_table(pa.concat_tables(tables), path / "data" / "chunk-000" / "file-000.parquet")
    else:
        for episode, table in enumerate(tables):
            pq.write_table(table, path / "data" / "chunk-000" / f"episode_{episode:06d}.parquet")
    feature = {"dtype": "float64", "shape": [states[0].shape[1]], "names": names}
    info = {"codebase_version": version, "fps": 50, "features": {"observation.state": feature}}
    (path / "meta" / "info.json").write_text(json.dumps(info))
    return path


@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
@pytest.mark.parametrize("names", [list(NAMES), {"motors": list(NAMES)}, None])
def test_lerobot_data_sets(tmp_path, motion, state, version, names):
    path = write_lerobot(tmp_path / "set", version, [state, state + 0.0, state[:100]], names)
    text = assert_read(path, motion, rows=slice(len(state)))
    assert "action" not in text  # what was commanded is not what was measured
    schema = tomllib.loads(text)
    runs = open_runs(path, schema)
    assert [len(run) for run in runs] == [len(state), len(state), 100]
    schema["log"]["topic"] = "episode 2"
    one = read_log(path, schema)
    assert (len(one), one.findings) == (100, ())
    assert_close(one.signals["position"], state[:100, :3])
    schema["log"]["topic"] = "episode 9"
    with pytest.raises(LogError, match=r"no episode 'episode 9'.* episode 0, episode 1"):
        read_log(path, schema)


def test_lerobot_names_a_rotation_vector_as_an_angular_velocity(tmp_path, motion, state):
    turn = log_rotation(motion[1]["quaternion"])
    names = [*(f"ee.{a}" for a in ("x", "y", "z", "wx", "wy", "wz")), *NAMES[7:]]
    states = [np.hstack([state[:, :3], turn, state[:, 7:]])]
    path = write_lerobot(tmp_path / "set", "v3.0", states, names)
    assert_read(path, motion, digits=1e-9)
    keys = {key.place: key for key in drafted_keys(draft_schema(path).text)}
    assert keys["pose.rotation_vector"].uncertain


def test_a_lerobot_data_set_that_is_none(tmp_path):
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text('{"features": {}}')
    with pytest.raises(LogError, match=r"without data/\*\*/\*.parquet"):
        draft_schema(tmp_path)
    (tmp_path / "meta" / "info.json").write_text("[]")
    with pytest.raises(LogError, match="cannot be read as a LeRobot data set"):
        draft_schema(tmp_path)


@pytest.mark.parametrize("kind", ["npz", "h5", "text", "lists", "records", "metadata"])
def test_named_elements(tmp_path, motion, state, kind):
    time = motion[0]
    path = (
        tmp_path
        / f"log.{'npz' if kind == 'npz' else 'h5' if kind in ('h5', 'text') else 'parquet'}"
    )
    lists = pa.array(list(state))
    if kind == "npz":
        np.savez(path, time=time, state=state, state_names=np.array(NAMES))
    elif kind == "lists":
        pose, wrench = pa.array(list(state[:, :7])), pa.array(list(state[:, 7:]))
        pq.write_table(pa.table({"time": time, "pose": pose, "ft": wrench}), path)
    elif kind == "records":
        records = pa.array([dict(zip(NAMES, row.tolist(), strict=True)) for row in state])
        pq.write_table(pa.table({"time": time, "robot": records}), path)
    elif kind == "metadata":
        names = {"names": json.dumps(NAMES)}
        fields = [pa.field("time", pa.float64()), pa.field("s", lists.type, metadata=names)]
        pq.write_table(pa.table([pa.array(time), lists], schema=pa.schema(fields)), path)
    else:
        with h5py.File(path, "w") as file:
            file["time"] = time
            data = file.create_dataset("robot_state", data=state)
            if kind == "h5":
                data.attrs["names"] = list(NAMES)
            else:
                data.attrs["description"] = f"measured: {', '.join(NAMES)}"
    assert_read(path, motion)


@pytest.mark.parametrize("name", ["F_ext", "ft_sensor", "wrist_force_torque", "robot0_ft_data"])
def test_arrays_of_a_wrench_by_their_names(tmp_path, motion, state, name):
    path = tmp_path / "log.npz"
    np.savez(path, **{"time": motion[0], "ee_pose": state[:, :7], name: state[:, 7:]})
    assert_read(path, motion)


def test_a_named_element_is_also_read_by_its_number(tmp_path, motion, state):
    np.savez(tmp_path / "log.npz", time=motion[0], state=state, state_names=np.array(NAMES))
    schema = {
        "log": {"time": "time"},
        "pose": {"position": "state[0:3]", "quaternion": "state[3:7]"},
        "wrench": {"force": "state[7:10]", "torque": ["state.tx", "state.ty", "state[12]"]}
        | {"frame": "body", "acts_on": "body"},
    }
    log = read_log(tmp_path / "log.npz", schema)
    assert_close(log.signals["torque"], motion[1]["torque"])


def test_names_of_elements():
    assert element_names("pose: x, y, z [m]", 3) == ["x", "y", "z [m]"]
    assert element_names(b"fx fy fz", 3) == ["fx", "fy", "fz"]
    assert element_names(["a", "grip", "grip"], 3) == ["a", "grip_1", "grip_2"]
    assert element_names("the pose of the tool", 3) == ()
    assert element_names(None, 3) == ()


def test_lists_of_differing_lengths_are_refused(tmp_path, motion, state):
    rows = [*map(list, state[:-1, :7]), [0.0]]
    table = pa.table({"t": motion[0], "pose": pa.array(rows), "ft": pa.array(list(state[:, 7:]))})
    pq.write_table(table, tmp_path / "log.parquet")
    schema = tomllib.loads(draft_schema(tmp_path / "log.parquet").text)
    with pytest.raises(LogError, match="expected lists of 7 numbers in all rows"):
        read_log(tmp_path / "log.parquet", schema)


def test_numbered_columns_by_behaviour(tmp_path, motion):
    time, s = motion
    rng = np.random.default_rng(1)
    joints = np.cumsum(rng.standard_normal((len(time), 6)), axis=0) * 1e-2
    turn = log_rotation(s["quaternion"])
    groups = {"q": joints, "tcp": np.hstack([s["position"], turn])}
    groups["s"] = np.hstack([s["force"], s["torque"]])
    heads = ["time", *(f"{name}_{k}" for name, of in groups.items() for k in range(of.shape[1]))]
    table = np.column_stack([time, *groups.values()])
    np.savetxt(tmp_path / "log.csv", table, "%.17g", ",", header=",".join(heads), comments="")
    text = assert_read(tmp_path / "log.csv", motion, digits=1e-9)
    keys = {key.place: key for key in drafted_keys(text)}
    assert keys["pose.rotation_vector"].value == ["tcp_3", "tcp_4", "tcp_5"]
    assert keys["wrench.force"].uncertain
    assert "behave" in keys["wrench.force"].comment
    unlike = np.column_stack([time, joints, rng.standard_normal((len(time), 12))])
    np.savetxt(tmp_path / "none.csv", unlike, "%.17g", ",", header=",".join(heads), comments="")
    assert draft_schema(tmp_path / "none.csv").missing_signals == ("the pose", "force and torque")


@pytest.mark.parametrize(("delimiter", "top"), [(",", ""), (" ", ""), (";", "# recorded\n")])
def test_a_file_without_names(tmp_path, motion, state, delimiter, top):
    table = np.column_stack([np.arange(len(state)), motion[0], state])
    text = top + "\n".join(delimiter.join(f"{x:.17g}" for x in row) for row in table)
    (tmp_path / "log.csv").write_text(text)
    drafted = assert_read(tmp_path / "log.csv", motion)
    keys = {key.place: key for key in drafted_keys(drafted)}
    assert keys["log.time"].value == 1  # not the counter
    assert keys["log.time"].uncertain
    assert keys["pose.quaternion"].value == [5, 6, 7, 8]
    assert UNNAMED_LINE in drafted
    np.savetxt(tmp_path / "none.csv", np.sin(9.0 * table[:, [0, 9, 10]]), delimiter=",")
    poor = draft_schema(tmp_path / "none.csv")
    assert poor.missing_signals == ("time", "the pose", "force and torque")
    assert UNNAMED_LINE in poor.text


@pytest.mark.parametrize("ending", ["npz", "npy", "h5"])
def test_records(tmp_path, motion, state, ending):
    rows = np.column_stack([motion[0], state])
    records = rows.view([(name, "f8") for name in ("t", *NAMES)])[:, 0]
    path = tmp_path / f"log.{ending}"
    if ending == "h5":
        with h5py.File(path, "w") as file:
            file["data"] = records
    elif ending == "npz":
        np.savez(path, data=records)
    else:
        np.save(path, records)
    assert_read(path, motion)


def test_joints_and_their_torques_are_no_pose_and_wrench(tmp_path):
    """A planar arm: its torques follow gravity, as a force would."""
    time = np.arange(400) / 100.0
    q = np.outer(np.sin(2.0 * time), [1.0, 0.6, 0.8, 0.5, 0.4, 0.3])
    columns = np.column_stack([time, q, 20.0 * np.cos(np.cumsum(q, axis=1))])
    heads = ",".join(["t", *(f"{name}_{k}" for name in ("q", "tau_J") for k in range(6))])
    np.savetxt(tmp_path / "arm.csv", columns, "%.9g", ",", header=heads, comments="")
    text = draft_schema(tmp_path / "arm.csv").text
    assert "[joints]" in text
    assert "[wrench]" not in text


def test_a_scalar_first_quaternion_among_unnamed_columns(tmp_path, motion, state):
    np.savez(
        tmp_path / "log.npz", time=motion[0], obs=state[:, [6, 3, 4, 5, 0, 1, 2, *range(7, 13)]]
    )
    keys = {key.place: key for key in drafted_keys(draft_schema(tmp_path / "log.npz").text)}
    assert keys["pose.quaternion"].value == [f"obs[{k}]" for k in range(4)]
    assert keys["pose.position"].value == [f"obs[{k}]" for k in (4, 5, 6)]
    assert keys["wrench.torque"].value == [f"obs[{k}]" for k in (10, 11, 12)]


@pytest.mark.parametrize("still_position", [False, True])
def test_accelerations_beside_a_quaternion_are_no_position(tmp_path, motion, state, still_position):
    rng, rows = np.random.default_rng(0), len(state)
    position = np.zeros((rows, 3)) if still_position else state[:, :3]
    rates = [rng.normal(size=(rows, 3)), state[:, 3:7], rng.normal(size=(rows, 3)), state[:, 7:]]
    path = tmp_path / "log.csv"
    np.savetxt(path, np.hstack([position, *rates]))
    log = tomllib.loads(draft_schema(path).text)
    assert log["pose"]["quaternion"] == [6, 7, 8, 9]
    if not still_position:  # one that is constant is taken as the columns stand
        assert log["pose"]["position"] == [0, 1, 2]
        assert log["wrench"]["force"] == [13, 14, 15]


def test_a_reader_of_another_package(tmp_path, monkeypatch, motion, state):
    """A package on the path, with the metadata that an installer writes."""
    (tmp_path / "own_format.py").write_text(
        "import numpy as np\n\n\ndef read(path):\n"
        "    table = np.frombuffer(path.read_bytes()[4:]).reshape(-1, 14)\n"
        "    return {'t': table[:, 0], 'pose': table[:, 1:8], 'ft': table[:, 8:]}\n\n\n"
        "def wrong(path):\n    return [1.0]\n"
    )
    metadata = tmp_path / "own_format-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: own-format\nVersion: 1.0\n")
    entries = "[identify.readers]\nown = own_format:read\nbad = own_format:wrong\n"
    (metadata / "entry_points.txt").write_text(entries)
    monkeypatch.syspath_prepend(tmp_path)
    plugins.cache_clear()
    log = tmp_path / "log.own"
    log.write_bytes(b"OWN1" + np.column_stack([motion[0], state]).tobytes())
    assert_read(log, motion)
    log.write_bytes(b"OWN1 cut short")
    with pytest.raises(LogError, match="cannot be read as a file of own_format:read"):
        draft_schema(log)
    log.rename(tmp_path / "log.bad")
    with pytest.raises(LogError, match="returned list, expected named arrays"):
        draft_schema(tmp_path / "log.bad")
    plugins.cache_clear()
    sys.modules.pop("own_format", None)
