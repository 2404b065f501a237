import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.spatial.transform import Rotation

from identify.errors import LogError, SchemaError
from identify.logs import load_schema, read_log
from identify.logs.draft_lines import drafted_keys
from identify.logs.draft_schema import NEEDS_REVIEW, _choose_pose, draft_schema
from identify.logs.named_vectors import find_named_vectors
from identify.logs.presets import presets
from identify.logs.table import TableInfo
from identify.logs.units import ACCELERATION_UNITS, ANGLE_UNITS
from identify.signals.segment_kinematics import static_poses_in_body
from identify.spatial.rotations import log_rotation, rotate, rotation_from_quaternion
from identify.spatial.vectors import STANDARD_GRAVITY
from tests.close import assert_close
from tests.still_and_moving import still_and_moving

ARM = Path(__file__).parents[2] / "datasets" / "payload_arm"
TCP = [0.0, 0.02, 0.12, 0.3, -0.1, 0.2]


@pytest.fixture(scope="module")
def arm() -> dict[str, np.ndarray]:
    """Some rows of the shipped log, on the sensor: t [s], p, q, f, tau."""
    import pyarrow.parquet as pq

    table = pq.read_table(ARM / "payload_arm.parquet").slice(0, 3000).to_pandas()[::10]
    of = {name: table[[f"{name}{a}" for a in "xyz"]].to_numpy() for name in "pft"}
    q = table[["qx", "qy", "qz", "qw"]].to_numpy()
    time = table["t_us"].to_numpy() * 1e-6
    return {"t": time, "p": of["p"], "q": q, "f": of["f"], "tau": of["t"]}


def test_a_long_comment_of_numbers_does_not_decide_the_separator(tmp_path):
    numbers = " ".join(f"{0.37 * k:.4f}" for k in range(36))
    rows = "\n".join(f"{0.01 * k:.2f},1,2,3,0,0,0,1,4,5,6,7,8,9" for k in range(30))
    path = tmp_path / "log.csv"
    path.write_text(f"# calibration {numbers}\nt,px,py,pz,qx,qy,qz,qw,fx,fy,fz,tx,ty,tz\n{rows}\n")
    draft = draft_schema(path)
    assert draft.missing_signals == ()
    log = tomllib.loads(draft.text)["log"]
    assert log["time"] == "t"
    assert not {"separator", "comment"} & log.keys()


@pytest.fixture(scope="module")
def reference(arm):
    schema = {
        "log": {"time": "t"},
        "world": {"gravity": [0, 0, -9.80665]},
        "pose": {"position": "p", "quaternion": "q"},
        "wrench": {"force": "f", "torque": "tau", "frame": "body", "acts_on": "sensor"},
    }
    return read_log(arm, schema)


def write_csv(path: Path, columns: dict[str, np.ndarray], before: str = "") -> Path:
    """A CSV file; an array (n, k) is `name_0`, `name_1`, …"""
    flat = {}
    for name, values in columns.items():
        parts = {name: values} if values.ndim == 1 else {}
        parts |= {f"{name}_{k}": values[:, k] for k in range(values.shape[1])} if not parts else {}
        flat |= parts
    rows = np.column_stack(list(flat.values()))
    np.savetxt(path, rows, "%.17g", ",", header=before + ",".join(flat), comments="")
    return path


def in_body(log) -> dict[str, np.ndarray]:
    """The signals, force and torque at Bo in B."""
    force, torque = static_poses_in_body(log).wrench
    return {**log.signals, "force": force, "torque": torque}


def assert_same(log, reference, tolerance: float) -> None:
    assert set(log.signals) == set(reference.signals)
    for name, values in in_body(reference).items():
        got = in_body(log)[name]
        if name == "quaternion":
            got, values = map(rotation_from_quaternion, (got, values))
        assert_close(got, values, tolerance)


def world(arm, name: str) -> np.ndarray:
    return rotate(rotation_from_quaternion(arm["q"]), arm[name])


def tool_pose(arm) -> tuple[np.ndarray, np.ndarray]:
    """Position and rotation of a tool point that the pendant shows as `TCP`."""
    from scipy.spatial.transform import Rotation

    R = rotation_from_quaternion(arm["q"])
    p = arm["p"] + rotate(R, np.broadcast_to(TCP[:3], arm["p"].shape))
    return p, R @ Rotation.from_rotvec(TCP[3:]).as_matrix()


def test_a_log_of_universal_robots_is_read_at_the_flange(arm, reference, tmp_path):
    from scipy.spatial.transform import Rotation

    p, R = tool_pose(arm)
    columns = {
        "timestamp": arm["t"],
        "actual_TCP_pose": np.hstack((p, Rotation.from_matrix(R).as_rotvec())),
        "actual_TCP_force": np.hstack((world(arm, "f"), world(arm, "tau"))),
    }
    path = write_csv(tmp_path / "rtde.csv", columns)
    found = draft_schema(path, tcp=TCP)
    assert found.text.startswith("# Universal Robots")
    assert found.missing_signals == ()
    (tmp_path / "s.toml").write_text(found.text)
    log = read_log(path, tmp_path / "s.toml")
    assert log.body_frame.name == "flange"
    assert_same(log, reference, 1e-12)


def test_a_log_of_franka_is_read_at_the_flange(arm, tmp_path, reference):
    p, R = tool_pose(arm)
    matrix = np.tile(np.eye(4), (len(p), 1, 1))
    matrix[:, :3, :3], matrix[:, :3, 3] = R, p
    f, tau = world(arm, "f"), world(arm, "tau")
    about_tool = tau + np.cross(arm["p"] - p, f)
    columns = {
        "time": arm["t"],
        "O_T_EE": matrix.swapaxes(1, 2).reshape(len(p), 16),
        "O_F_ext_hat_K": np.hstack((f, about_tool)),
    }
    path = write_csv(tmp_path / "franka.csv", columns)
    found = draft_schema(path, "franka", TCP)
    (tmp_path / "s.toml").write_text(found.text)
    assert_same(read_log(path, tmp_path / "s.toml"), reference, 1e-12)


def test_a_log_of_kuka_is_read_in_millimetres_and_its_angles(arm, reference, tmp_path):
    from scipy.spatial.transform import Rotation

    angles = Rotation.from_quat(arm["q"]).as_euler("ZYX", degrees=True)
    columns = {"IPOC": np.round(1e3 * arm["t"])}
    columns |= {f"RIst.{a}": 1e3 * arm["p"][:, k] for k, a in enumerate("XYZ")}
    columns |= {f"RIst.{a}": angles[:, k] for k, a in enumerate("ABC")}
    columns |= {f"F{a}": arm["f"][:, k] for k, a in enumerate("xyz")}
    columns |= {f"T{a}": arm["tau"][:, k] for k, a in enumerate("xyz")}
    path = write_csv(tmp_path / "rsi.csv", columns)
    found = draft_schema(path)
    assert "KUKA" in found.text
    (tmp_path / "s.toml").write_text(found.text)
    assert_same(read_log(path, tmp_path / "s.toml"), reference, 1e-12)


@pytest.mark.parametrize("name", ["ati", "robotiq"])
def test_a_sensor_beside_a_pose_is_read(arm, reference, tmp_path, name):
    torque = "T" if name == "ati" else "M"
    columns = {"time": arm["t"]}
    columns |= {f"F{a}": arm["f"][:, k] for k, a in enumerate("xyz")}
    columns |= {f"{torque}{a}": arm["tau"][:, k] for k, a in enumerate("xyz")}
    columns |= {f"pos_{a}": arm["p"][:, k] for k, a in enumerate("xyz")}
    columns |= {f"quat_{a}": arm["q"][:, k] for k, a in enumerate("xyzw")}
    path = write_csv(tmp_path / "s.csv", columns)
    plain = draft_schema(path).text  # any sensor may have such columns
    assert plain.startswith("# A draft schema, guessed")
    assert f"identify init --preset {name}\n" in plain
    found = draft_schema(path, name)
    assert found.text.startswith(f"# {presets()[name].title}")
    for text in (plain, found.text):
        (tmp_path / "s.toml").write_text(text)
        assert_same(read_log(path, tmp_path / "s.toml"), reference, 1e-15)


@pytest.mark.parametrize(
    ("place", "turn"), [("Lage", "Drehung"), ("Koordinate", "Winkel"), ("Pos", "Rot")]
)
def test_angles_of_kuka_are_recognised_by_their_words(tmp_path, place, turn):
    names = ["t", *(f"{place}_{a}" for a in "XYZ"), *(f"{turn}_{a}" for a in "ABC")]
    names += [f"{vector}{a}" for vector in "FM" for a in "xyz"]
    rows = np.column_stack((0.01 * np.arange(20), np.ones((20, 12))))
    np.savetxt(tmp_path / "k.csv", rows, "%.3f", ",", header=",".join(names), comments="")
    pose = tomllib.loads(draft_schema(tmp_path / "k.csv").text)["pose"]
    assert pose["position"] == names[1:4]
    assert (pose["euler"], pose["order"], pose["angle_unit"]) == (names[4:7], "ZYX", "deg")


@pytest.mark.parametrize(
    ("names", "before", "lines"),
    [
        (("stamp_ms", "tool.position", "tool.orientation", "force", "torque"), "", ["ms"]),
        (("t", "p", "q", "f", "tau"), "made by a robot\n", ["header_lines = 2"]),
        (("time", "xyz", "quat", "wrench_force", "wrench_torque"), "# ", []),
    ],
)
def test_names_are_guessed_and_units_taken_from_the_steps(
    arm, reference, tmp_path, names, before, lines
):
    scale = 1e3 if names[0] == "stamp_ms" else 1.0
    values = (scale * arm["t"], arm["p"], arm["q"], arm["f"], arm["tau"])
    path = write_csv(tmp_path / "log.csv", dict(zip(names, values, strict=True)), before)
    found = draft_schema(path)
    assert found.missing_signals == ()
    assert all(line in found.text for line in lines)
    (tmp_path / "s.toml").write_text(found.text)
    assert_same(read_log(path, tmp_path / "s.toml"), reference, 1e-15)
    assert found.text.count(NEEDS_REVIEW) > 2


def rows_of(arm) -> tuple[list[str], list[list[str]]]:
    """Names and rows, as text, of the log."""
    names = ["t", *[f"p{a}" for a in "xyz"], *[f"q{a}" for a in "xyzw"]]
    names += [f"{v}{a}" for v in "ft" for a in "xyz"]
    values = np.column_stack([arm[name] for name in ("t", "p", "q", "f", "tau")])
    return names, [[repr(float(x)) for x in row] for row in values]


UNITS = ["s", "m", "m", "m", *[""] * 4, "N", "N", "N", "Nm", "Nm", "Nm"]


def _joined(names, rows, below=(), mark=",", end="\n"):
    return end.join([mark.join(line) for line in [names, *below, *rows]]) + end


def _iso(names, rows):
    start = np.datetime64("2024-05-01T10:00:00", "us")
    dates = [str(start + np.timedelta64(round(1e6 * float(r[0])), "us")) for r in rows]
    return _joined(names, [[d, *r[1:]] for d, r in zip(dates, rows, strict=True)])


def _seconds_and_fraction(names, rows, seconds, fraction, unit):
    ticks = [divmod(round(1e9 * float(r[0])), 10**9) for r in rows]
    split = [[f"17{s:08}", str(f // unit), *r[1:]] for (s, f), r in zip(ticks, rows, strict=True)]
    return _joined([seconds, fraction, *names[1:]], split)


def _echoed(names, rows):
    stamps = [str(17 * 10**17 + round(1e9 * float(r[0]))) for r in rows]
    echoed = [[s, "tool0", *r[1:]] for s, r in zip(stamps, rows, strict=True)]
    return _joined(["%time", "frame_id", *names[1:]], echoed)


AS_SENT = {
    "a blank line": lambda n, r: _joined(n, r, [[""]]),
    "units": lambda n, r: _joined(n, r, [UNITS]),
    "prose, blank lines and units": lambda n, r: (
        f"By N. N., on Monday, at noon\n\n{_joined(n, r, [UNITS, ['']])}"
    ),
    "CR CR LF": lambda n, r: _joined(n, r, end="\r\r\n"),
    "words": lambda n, r: _joined(["state", *n], [["IDLE", *row] for row in r]),
    "quoted words": lambda n, r: _joined([*n, "state"], [[*row, '"{a, b}"'] for row in r], [], ","),
    "decimal commas": lambda n, r: _joined(n, r, mark=";").replace(".", ","),
    "dates": _iso,
    "rostopic": _echoed,
    "per cent": lambda n, r: "% made by a robot\n% " + _joined(n, r, mark=" "),
    "nanoseconds": lambda n, r: _seconds_and_fraction(n, r, "stamp.sec", "stamp.nanosec", 1),
    "microseconds": lambda n, r: _seconds_and_fraction(n, r, "tv_sec", "tv_usec", 1000),
}


@pytest.mark.parametrize("kind", AS_SENT)
def test_irregular_text_formats_are_guessed(arm, reference, tmp_path, kind):
    path = tmp_path / "log.csv"
    path.write_bytes(AS_SENT[kind](*rows_of(arm)).encode())
    found = draft_schema(path)
    assert found.missing_signals == ()
    (tmp_path / "s.toml").write_text(found.text, encoding="utf-8")
    log = read_log(path, tmp_path / "s.toml")
    assert_same(log, reference, 1e-12)
    assert_close(log.time, reference.time, 1e-6)


def test_row_of_units_is_used(arm, reference, tmp_path):
    names, rows = rows_of(arm)
    small = [[row[0], *(repr(1e3 * float(x)) for x in row[1:4]), *row[4:]] for row in rows]
    units = ["[s]", *["[mm]"] * 3, *UNITS[4:11], *["[N m]"] * 3]
    path = tmp_path / "log.csv"
    path.write_text(_joined(names, small[:5], [units]))
    found = draft_schema(path)
    assert 'position_unit = "mm"' in found.text
    path.write_text(_joined(names, small, [units]))
    (tmp_path / "s.toml").write_text(found.text)
    assert_same(read_log(path, tmp_path / "s.toml"), reference, 1e-12)


@pytest.mark.parametrize("time", ["timestamp", ""])
def test_universal_robots_log_without_pose_is_recognised(arm, tmp_path, time):
    columns = {"timestamp": arm["t"]} if time else {}
    columns["actual_q"] = arm["p"]
    columns["actual_TCP_force"] = np.hstack((world(arm, "f"), world(arm, "tau")))
    path = write_csv(tmp_path / "rtde.csv", columns)
    found = draft_schema(path)
    assert found.text.startswith("# Universal Robots")
    assert found.missing_signals == (("the pose",) if time else ("time", "the pose"))
    wrench = tomllib.loads(found.text)["wrench"]
    assert (wrench["frame"], wrench["force"]) == ("world", "actual_TCP_force[0:3]")
    assert "axes of the base" in found.text


def test_measured_pose_is_preferred_to_target_pose(arm, tmp_path):
    pose = np.hstack((arm["p"], log_rotation(arm["q"])))
    columns = {"timestamp": arm["t"], "target_TCP_pose": pose, "actual_TCP_pose": pose}
    columns["actual_TCP_force"] = np.hstack((arm["f"], arm["tau"]))
    found = tomllib.loads(draft_schema(write_csv(tmp_path / "rtde.csv", columns)).text)
    assert found["pose"]["position"] == [f"actual_TCP_pose_{k}" for k in range(3)]


@pytest.mark.parametrize("stamped", ["from zero", "later", "without"])
def test_stamps_in_headers_or_else_the_time_of_receipt(arm, tmp_path, stamped):
    pytest.importorskip("rosbags")
    from tests.logs.containers import Bag

    with Bag(tmp_path / "run", "mcap") as bag:
        for k, ns in enumerate((1e9 * arm["t"][:20]).astype(int).tolist()):
            bag.pose("/pose", ns + 10**9, arm["p"][k], arm["q"][k])
            wrench = bag.type("geometry_msgs/msg/Wrench")
            message = wrench(bag.vector(arm["f"][k]), bag.vector(arm["tau"][k]))
            if stamped != "without":
                bag.wrench("/ft", ns + (stamped == "later") * 10**9, arm["f"][k], arm["tau"][k])
            else:
                bag.write("/ft", "geometry_msgs/msg/Wrench", ns + 10**9, message)
    found = tomllib.loads(draft_schema(tmp_path / "run").text)
    assert found["log"]["time"] == ("receive_time" if stamped == "without" else "header.stamp")


def test_millimetres_and_degrees_are_guessed_by_their_size(arm, reference, tmp_path):
    columns = {
        "t": arm["t"],
        "p": 1e3 * arm["p"],
        "rotvec": np.degrees(log_rotation(arm["q"])),
        "f": arm["f"],
        "tau": arm["tau"],
    }
    path = write_csv(tmp_path / "log.csv", columns)
    found = draft_schema(path)
    assert 'position_unit = "mm"' in found.text
    assert 'angle_unit = "deg"' in found.text
    (tmp_path / "s.toml").write_text(found.text)
    assert_same(read_log(path, tmp_path / "s.toml"), reference, 1e-12)


def test_unrecognised_columns_are_reported_as_missing(arm, tmp_path):
    path = write_csv(tmp_path / "log.csv", {"alpha": arm["p"], "beta": arm["q"], "when": arm["t"]})
    found = draft_schema(path)
    assert found.missing_signals == ("time", "force and torque")  # the values show the pose
    assert '# force = ["FX", "FY", "FZ"]' in found.text
    for name, words in (
        ("ur", "did you mean|there are ur_rtde"),
        ("franka", "is no log of Franka"),
    ):
        with pytest.raises(SchemaError, match=words):
            draft_schema(path, name)
    (tmp_path / "text.csv").write_text("only words\nand more words\n")
    with pytest.raises(LogError, match="no two columns hold numbers in lines 1 to 2"):
        draft_schema(tmp_path / "text.csv")


def test_every_preset_is_a_schema_with_its_fields_put_in():
    for preset in presets().values():
        text = preset.template.replace("{tcp}", "[0, 0, 0, 0, 0, 0]").replace(
            "{clock}", 'time = "t"'
        )
        text = text.replace("{pose}", 'position = "p"\nquaternion = "q"')
        text = text.replace("{wrench}", 'force = "f"\ntorque = "tau"')
        for name, choices in preset.topic_choices.items():
            text = text.replace("{" + name + ".topic}", choices[0][0])
            text = text.replace("{" + name + ".columns}", choices[0][1])
        if text:
            acts_on = "body" if preset.name == "px4" else "sensor"
            assert load_schema(tomllib.loads(text)).wrench.acts_on == acts_on


@pytest.mark.parametrize(
    ("frame", "chosen"),
    [
        ("ft", "base -> ft"),
        ("/ft", "base -> ft"),
        ("", "base -> camera"),
        ("odd", "base -> camera"),
    ],
)
def test_the_frame_that_a_wrench_is_in_matches_the_pose(arm, tmp_path, frame, chosen):
    pytest.importorskip("rosbags")
    from tests.logs.containers import Bag

    upright = [0.0, 0.0, 0.0, 1.0]
    with Bag(tmp_path / "run", "mcap") as bag:
        for name in ("ft", "camera"):
            bag.transform("/tf_static", 0, "tool", name, [0.0, 0.0, 0.1], upright)
        for k, ns in enumerate((1e9 * arm["t"][:20]).astype(int).tolist()):
            bag.transform("/tf", ns, "base", "tool", arm["p"][k], arm["q"][k])
            bag.wrench("/ft/wrench", ns, arm["f"][k], arm["tau"][k], frame)
    found = tomllib.loads(draft_schema(tmp_path / "run").text)
    assert found["streams"]["pose"]["topic"] == chosen
    assert found["streams"]["wrench"]["topic"] == "/ft/wrench"


def test_units_in_the_names_of_columns_match_the_schema(tmp_path, arm, reference):
    columns = {"t": arm["t"]}
    for name, unit, scale, of in (
        ("Pos", "mm", 1e3, arm["p"]),
        ("Rot", "deg", 180.0 / np.pi, log_rotation(arm["q"])),
        ("Force", "N", 1.0, arm["f"]),
        ("Torque", "Ncm", 1e2, arm["tau"]),
    ):
        columns |= {f"ft/{name}/{a} ({unit})": scale * of[:, k] for k, a in enumerate("XYZ")}
    path = write_csv(tmp_path / "labelled.csv", columns)
    found = draft_schema(path)
    assert found.missing_signals == ()
    (tmp_path / "s.toml").write_text(found.text)
    assert_same(read_log(path, tmp_path / "s.toml"), reference, 1e-9)


@pytest.mark.parametrize("accelerometer", [False, True])
def test_a_log_without_a_pose_has_its_inertial_unit(tmp_path, accelerometer):
    log = still_and_moving()
    columns = {"time": log.time, "gyro": log.signals["gyro"]}
    columns |= {"acc": log.signals["force"]} if accelerometer else {}
    columns |= {"force": log.signals["force"], "torque": log.signals["torque"]}
    path = write_csv(tmp_path / "log.csv", columns)
    found = draft_schema(path)
    assert found.missing_signals == ()
    schema = tomllib.loads(found.text)
    assert "pose" not in schema
    assert set(schema["imu"]) == ({"gyro", "accelerometer", "mount"} if accelerometer else {"gyro"})
    (tmp_path / "s.toml").write_text(found.text, encoding="utf-8")
    read = read_log(path, tmp_path / "s.toml")
    assert_close(read.signals["gyro"], log.signals["gyro"], 1e-9)


def test_a_gyro_whose_names_say_degrees_is_in_degrees(tmp_path):
    log = still_and_moving()
    columns = {"time": log.time, "force": log.signals["force"], "torque": log.signals["torque"]}
    rates = np.degrees(log.signals["gyro"])
    columns |= {f"gyro_{axis}_deg": rates[:, k] for k, axis in enumerate("xyz")}
    path = write_csv(tmp_path / "log.csv", columns)
    found = draft_schema(path)
    (tmp_path / "s.toml").write_text(found.text, encoding="utf-8")
    read = read_log(path, tmp_path / "s.toml")
    assert_close(read.signals["gyro"], log.signals["gyro"], 1e-9)


@pytest.mark.parametrize(
    ("gyro", "of_gyro", "accelerometer", "of_accelerometer"),
    [
        ("gyro_{} [deg/s]", 180.0 / np.pi, "acc_{} (m/s^2)", 1.0),
        ("w{} (rad/s)", 1.0, "a{} [m/s²]", 1.0),
        ("imu_{} [deg/s]", 180.0 / np.pi, "imu_{} [g]", 1.0 / 9.80665),
        ("gyro_{}_dps", 180.0 / np.pi, "acc_{}_mps2", 1.0),
    ],
)
def test_rate_units_in_column_names_are_recognised(
    tmp_path, gyro, of_gyro, accelerometer, of_accelerometer
):
    log = still_and_moving()
    vectors = {
        "v{} [m/s]": np.zeros((len(log), 3)),
        gyro: of_gyro * log.signals["gyro"],
        accelerometer: of_accelerometer * log.signals["force"],
        "F{} [N]": log.signals["force"],
        "T{} [N·mm]": 1e3 * log.signals["torque"],
    }
    columns = {"time": log.time}
    for name, values in vectors.items():
        columns |= {name.format(axis): values[:, k] for k, axis in enumerate("xyz")}
    columns = {name: values[:400] for name, values in columns.items()}
    path = write_csv(tmp_path / "log.csv", columns)
    found = draft_schema(path)
    assert found.missing_signals == ()
    (tmp_path / "s.toml").write_text(found.text, encoding="utf-8")
    read = read_log(path, tmp_path / "s.toml")
    assert_close(read.signals["gyro"], log.signals["gyro"][:400], 1e-9)
    assert_close(read.signals["accelerometer"], log.signals["force"][:400], 1e-9)
    assert_close(read.signals["torque"], -log.signals["torque"][:400], 1e-9)  # on the sensor


def test_rate_vector_is_not_taken_for_position():
    names = tuple(f"tcp_{axis}{unit}" for unit in (" [m/s]", "") for axis in "xyz")
    vectors = find_named_vectors(TableInfo(names)).vectors
    assert vectors["linear"] == [list(names[:3])]
    assert vectors["position"] == [list(names[3:])]


@pytest.mark.parametrize(
    ("position", "angles", "force", "torque", "by_unit"),
    [
        ("one x [mm]", "two x [deg]", "three x [N]", "four x [Nmm]", "position euler force torque"),
        ("TX [mm]", "Winkel x in deg", "F_x / N", "M_x / Nmm", "position"),
        ("Px [mm]", "Winkel X [°]", "Kraft x (N)", "Moment x (Nmm)", ""),
    ],
)
def test_a_unit_tells_the_signal_of_a_name_that_does_not(
    tmp_path, position, angles, force, torque, by_unit
):
    vectors = {"position": position, "euler": angles, "force": force, "torque": torque}
    spellings = {
        signal: [re.sub("x(?!.*x)|X(?!.*X)", axis, name) for axis in "xyz"]
        for signal, name in vectors.items()
    }
    names = ["Zeit / ms", *(name for each in spellings.values() for name in each)]
    rows = np.random.default_rng(0).normal(size=(50, len(names)))
    rows[:, 0] = 10.0 * np.arange(50)
    path = tmp_path / "log.csv"
    np.savetxt(path, rows, "%.6f", ",", header=",".join(names), comments="", encoding="utf-8")
    found = draft_schema(path)
    assert not found.missing_signals
    keys = {key.name: key for key in drafted_keys(found.text)}
    assert {signal: keys[signal].value for signal in vectors} == spellings
    marked = [name for name in vectors if "by the unit alone" in keys[name].comment]
    assert marked == by_unit.split()
    assert all(keys[name].uncertain for name in marked)
    units = {"time_unit": "ms", "position_unit": "mm", "angle_unit": "deg", "torque_unit": "Nmm"}
    assert {key: keys[key].value for key in units} == units
    assert keys["order"].value == "xyz"


def test_a_vector_that_its_name_tells_precedes_those_of_the_same_unit():
    names = tuple(f"{name} {axis} [mm]" for name in ("error", "tcp") for axis in "xyz")
    named = find_named_vectors(TableInfo(names))
    assert named.vectors["position"] == [list(names[3:]), list(names[:3])]
    assert not named.unsure


def test_angles_by_name_and_units_in_brackets_are_read(tmp_path):
    names = "Time (ms),X [mm],Y [mm],Z [mm],Roll [deg],Pitch [deg],Yaw [deg],fx,fy,fz,tx,ty,tz"
    rows = np.random.default_rng(0).normal(size=(50, 13))
    rows[:, 0] = 10.0 * np.arange(50)
    path, made = tmp_path / "log.csv", tmp_path / "s.toml"
    np.savetxt(path, rows, "%.6f", ",", header=names, comments="")
    found = draft_schema(path)
    assert not found.missing_signals
    made.write_text(found.text)
    schema = load_schema(made)
    assert (schema.log.time, schema.log.time_unit) == ("Time (ms)", "ms")
    assert schema.pose.euler == ("Roll [deg]", "Pitch [deg]", "Yaw [deg]")
    assert (schema.pose.angle_unit, schema.pose.position_unit) == ("deg", "mm")
    assert schema.wrench.gain_accuracy is None  # no name tells it


@pytest.mark.parametrize(
    ("time", "position", "angles", "force", "torque"),
    [
        ("Zeit [s]", "Pos X", ("Rollwinkel", "Nickwinkel", "Gierwinkel"), "Kraft X", "Mom X"),
        ("Sekunden", "Ort-X", ("Roll", "Nick", "Gier"), "Kraft-X", "Drehmoment-X"),
        ("temps", "position x", ("Roulis", "Tangage", "Lacet"), "Force x [N]", "Couple x [Nm]"),
        ("Tiempo", "Posición X", ("Alabeo", "Cabeceo", "Guiñada"), "Fuerza X", "Par X"),
        ("tempo", "Posizione X", ("Rollio", "Beccheggio", "Imbardata"), "Forza_X", "Coppia_X"),
    ],
)
def test_names_in_other_languages_are_recognised(tmp_path, time, position, angles, force, torque):
    def along(name):
        return [re.sub("[xX](?= \\[|$)", axis, name) for axis in "XYZ"]

    turns = [f"{angle} [deg]" for angle in angles]
    names = [time, *along(position), *turns, *along(force), *along(torque)]
    rows = np.random.default_rng(0).normal(size=(50, 13))
    rows[:, 0] = 0.01 * np.arange(50)
    path = tmp_path / "log.csv"
    np.savetxt(path, rows, "%.6f", ",", header=",".join(names), comments="", encoding="utf-8")
    draft = draft_schema(path)
    assert not draft.missing_signals
    schema = tomllib.loads(draft.text)
    assert schema["log"]["time"] == time
    assert schema["pose"]["position"] == along(position)
    assert (schema["pose"]["euler"], schema["pose"]["angle_unit"]) == (turns, "deg")
    assert schema["wrench"]["force"] == along(force)
    assert schema["wrench"]["torque"] == along(torque)


def test_the_flange_of_a_tree_is_preferred_to_a_link_of_the_wrist():
    def of(frame):
        names = ("x", "y", "z", "qx", "qy", "qz", "qw")
        return find_named_vectors(TableInfo(names, topic=f"/tf:base->{frame}", frame=frame))

    tables = [of("a_long_name_of_wrist_3_link"), of("tool0"), of("elbow")]
    assert _choose_pose(None, tables) is tables[1]


def matrices(arm) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Transforms of the arm, shape (n, 4, 4), and the columns beside them."""
    T = np.zeros((len(arm["t"]), 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = rotation_from_quaternion(arm["q"]), arm["p"], 1.0
    wrench = np.hstack([arm["f"], arm["tau"]]).T
    return T, {
        "t": arm["t"],
        **dict(zip(["Fx", "Fy", "Fz", "Tx", "Ty", "Tz"], wrench, strict=True)),
    }


@pytest.mark.parametrize("name", ["T_{}_{}", "T{}{}", "T[{}][{}]", "T({} {})"])
@pytest.mark.parametrize(("height", "first"), [(4, 0), (4, 1), (3, 0)])
def test_entries_of_a_transform_are_a_pose(arm, reference, tmp_path, name, height, first):
    T, beside = matrices(arm)
    entries = {  # by columns: their names say which is which
        name.format(i + first, j + first): T[:, i, j] for j in range(4) for i in range(height)
    }
    path = write_csv(tmp_path / "log.csv", {**entries, **beside})
    schema = tomllib.loads(draft_schema(path).text)
    assert_same(read_log(path, schema), reference, 1e-9)


@pytest.mark.parametrize("order", ["row", "column"])
def test_the_order_of_a_transform_is_read_from_its_last_row(arm, reference, tmp_path, order):
    T, beside = matrices(arm)
    flat = (T if order == "row" else T.swapaxes(1, 2)).reshape(-1, 16)
    path = write_csv(tmp_path / "log.csv", {f"O_T_EE[{k}]": flat[:, k] for k in range(16)} | beside)
    schema = tomllib.loads(draft_schema(path).text)
    assert schema["pose"]["order"] == order
    assert_same(read_log(path, schema), reference, 1e-9)


@pytest.mark.parametrize("names", ["x [mm],y [mm],z [mm],A (deg),B (deg),C (deg)", "X,Y,Z,A,B,C"])
@pytest.mark.parametrize("still", [False, True])
def test_kuka_angles_and_static_poses_are_recognised(arm, reference, tmp_path, names, still):
    T, beside = matrices(arm)
    angles = Rotation.from_matrix(T[:, :3, :3]).as_euler("ZYX", degrees=True)
    columns = dict(zip(names.split(","), np.hstack([1e3 * arm["p"], angles]).T, strict=True))
    columns |= beside
    if still:
        rows = np.random.default_rng(1).permutation(len(arm["t"]))[:30]
        columns = {name: values[rows] for name, values in columns.items() if name != "t"}
    path = write_csv(tmp_path / "log.csv", columns)
    guessed = draft_schema(path)
    assert not guessed.missing_signals
    schema = tomllib.loads(guessed.text)
    assert schema["log"].get("still", False) == still
    log = read_log(path, schema)
    if still:
        assert_close(log.signals["position"], arm["p"][rows], 1e-9)
    else:
        assert_same(log, reference, 1e-9)


def test_a_motion_without_time_is_not_taken_for_static_poses(arm, tmp_path):
    T, beside = matrices(arm)
    entries = {f"R{i}{j}": T[:, i, j] for i in range(3) for j in range(3)}
    del beside["t"]
    guessed = draft_schema(write_csv(tmp_path / "log.csv", entries | beside))
    assert "time" in guessed.missing_signals


@pytest.mark.parametrize("names", ["Fx,Fy,Fz,Tx,Ty,Tz", "fx,fy,fz,tx,ty,tz"])
def test_static_poses_need_no_position(arm, tmp_path, names):
    rows = np.random.default_rng(1).permutation(len(arm["t"]))[:30]
    columns = {f"q{a}": arm["q"][rows, k] for k, a in enumerate("xyzw")}
    wrench = np.hstack([arm["f"], arm["tau"]])[rows].T
    columns |= dict(zip(names.split(","), wrench, strict=True))
    guessed = draft_schema(write_csv(tmp_path / "log.csv", columns))
    assert not guessed.missing_signals
    schema = tomllib.loads(guessed.text)
    assert set(schema["pose"]) == {"quaternion"}
    assert read_log(tmp_path / "log.csv", schema).still


@pytest.mark.parametrize("unit", ["m/s^2", "g", "mg"])
@pytest.mark.parametrize("angle_unit", ["rad", "deg"])
def test_units_of_an_imu_are_guessed_from_its_values(arm, tmp_path, unit, angle_unit):
    t = np.arange(len(arm["t"])) / 100
    tilt = np.sin(t)
    up = np.stack([np.sin(tilt), 0 * t, np.cos(tilt)], axis=1) * STANDARD_GRAVITY
    gyro = np.stack([0 * t, 2 * np.cos(t), 0 * t], axis=1)
    columns = {"t": t}
    columns |= {f"gyro_{a}": gyro[:, k] / ANGLE_UNITS[angle_unit] for k, a in enumerate("xyz")}
    columns |= {f"acc_{a}": up[:, k] / ACCELERATION_UNITS[unit] for k, a in enumerate("xyz")}
    columns |= {name: v for name, v in matrices(arm)[1].items() if name != "t"}
    imu = tomllib.loads(draft_schema(write_csv(tmp_path / "log.csv", columns)).text)["imu"]
    assert imu.get("unit", "m/s^2") == unit
    assert imu.get("angle_unit", "rad") == angle_unit


def test_columns_are_listed_where_some_were_not_found(arm, tmp_path):
    columns = {"t": arm["t"], "left [a]": arm["t"], "right": arm["t"]}
    text = draft_schema(write_csv(tmp_path / "log.csv", columns)).text
    (line,) = (line for line in text.splitlines() if line.startswith("# The log has "))
    assert line.removeprefix("# The log has ") == '"t", "left [a]", "right"'
    tomllib.loads(text)


@pytest.mark.parametrize(
    "name", ["__time", "Zeit", "Zeitstempel", "/ft/header/__time", "date,time", "Datum,Uhrzeit"]
)
def test_time_columns_of_other_programs_are_recognised(arm, tmp_path, name):
    time = "2024-05-01,10:00:{:09.6f}" if "," in name else "{}"
    columns = {f"p{a}": arm["p"][:, k] for k, a in enumerate("xyz")}
    columns |= {f"q{a}": arm["q"][:, k] for k, a in enumerate("xyzw")}
    columns |= {name: v for name, v in matrices(arm)[1].items() if name != "t"}
    rows = zip(arm["t"], *columns.values(), strict=True)
    lines = [",".join((time.format(t), *map(repr, map(float, row)))) for t, *row in rows]
    path = tmp_path / "log.csv"
    path.write_text("\n".join((f"{name},{','.join(columns)}", *lines)))
    guessed = draft_schema(path)
    assert not guessed.missing_signals
    schema = tomllib.loads(guessed.text)
    assert schema["log"]["time"] == name.rpartition(",")[2]
    assert_close(read_log(path, schema).time, arm["t"], 1e-9)


def test_signals_of_simulink_are_named_by_their_labels(tmp_path):
    """Labels that are empty or given twice leave the signal its number alone."""
    rows = np.arange(20.0)
    columns = {"force": 3, "torque": 3, "position": 3, "quaternion": 4, "": 3, "twice": 3}
    labels = [*columns, "twice"]
    signals = np.empty((1, len(labels)), dtype=[("values", object), ("label", object)])
    for number, label in enumerate(labels):
        signals[0, number] = (np.ones((len(rows), columns[label])), label)
    path = tmp_path / "log.mat"
    savemat(path, {"out": {"time": rows[:, None], "signals": signals}})
    draft = draft_schema(path)
    assert draft.missing_signals == ()
    schema = tomllib.loads(draft.text)
    assert schema["wrench"]["force"] == [f"out.signals.force[{k}]" for k in range(3)]
    assert schema["pose"]["quaternion"] == [f"out.signals.quaternion[{k}]" for k in range(4)]
    assert "twice" not in draft.text


@pytest.mark.parametrize("rows", [1, 2, 10])
def test_poses_at_rest_with_jumps_between_are_static(tmp_path, rows):
    poses = np.repeat(Rotation.random(12, random_state=1).as_quat(), rows, axis=0)
    time = np.concatenate([5.0 * pose + 0.1 * np.arange(rows) for pose in range(12)])
    assert "still = true" in drafted_motion(tmp_path, time, poses)
    assert "still = true" in drafted_motion(tmp_path, time, poses, first_name="number")
    assert "still = true" in drafted_motion(tmp_path, time / 5.0, poses)  # one a second, or numbers
    in_ms = drafted_motion(tmp_path, 1e3 * time, poses)
    assert ("still = true" in in_ms) == (rows > 1)  # five seconds a row, or as many milliseconds


@pytest.mark.parametrize("per_second", [1.0, 1e3, 1e9])
def test_held_samples_of_a_slow_pose_are_a_motion(tmp_path, per_second):
    held = 0.01 * (np.arange(600) // 10) * 10
    poses = Rotation.from_euler("xyz", np.sin(held[:, None] * [3.0, 4.0, 5.0])).as_quat()
    text = drafted_motion(tmp_path, per_second * 0.01 * np.arange(600), poses)
    assert "still" not in text
    assert 'time = "t"' in text


def test_a_quaternion_that_changes_its_sign_is_a_motion(tmp_path):
    time = 0.01 * np.arange(1000)
    poses = Rotation.from_euler("xyz", np.sin(time[:, None] * [0.5, 0.4, 0.3])).as_quat()
    poses *= np.where(time // 1.2 % 2, -1.0, 1.0)[:, None]
    assert "still" not in drafted_motion(tmp_path, time, poses)


def drafted_motion(
    folder: Path, time: np.ndarray, quaternions: np.ndarray, first_name: str = "t"
) -> str:
    """Draft of a log of attitudes with the weight of a body."""
    force = Rotation.from_quat(quaternions).inv().apply([0.0, 0.0, -17.0])
    columns = np.column_stack([time, quaternions, force, 0.1 * force[:, [1, 2, 0]]])
    names = f"{first_name},qx,qy,qz,qw,fx,fy,fz,tx,ty,tz"
    np.savetxt(folder / "log.csv", columns, "%.9f", ",", header=names, comments="")
    return draft_schema(folder / "log.csv").text
