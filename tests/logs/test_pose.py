import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.transform import Rotation

from identify.errors import LogError, SchemaError
from identify.logs import read_log
from identify.spatial import Pose, rotation_from_quaternion

EULER_ORDERS = ["xyz", "zyx", "zxz", "yzy", "XYZ", "ZYX", "ZXZ", "XZY", "YXY"]


def read_columns(folder, schema, pose, columns, n, still=True):
    """Reads an NPZ whose array `c` has the columns of a pose, given by number."""
    path = folder / "log.npz"
    np.savez(path, c=columns, w=np.ones((n, 6)))
    k = columns.shape[1]
    wrench = {"force": [k, k + 1, k + 2], "torque": [k + 3, k + 4, k + 5]}
    clock = {"time": None, "still": True} if still else {}
    full = schema(log=clock, pose=None, wrench=wrench) | {"pose": pose}
    return read_log(path, full)


def as_euler(rotation, order):
    """Euler angles of rotations, near the gimbal lock too (of which SciPy warns)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return rotation.as_euler(order)


def representations(rotation, position):
    """Each way to write the poses: a `[pose]` table and its columns."""
    p, R = position, rotation.as_matrix()
    T = np.tile(np.eye(4), (len(p), 1, 1))
    T[:, :3, :3], T[:, :3, 3] = R, p
    x, y, z, w = rotation.as_quat().T
    flat = {
        ("quaternion", "xyzw"): np.stack((x, y, z, w), axis=-1),
        ("quaternion", "wxyz"): np.stack((w, x, y, z), axis=-1),
        ("quaternion", None): rotation.as_quat() * [[-1.0]],
        ("matrix", "row"): R.reshape(-1, 9),
        ("matrix", None): R.reshape(-1, 9),
        ("matrix", "column"): R.transpose(0, 2, 1).reshape(-1, 9),
        ("rotation_vector", None): rotation.as_rotvec(),
    }
    for order in EULER_ORDERS:
        flat["euler", order] = as_euler(rotation, order)
    for (kind, order), columns in flat.items():
        k = columns.shape[1]
        table = {kind: list(range(3, 3 + k)), "position": [0, 1, 2]}
        yield table | ({"order": order} if order else {}), np.hstack((p, columns))
    yield {"matrix": list(range(16)), "order": "row"}, T.reshape(-1, 16)
    yield {"matrix": list(range(16)), "order": "column"}, T.transpose(0, 2, 1).reshape(-1, 16)
    degrees = np.degrees(as_euler(rotation, "zyx"))
    table = {"euler": [3, 4, 5], "order": "zyx", "angle_unit": "deg", "position_unit": "mm"}
    yield table | {"position": [0, 1, 2]}, np.hstack((1e3 * p, degrees))
    table = {"rotation_vector": [3, 4, 5], "angle_unit": "deg", "position": [0, 1, 2]}
    yield table, np.hstack((p, np.degrees(rotation.as_rotvec())))


seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 1.0, np.pi - 1e-9, np.pi])
def test_every_representation_gives_the_same_poses(tmp_path, schema, angle):
    rng = np.random.default_rng(7)
    axis = rng.standard_normal((4, 3))
    axis *= angle / np.linalg.norm(axis, axis=1, keepdims=True)
    rotation = Rotation.concatenate([Rotation.random(3, rng=rng), Rotation.from_rotvec(axis)])
    position = rng.uniform(-2.0, 2.0, (7, 3))
    inverse = Pose(rotation.as_matrix(), position).inverse()
    for maps, R, p in (
        ("body_to_world", rotation, position),
        ("world_to_body", Rotation.from_matrix(inverse.rotation), inverse.position),
    ):
        for pose, columns in representations(R, p):
            signals = read_columns(tmp_path, schema, pose | {"maps": maps}, columns, 7).signals
            q = signals["quaternion"]
            # SciPy's Euler angles near the gimbal lock are good to 1e-7 only.
            atol = 1e-6 if "euler" in pose else 3e-14
            np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=0, atol=1e-15)
            np.testing.assert_allclose(
                rotation_from_quaternion(q), rotation.as_matrix(), rtol=0, atol=atol
            )
            np.testing.assert_allclose(signals["position"], position, rtol=0, atol=2 * atol)


@settings(max_examples=20, deadline=None)
@given(rng=seeds, order=st.sampled_from([*EULER_ORDERS, "x", "Z", "zy", "XY"]))
def test_euler_angles_match_scipy(tmp_path_factory, schema, rng, order):
    angles = rng.uniform(-7.0, 7.0, (5, len(order)))
    angles[0, len(order) // 2] = np.pi / 2
    table = {"euler": list(range(len(order))), "order": order}
    folder = tmp_path_factory.mktemp("pose")
    q = read_columns(folder, schema, table, angles, 5).signals["quaternion"]
    expected = Rotation.from_euler(order, angles).as_matrix()
    np.testing.assert_allclose(rotation_from_quaternion(q), expected, rtol=0, atol=1e-14)


def test_world_to_body_inverts_whole_pose(tmp_path, schema):
    turn = Rotation.from_euler("z", 90, degrees=True).as_quat()
    table = {"position": [0, 1, 2], "quaternion": [3, 4, 5, 6], "maps": "world_to_body"}
    columns = np.concatenate(([1.0, 0.0, 3.0], turn))[None]
    signals = read_columns(tmp_path, schema, table, columns, 1).signals
    np.testing.assert_allclose(signals["position"], [[0.0, 1.0, -3.0]], atol=1e-15)
    np.testing.assert_allclose(signals["quaternion"], [[0, 0, -(0.5**0.5), 0.5**0.5]], atol=1e-15)


@pytest.mark.parametrize("maps", ["body_to_world", "world_to_body"])
@pytest.mark.parametrize("axes", ["body", "world"])
def test_the_position_of_the_body_may_be_in_other_axes_than_the_rotation_maps(
    tmp_path, schema, maps, axes
):
    rng = np.random.default_rng(4)
    rotation, p = Rotation.random(5, rng=rng), rng.standard_normal((5, 3))
    q = (rotation if maps == "body_to_world" else rotation.inv()).as_quat()
    logged = rotation.inv().apply(p) if axes == "body" else p
    table = {"position": [0, 1, 2], "quaternion": [3, 4, 5, 6], "maps": maps}
    columns = np.hstack((logged, q))
    signals = read_columns(tmp_path, schema, table | {"position_axes": axes}, columns, 5).signals
    np.testing.assert_allclose(signals["position"], p, rtol=0, atol=1e-14)
    np.testing.assert_allclose(signals["quaternion"], rotation.as_quat(), rtol=0, atol=1e-15)


def test_axes_of_no_position_are_rejected(tmp_path, schema):
    table = {"quaternion": [0, 1, 2, 3], "position_axes": "body"}
    with pytest.raises(SchemaError, match="position_axes: there is no position"):
        read_columns(tmp_path, schema, table, np.eye(4), 4)


def test_an_orientation_without_position(tmp_path, schema):
    q = Rotation.random(4, rng=np.random.default_rng(1)).as_quat()
    table = {"quaternion": [0, 1, 2, 3], "maps": "world_to_body"}
    signals = read_columns(tmp_path, schema, table, q, 4).signals
    assert "position" not in signals
    np.testing.assert_allclose(signals["quaternion"], q * [-1, -1, -1, 1], rtol=0, atol=1e-15)


def test_rounded_rotations_become_exact_ones(tmp_path, schema):
    rotation = Rotation.random(50, rng=np.random.default_rng(2))
    for table, columns in (
        ({"quaternion": [0, 1, 2, 3]}, rotation.as_quat().round(4)),
        ({"matrix": list(range(9))}, rotation.as_matrix().reshape(-1, 9).round(4)),
    ):
        q = read_columns(tmp_path, schema, table, columns, 50).signals["quaternion"]
        np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=0, atol=1e-15)
        error = (Rotation.from_quat(q) * rotation.inv()).magnitude()
        assert error.max() < 2e-4


def test_a_nearly_orthonormal_matrix_becomes_the_nearest_rotation(tmp_path, schema):
    rng = np.random.default_rng(3)
    matrix = Rotation.random(20, rng=rng).as_matrix() + 1e-3 * rng.standard_normal((20, 3, 3))
    q = read_columns(
        tmp_path, schema, {"matrix": list(range(9))}, matrix.reshape(-1, 9), 20
    ).signals["quaternion"]
    left, _, right = np.linalg.svd(matrix)
    np.testing.assert_allclose(rotation_from_quaternion(q), left @ right, rtol=0, atol=1e-12)


R = np.eye(3)
T = np.eye(4)
T[:3, 3] = [1.0, 2.0, 3.0]
QUATERNION = {"quaternion": [0, 1, 2, 3]}
MATRIX = {"matrix": list(range(9))}
NO_ROTATION = [
    (QUATERNION, [0.0, 0.0, 0.0, 0.0], r"the quaternion of columns \[0, 1, 2, 3\] is zero"),
    (QUATERNION, [0.5, 0.0, 0.0, 1.0], r"has norm 1.118, expected 1; are these the four columns"),
    (QUATERNION, [1e200, 0.0, 0.0, 1.0], r"column 0 is 1e\+200, which is implausible"),
    (MATRIX, (1.1 * R).ravel(), r"'?0'? to '?8'? is not orthonormal: RᵀR is off by 0.21"),
    (MATRIX, (1e200 * R).ravel(), r"column .* which is implausible"),
    (MATRIX, np.zeros(9), r"is not orthonormal: RᵀR is off by 1;"),
    (MATRIX, np.diag([1.0, 1.0, -1.0]).ravel(), r"is a reflection \(determinant −1\)"),
    (
        {"matrix": list(range(16))},
        T.T.ravel(),
        r'last row is \[1.0, 2.0, 3.0, 1.0\], expected \[0, 0, 0, 1\]; .*set order = "column"',
    ),
    (
        {"matrix": list(range(16)), "order": "column"},
        T.ravel(),
        r'expected \[0, 0, 0, 1\]; .*set order = "row"',
    ),
]


@pytest.mark.parametrize(("table", "bad", "message"), NO_ROTATION)
def test_invalid_rotation_reports_row(tmp_path, schema, table, bad, message):
    good = {4: [0, 0, 0, 1], 9: np.eye(3).ravel(), 16: np.eye(4).ravel()}[len(bad)]
    columns = np.tile(np.asarray(good, dtype=float), (9, 1))
    columns[6] = bad
    with pytest.raises(LogError, match=rf"row 6 \(counted from 0\): .*{message}") as caught:
        read_columns(tmp_path, schema, table, columns, 9)
    assert (caught.value.exit_code, caught.value.row, caught.value.column) == (2, 6, 0)


def test_rows_match_the_file_also_after_others_were_dropped(write, schema, lines):
    fields = lines[9].split(",")
    lines[9] = ",".join([*fields[:4], "0", "0", "0", "0", *fields[8:]])
    lines[3] = "nan" + lines[3]
    lines[4] = lines[4].rpartition(",")[0] + ","
    path = write(["# a comment", *lines])
    with pytest.raises(LogError, match=r"log.csv: line 11: the quaternion of columns .* is zero"):
        read_log(path, schema(log={"drop_bad_rows": True}))
