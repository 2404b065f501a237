import shutil
import sqlite3
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from identify.errors import LogError, MissingColumn, MissingExtra, MissingFile, SchemaError
from identify.logs import LogFile, open_log, read_log
from identify.logs.readers import list_tables
from identify.logs.readers.bag import bag_storage
from identify.logs.readers.mat import MAX_BYTES
from identify.logs.schema import load_schema
from identify.spatial.rotations import quaternion_product, rotate, rotation_from_quaternion
from tests.close import assert_close

h5py = pytest.importorskip("h5py")
pytest.importorskip("rosbags")
pytest.importorskip("pyulog")
from tests.logs import containers  # noqa: E402

ARM = Path(__file__).parents[2] / "datasets" / "payload_arm"
WRENCH = {"frame": "body", "acts_on": "sensor"}
START = 1_700_000_000_123_456_789


@pytest.fixture(scope="module")
def columns() -> dict[str, np.ndarray]:
    """Some rows of the shipped log: t [ns], p, q, f, tau."""
    import pyarrow.parquet as pq

    table = pq.read_table(ARM / "payload_arm.parquet").slice(0, 6000).to_pandas()[::12]
    return {
        "t": START + 1000 * table["t_us"].to_numpy(),
        "p": table[["px", "py", "pz"]].to_numpy(),
        "q": table[["qx", "qy", "qz", "qw"]].to_numpy(),
        "f": table[["fx", "fy", "fz"]].to_numpy(),
        "tau": table[["tx", "ty", "tz"]].to_numpy(),
    }


@pytest.fixture(scope="module")
def reference(columns):
    """The same rows from memory."""
    schema = {
        "log": {"time": "t", "time_unit": "ns"},
        "pose": {"position": "p", "quaternion": "q"},
        "wrench": {"force": "f", "torque": "tau", **WRENCH},
    }
    return read_log(columns, schema)


def assert_same(log, reference, time: float = 1e-9) -> None:
    """The same signals, of one stream or of several on the clock of one."""
    assert not log.streams or all(len(s.time) == len(log.time) for s in log.streams)
    signals = {**log.signals, **{k: v for s in log.streams for k, v in s.signals.items()}}
    assert set(signals) == set(reference.signals)
    for name, values in reference.signals.items():
        assert_close(signals[name], values, 1e-15)
    assert_close(log.time, reference.time, time)


BAG_SCHEMA = {
    "log": {"time": "header.stamp"},
    "streams": {"pose": {"topic": "/pose"}, "wrench": {"topic": "/ft/wrench"}},
    "pose": {
        "position": [f"pose.position.{a}" for a in "xyz"],
        "quaternion": [f"pose.orientation.{a}" for a in "xyzw"],
    },
    "wrench": {
        "force": [f"wrench.force.{a}" for a in "xyz"],
        "torque": [f"wrench.torque.{a}" for a in "xyz"],
        **WRENCH,
    },
}


@pytest.fixture(scope="module")
def bags(columns, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bags")
    made = {
        "ros1": containers.write_bag(folder / "one.bag", "ros1", columns),
        "sqlite3": containers.write_bag(folder / "two", "sqlite3", columns),
        "mcap": containers.write_bag(folder / "three", "mcap", columns),
    }
    (alone,) = made["mcap"].glob("*.mcap")
    made["one mcap"] = Path(shutil.copy(alone, folder / "alone.mcap"))
    (alone,) = made["sqlite3"].glob("*.db3")
    made["one db3"] = Path(shutil.copy(alone, folder / "alone.db3"))
    return made


@pytest.mark.parametrize("kind", ["ros1", "sqlite3", "mcap", "one mcap", "one db3"])
def test_bag_round_trip(bags, reference, kind):
    log = read_log(bags[kind], BAG_SCHEMA)
    assert_same(log, reference)
    assert log.dropped.total == 0
    assert len(log.sha256) == 64
    changed = {**BAG_SCHEMA, "log": {"time": "receive_time"}}
    received = read_log(bags[kind], changed)
    # The wrench was received 1 ms after its stamp, the pose 2 ms.
    assert len(received.streams) == 1 or received.rows


def test_a_bag_in_a_folder_changes_its_digest_with_any_file(bags, tmp_path):
    copy = Path(shutil.copytree(bags["mcap"], tmp_path / "copy"))
    assert read_log(copy, BAG_SCHEMA).sha256 == read_log(bags["mcap"], BAG_SCHEMA).sha256
    with (copy / "metadata.yaml").open("a") as file:
        file.write("\n")
    assert read_log(copy, BAG_SCHEMA).sha256 != read_log(bags["mcap"], BAG_SCHEMA).sha256


def test_bag_topics_may_have_different_rates(columns, bags, tmp_path):
    path = tmp_path / "rates"
    with containers.Bag(path, "mcap") as bag:
        for k, ns in enumerate(columns["t"]):
            bag.wrench("/ft/wrench", int(ns), columns["f"][k], columns["tau"][k])
            if k % 3 == 0:
                bag.pose("/pose", int(ns), columns["p"][k], columns["q"][k])
    log = read_log(path, BAG_SCHEMA)
    (pose,) = log.streams
    assert len(pose) == -(-len(log) // 3)
    assert_close(pose.signals["position"], columns["p"][::3], 1e-15)


def without_topics(**log) -> dict:
    return {k: v for k, v in BAG_SCHEMA.items() if k != "streams"} | {
        "log": {"time": "header.stamp", **log}
    }


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (without_topics(), r"holds 2 topics, .* /pose \(geometry_msgs/msg/PoseStamped\)"),
        (without_topics(topic="/poze"), r"no topic '/poze'; did you mean '/pose'"),
        (
            without_topics(topic="/pose"),
            r"/pose \(.*/PoseStamped\): no column 'wrench.force.x' among",
        ),
        (without_topics(topic="base -> tool0"), r"no transforms between frames"),
    ],
)
def test_missing_topic_error_lists_topics(bags, schema, words):
    with pytest.raises(LogError, match=words):
        read_log(bags["mcap"], schema)


@pytest.mark.parametrize("kind", ["ros1", "one mcap", "one db3"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_bag_cut_short_is_an_error_that_names_it(bags, tmp_path, kind, share):
    whole = bags[kind].read_bytes()
    cut = tmp_path / f"cut{bags[kind].suffix}"
    cut.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(LogError, match=str(cut)):
        read_log(cut, BAG_SCHEMA)


def test_frames_are_chained_through_moving_and_static_transforms(columns, reference, tmp_path):
    p, q, t = columns["p"], columns["q"], columns["t"]
    grip = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.5, -0.5, 0.5])
    path = tmp_path / "tf"
    with containers.Bag(path, "mcap") as bag:
        bag.transform("/tf_static", int(t[0]), "flange", "grip", *grip)
        bag.transform("/tf_static", int(t[0]), "lonely", "island", *grip)
        for ns, one_p, one_q, f, tau in zip(t, p, q, columns["f"], columns["tau"], strict=True):
            bag.transform("/tf", int(ns), "base", "flange", one_p, one_q)
            bag.wrench("/ft/wrench", int(ns), f, tau)

    def schema(frames: str) -> dict:
        return {
            "log": {"time": "header.stamp"},
            "streams": {"pose": {"topic": frames}, "wrench": {"topic": "/ft/wrench"}},
            "pose": {
                "position": [f"translation.{a}" for a in "xyz"],
                "quaternion": [f"rotation.{a}" for a in "xyzw"],
            },
            "wrench": BAG_SCHEMA["wrench"],
        }

    assert_same(read_log(path, schema("base -> flange")), reference)
    log = read_log(path, schema("base -> grip"))
    signals = {**log.signals, **{k: v for s in log.streams for k, v in s.signals.items()}}
    R = rotation_from_quaternion(q)
    assert_close(signals["position"], p + rotate(R, np.broadcast_to(grip[0], p.shape)), 1e-14)
    unit = q / np.linalg.norm(q, axis=1, keepdims=True)
    expected = quaternion_product(unit, np.broadcast_to(grip[1], q.shape))
    assert_close(signals["quaternion"] * np.sign(signals["quaternion"][:, :1]),
                 expected * np.sign(expected[:, :1]), 1e-14)  # fmt: skip
    back = read_log(path, schema("grip -> base"))
    there = {**back.signals, **{k: v for s in back.streams for k, v in s.signals.items()}}
    R_back = rotation_from_quaternion(there["quaternion"])
    assert_close(rotate(R_back, signals["position"]), -there["position"], 1e-13)
    for frames, words in (
        ("base -> grib", r"no frame 'grib'; did you mean 'grip'.*base \(flange \(grip\)\)"),
        ("base -> island", "no transform leads from 'base' to 'island'"),
        ("flange -> grip", "does not move in 'flange'"),
        ("/tf", 'give topic = "PARENT -> CHILD"'),
    ):
        with pytest.raises(LogError, match=words):
            read_log(path, schema(frames))


def spoilt(bag: containers.Bag, case: str) -> None:
    """Messages on a topic that nobody asked for."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    kind, store = "std_msgs/msg/Float64", bag.store
    serialize = store.serialize_ros1 if bag.ros1 else store.serialize_cdr
    raw = bytes(serialize(store.types[kind](0.0), kind)) + bytes(8)
    if case == "of no definition":
        kind, store = "my_msgs/msg/Odd", get_typestore(Stores.EMPTY)
        store.register(get_types_from_msg("float64 data\nfloat64 more\n", kind))
    elif case == "too long":
        raw += b"!" * 8
    connection = bag.writer.add_connection("/a", kind, typestore=store)
    bag.writer.write(connection, START, raw)


@pytest.mark.parametrize("alone", [False, True])
def test_bag_with_other_encoding_in_unused_topic_is_read(columns, reference, tmp_path, alone):
    path = tmp_path / "run"
    with containers.Bag(path, "mcap") as bag:
        spoilt(bag, "padded")
        for ns, p, q, f, tau in zip(
            *(columns[k] for k in ("t", "p", "q", "f", "tau")), strict=True
        ):
            bag.pose("/pose", int(ns), p, q)
            bag.wrench("/ft/wrench", int(ns), f, tau)
    (part,) = path.glob("*.mcap")
    length = b"\3\0\0\0"
    content = part.read_bytes().replace(b"/a" + length + b"cdr", b"/a" + length + b"xml")
    kind = b"std_msgs/msg/Float64\7\0\0\0"
    part.write_bytes(content.replace(kind + b"ros2msg", kind + b"xschema"))
    index = path / "metadata.yaml"
    before, name, after = index.read_text().partition("/a\n")
    index.write_text(before + name + after.replace("format: cdr", "format: xml", 1))
    log = part if alone else path
    assert_same(read_log(log, BAG_SCHEMA), reference)
    assert "/a" not in {str(each.topic) for each in list_tables(log)}
    schema = {**BAG_SCHEMA, "streams": {**BAG_SCHEMA["streams"], "wrench": {"topic": "/a"}}}
    with pytest.raises(LogError, match=r"/a .*encoded as xml, and only cdr is read"):
        read_log(log, schema)


@pytest.mark.parametrize(
    ("formats", "files", "compressed", "alone"),
    [
        (["cdr", "json"], ["run/run_0.mcap"], "NONE", True),
        (["json"], ["run_0.mcap"], "", True),
        (["cdr", "cdr"], ["run_0.mcap"], "", False),
        (["cdr", "json"], ["run_0.mcap", "run_1.mcap"], "", False),
        (["cdr", "json"], ["run_0.mcap.zstd"], "FILE", False),
    ],
)
def test_a_folder_with_another_encoding_is_read_by_its_only_plain_file(
    tmp_path, formats, files, compressed, alone
):
    topics = [
        f"  - topic_metadata: {{name: /{k}, serialization_format: {each}}}"
        for k, each in enumerate(formats)
    ]
    lines = [
        "rosbag2_bagfile_information:",
        f"  compression_mode: '{compressed}'",
        f"  relative_file_paths: {files}",
        "  topics_with_message_count:",
        *topics,
    ]
    (tmp_path / "metadata.yaml").write_text("\n".join(lines))
    assert bag_storage(tmp_path) == (tmp_path / Path(files[0]).name if alone else tmp_path)
    assert bag_storage(tmp_path / "run_0.mcap") == tmp_path / "run_0.mcap"


@pytest.mark.parametrize("kind", ["ros1", "mcap", "sqlite3"])
@pytest.mark.parametrize("case", ["padded", "too long", "of no definition"])
def test_a_topic_that_is_not_needed_never_refuses_a_bag(columns, reference, tmp_path, kind, case):
    path = tmp_path / ("one.bag" if kind == "ros1" else "run")
    with containers.Bag(path, kind) as bag:
        spoilt(bag, case)
        for ns, p, q, f, tau in zip(
            *(columns[k] for k in ("t", "p", "q", "f", "tau")), strict=True
        ):
            bag.pose("/pose", int(ns), p, q)
            bag.wrench("/ft/wrench", int(ns), f, tau)
    part = path if kind == "ros1" else next(p for p in path.iterdir() if p.suffix != ".yaml")
    if case == "of no definition":
        content = part.read_bytes()
        part.write_bytes(content.replace(b"float64 more", b"Unheard more"))
    assert_same(read_log(path, BAG_SCHEMA), reference)
    topics = [table.topic for table in list_tables(path)]
    assert ("/a" in topics) == (case == "padded")
    schema = without_topics(topic="/a")
    words = "no column" if case == "padded" else "cannot be read as a message of its type"
    kind = "my_msgs/msg/Odd" if case == "of no definition" else "std_msgs/msg/Float64"
    with pytest.raises(LogError, match=rf"/a \({kind}\): {words}"):
        read_log(path, schema)


def test_missing_stamps_are_replaced_by_receive_time(columns, reference, tmp_path):
    rows = list(zip(*(columns[k] for k in ("t", "p", "q", "f", "tau")), strict=True))[:50]
    with containers.Bag(tmp_path / "run", "mcap") as bag:
        zero = bag.header(0, "ft")
        for ns, p, q, f, tau in rows:
            bag.transform("/tf", int(ns), "base", "tool", p, q)
            wrench = bag.type("geometry_msgs/msg/Wrench")(bag.vector(f), bag.vector(tau))
            bag.write("/plain", "geometry_msgs/msg/Wrench", int(ns) + 5_000_000, wrench)
            kind = "geometry_msgs/msg/WrenchStamped"
            bag.write("/zero", kind, int(ns) + 5_000_000, bag.type(kind)(zero, wrench))
    pose = {
        "position": [f"translation.{a}" for a in "xyz"],
        "quaternion": [f"rotation.{a}" for a in "xyzw"],
    }
    prefixes = {"/plain": ("", "no header"), "/zero": ("wrench.", "stamps are all zero")}
    for topic, (prefix, why) in prefixes.items():
        names = {k: [f"{prefix}{k}.{a}" for a in "xyz"] for k in ("force", "torque")}
        schema = {
            "log": {"time": "header.stamp"},
            "streams": {"pose": {"topic": "base -> tool"}, "wrench": {"topic": topic}},
            "pose": pose,
            "wrench": {**names, **WRENCH},
        }
        with pytest.raises(LogError, match=rf'{topic} \(.*{why}; set time = "receive_time"'):
            read_log(tmp_path / "run", schema)
        log = read_log(tmp_path / "run", {**schema, "log": {"time": "receive_time"}})
        (stream,) = log.streams
        assert_close(stream.time[0], -0.005, 1e-6)  # the transform was received before


HDF5_SCHEMA = {
    "log": {"time": "t", "time_unit": "ns"},
    "streams": {"pose": {"topic": "arm"}, "wrench": {"topic": "/ft"}},
    "pose": {"position": "pose[0:3]", "quaternion": "pose[3:7]"},
    "wrench": {"force": "wrench.force", "torque": "wrench.torque[0:3]", **WRENCH},
}


def test_hdf5_round_trip(columns, reference, tmp_path):
    path = containers.write_hdf5(tmp_path / "log.h5", columns)
    assert_same(read_log(path, HDF5_SCHEMA), reference)
    whole = {
        "log": {"time": "arm/t", "time_unit": "ns"},
        "pose": {"position": "arm/pose[0:3]", "quaternion": "arm/pose[3:7]"},
        "wrench": {"force": "ft/wrench.force", "torque": "ft/wrench.torque", **WRENCH},
    }
    assert_same(read_log(path, whole), reference)
    for schema, words in (
        ({**whole, "log": {"time": "arm/t", "topic": "arms"}}, "no group 'arms'; did you mean"),
        ({**whole, "pose": {"position": "notes", "quaternion": "arm/pose[3:7]"}}, "no column"),
        ({**whole, "pose": {"position": "arm/pos[0:3]", "quaternion": "arm/pose[3:7]"}}, "no col"),
    ):
        with pytest.raises(LogError, match=words):
            read_log(path, schema)
    broken = tmp_path / "broken.h5"
    broken.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(LogError, match=r"broken\.h5: cannot be read as a HDF5 file"):
        read_log(broken, whole)


def test_a_long_hdf5_file_is_read_in_part(tmp_path):
    rows = 140_000
    path = tmp_path / "long.h5"
    angle = 1e-4 * np.arange(rows)
    with h5py.File(path, "w") as file:
        file["t"] = np.arange(rows)
        pose = np.zeros((rows, 7))
        pose[:, 5], pose[:, 6] = np.sin(angle), np.cos(angle)
        file["pose"] = pose
        file["w"] = np.random.default_rng(0).normal(size=(rows, 6))
    schema = {
        "log": {"time": "t", "time_unit": "ms"},
        "pose": {"position": "pose[0:3]", "quaternion": "pose[3:7]"},
        "wrench": {"force": "w[0:3]", "torque": "w[3:6]", **WRENCH},
    }
    opened = open_log(path, schema)
    assert isinstance(opened, LogFile)
    whole = read_log(path, schema)
    part = opened.reader()(70_000, 70_100, 7).recording
    for name, values in whole.signals.items():
        assert_close(part.signals[name], values[69_993:70_107], 0.0)
    assert_close(part.time, whole.time[69_993:70_107], 1e-12)


def test_hdf5_decompression_bomb_is_rejected(columns, tmp_path):
    path = tmp_path / "bomb.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("t", (10**9,), dtype="f8", chunks=(10**6,), compression="gzip")
    schema = {
        "log": {"time": "t"},
        "pose": {"quaternion": "q", "position": "p"},
        "wrench": {"force": "f", "torque": "tau", **WRENCH},
    }
    with pytest.raises(LogError, match="expand to"):
        read_log(path, schema)


MAT_SCHEMA = {
    "log": {"time": "log.t", "time_unit": "ns"},
    "pose": {"position": "log.p", "quaternion": "log.q"},
    "wrench": {"force": "log.ft.force", "torque": "tau", **WRENCH},
}


def _write(path: Path, kind: str, data: dict[str, np.ndarray]) -> Path:
    """The arrays as MATLAB or Python would have them in a file."""
    from scipy.io import savemat

    if kind == "npz":
        np.savez(path, **data)
    elif kind == "mat":
        savemat(path, data)
    else:
        turned = kind == "mat of 7.3"
        with h5py.File(path, "w", userblock_size=512 * turned) as file:
            for name, values in data.items():
                column = values[:, None] if turned and values.ndim == 1 else values
                file[name] = column.T if turned else column
    return path


@pytest.mark.parametrize("kind", ["npz", "hdf5", "mat", "mat of 7.3"])
@pytest.mark.parametrize("shapes", ["n×4×4", "4×4×n", "3×n", "3×1×n"])
def test_arrays_with_their_samples_along_any_axis(columns, reference, tmp_path, kind, shapes):
    T = np.tile(np.eye(4), (len(columns["t"]), 1, 1))
    T[:, :3, :3], T[:, :3, 3] = rotation_from_quaternion(columns["q"]), columns["p"]
    vectors = {name: columns[name] for name in ("p", "q", "f", "tau")}
    data = {"t": columns["t"], "gravity": np.array([0.0, 0.0, -9.81])}
    match shapes:
        case "n×4×4":
            data |= {"T": T, **vectors}
        case "4×4×n":
            data |= {"T": np.moveaxis(T, 0, 2), **vectors}
        case "3×n":
            data |= {name: values.T for name, values in vectors.items()}
        case _:
            data |= {name: values.T[:, None] for name, values in vectors.items()}
            data["t"] = data["t"][None, None]
    path = _write(tmp_path / f"log.{kind[:4].strip()}", kind, data)
    schema = {
        "log": {"time": "t", "time_unit": "ns"},
        "pose": {"matrix": "T"} if "4" in shapes else {"position": "p", "quaternion": "q"},
        "wrench": {"force": "f", "torque": "tau", **WRENCH},
    }
    log = read_log(path, schema)
    found = [finding.text for finding in log.findings if finding.code == "transposed"]
    assert len(found) == (shapes != "n×4×4")
    for name in ("position", "force", "torque"):
        assert_close(log.signals[name], reference.signals[name], 1e-15)
    R, expected = (rotation_from_quaternion(x.signals["quaternion"]) for x in (log, reference))
    assert_close(R, expected, 1e-12)
    assert_close(log.time, reference.time, 1e-9)


def test_wide_array_of_few_rows_is_not_transposed(columns, tmp_path):
    wide = np.zeros((12, 30))
    wide[:, 6] = 1.0
    path = _write(tmp_path / "log.npz", "npz", {"joints": wide, "w": columns["f"][:12]})
    schema = {
        "log": {"still": True},
        "pose": {"position": "joints[0:3]", "quaternion": "joints[3:7]"},
        "wrench": {"force": "w", "torque": "joints[8:11]", **WRENCH},
    }
    assert len(read_log(path, schema)) == 12


@pytest.mark.parametrize("kind", ["mat", "mat of 7.3"])
def test_signals_of_simulink_are_structures_by_number(columns, reference, tmp_path, kind):
    from scipy.io import savemat

    values = [np.hstack((columns["p"], columns["q"])), columns["f"].T[:, None], columns["tau"]]
    path = tmp_path / "log.mat"
    if kind == "mat":
        fields = np.empty((1, 3), dtype=[("values", object), ("label", object)])
        fields[0] = [(array, "a label") for array in values]
        savemat(path, {"out": {"time": columns["t"][:, None], "signals": fields}})
    else:
        with h5py.File(path, "w", userblock_size=512) as file:
            file["out/time"] = columns["t"][None]
            references = file.create_dataset("out/signals/values", (3, 1), dtype=h5py.ref_dtype)
            for k, array in enumerate(values):
                file[f"#refs#/{k}"] = array.T
                references[k, 0] = file[f"#refs#/{k}"].ref
    schema = {
        "log": {"time": "out.time", "time_unit": "ns"},
        "pose": {
            "position": "out.signals(1).values[0:3]",
            "quaternion": "out.signals(1).values[3:7]",
        },
        "wrench": {"force": "out.signals(2).values", "torque": "out.signals(3).values", **WRENCH},
    }
    assert_same(read_log(path, schema), reference)


@pytest.mark.parametrize("compressed", [False, True])
def test_mat_round_trip(columns, reference, tmp_path, compressed):
    from scipy.io import savemat

    path = tmp_path / "log.mat"
    log = {"t": columns["t"][:, None], "p": columns["p"], "q": columns["q"]}
    log["ft"] = {"force": columns["f"], "name": "a text"}
    savemat(path, {"log": log, "tau": columns["tau"]}, do_compression=compressed)
    assert_same(read_log(path, MAT_SCHEMA), reference)
    with pytest.raises(MissingColumn, match=r"log\.pp"):
        read_log(path, {**MAT_SCHEMA, "pose": {"position": "log.pp", "quaternion": "log.q"}})
    cut = tmp_path / "cut.mat"
    cut.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(LogError, match=r"cut\.mat"):
        read_log(cut, MAT_SCHEMA)


def test_mat_7_3_arrays_are_transposed(columns, reference, tmp_path):
    path = tmp_path / "log.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["log/t"] = columns["t"][None]
        file["log/p"], file["log/q"] = columns["p"].T, columns["q"].T
        file["log/ft/force"], file["tau"] = columns["f"].T, columns["tau"].T
    assert_same(read_log(path, MAT_SCHEMA), reference)


def test_a_variable_that_claims_to_be_huge_is_rejected(tmp_path):
    path = tmp_path / "huge.mat"
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x100) + b"IM"
    inner = zlib.compress(struct.pack("<II", 14, MAX_BYTES + 8) + bytes(100))
    path.write_bytes(header + struct.pack("<II", 15, len(inner)) + inner)
    with pytest.raises(LogError, match="expand to"):
        read_log(path, MAT_SCHEMA)


def test_ulog_round_trip(columns, reference, tmp_path):
    micro = ((columns["t"] - START) // 1000).astype(np.uint64)
    path = containers.write_ulog(
        tmp_path / "log.ulg",
        {
            "vehicle_pose": {
                "timestamp": ("uint64_t", micro),
                "position": ("double", columns["p"]),
                "q": ("double", columns["q"]),
            },
            "ft": {
                "timestamp": ("uint64_t", micro),
                "force": ("double", columns["f"]),
                "torque": ("double", columns["tau"]),
            },
        },
    )
    schema = {
        "log": {"time": "timestamp"},
        "streams": {"pose": {"topic": "vehicle_pose"}, "wrench": {"topic": "ft"}},
        "pose": {"position": "position", "quaternion": "q"},
        "wrench": {"force": "force", "torque": "torque", **WRENCH},
    }
    assert_same(read_log(path, schema), reference)
    wrong = {**schema, "streams": {**schema["streams"], "wrench": {"topic": "fd"}}}
    with pytest.raises(
        LogError, match=r"no message 'fd'.*There are: ft \(500 rows\), vehicle_pose"
    ):
        read_log(path, wrong)
    path.write_bytes(b"no ulog at all")
    with pytest.raises(LogError, match="cannot be read as a ULog file"):
        read_log(path, schema)


def test_a_range_names_the_columns_of_an_array_however_the_file_numbers_them(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(20, 6))
    matrix = np.tile(np.eye(4).T.reshape(-1), (20, 1))
    matrix[:, 12:15] = rng.normal(size=(20, 3))
    heads = {"{}_{}": "a", "{}{}": "b", "{}[{}]": "c"}
    for pattern, name in heads.items():
        names = ["t", *(pattern.format("O_T_EE", k) for k in range(16))]
        names += [pattern.format("F", k) for k in range(6)]
        path = tmp_path / f"{name}.csv"
        rows = np.column_stack((np.arange(20) * 0.01, matrix, values))
        np.savetxt(path, rows, "%.17g", ",", header=",".join(names), comments="")
        log = read_log(
            path,
            {
                "log": {"time": "t", "comment": ""},
                "pose": {"matrix": "O_T_EE", "order": "column"},
                "wrench": {"force": "F[0:3]", "torque": "F[3:6]", **WRENCH},
            },
        )
        assert_close(log.signals["position"], matrix[:, 12:15], 0.0)
        assert_close(log.signals["force"], -values[:, :3], 0.0)
    for given, words in (
        ("F[3:3]", "whose end is exclusive"),
        ("F[0:4]", "expected 3 columns, got 4"),
        ("", "expected a list of 3 columns, or a range"),
    ):
        with pytest.raises(SchemaError, match=words):
            load_schema(
                {
                    "log": {"time": "t"},
                    "pose": {"matrix": "O_T_EE"},
                    "wrench": {"force": given, "torque": "F[3:6]", **WRENCH},
                }
            )


def test_a_topic_is_for_files_that_hold_several_tables(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,a\n0,1\n")
    with pytest.raises(LogError, match="names the topic 'x', but the file holds one table"):
        read_log(path, {**MAT_SCHEMA, "log": {"time": "t", "topic": "x"}})
    with pytest.raises(MissingFile, match="no such file"):
        read_log(tmp_path / "none.mcap", BAG_SCHEMA)


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [("h5py", "a.h5", "hdf5"), ("rosbags.rosbag2", "a.bag", "bags"), ("pyulog", "a.ulg", "px4")],
)
def test_a_format_whose_library_is_missing_names_the_extra(
    tmp_path, monkeypatch, module, name, extra
):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    (tmp_path / name).write_bytes(b"something")
    with pytest.raises(MissingExtra, match=rf"inertia-identify\[{extra}\]"):
        read_log(tmp_path / name, BAG_SCHEMA)


ZSTD = [("sqlite3", "message"), ("sqlite3", "file"), ("mcap", "file"), ("mcap", "storage")]


@pytest.mark.parametrize(("kind", "mode"), ZSTD)
def test_a_compressed_bag_of_ros2_is_read(columns, tmp_path, kind, mode):
    path = containers.write_bag(tmp_path / "run", kind, columns, mode)
    plain = containers.write_bag(tmp_path / "plain", kind, columns)
    read, expected = read_log(path, BAG_SCHEMA), read_log(plain, BAG_SCHEMA)
    for name, values in expected.signals.items():
        assert_close(read.signals[name], values, 0.0)


@pytest.mark.parametrize("mode", ["message", "file"])
def test_compressed_parts_that_are_cut_short_are_an_error(columns, tmp_path, mode):
    path = containers.write_bag(tmp_path / "run", "sqlite3", columns, mode)
    (part,) = (file for file in path.iterdir() if file.name != "metadata.yaml")
    if mode == "file":
        part.write_bytes(part.read_bytes()[: part.stat().st_size // 2])
    else:
        with sqlite3.connect(part) as file:
            file.execute("UPDATE messages SET data = substr(data, 1, 20)")
    with pytest.raises(LogError, match=r"cannot be read as a (ROS bag|message)"):
        read_log(path, BAG_SCHEMA)


@pytest.mark.parametrize("kind", ["bz2", "lz4"])
def test_a_compressed_bag_of_ros1_is_read(columns, tmp_path, kind):
    path = containers.write_bag(tmp_path / "log.bag", "ros1", columns, kind)
    plain = containers.write_bag(tmp_path / "plain.bag", "ros1", columns)
    read, expected = read_log(path, BAG_SCHEMA), read_log(plain, BAG_SCHEMA)
    for name, values in expected.signals.items():
        assert_close(read.signals[name], values, 0.0)
