"""One object model: bodies, one or a batch, wherever ten numbers are taken; matrices for poses."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given, settings

import identify
from identify import inertia, spatial
from identify.errors import ModelError
from identify.inertia import ImpossibleDifference, InertialParameters
from identify.inertia.conventions import CONVENTIONS
from identify.spatial import Pose
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, poses, random_body

RNG = np.random.default_rng(4)
PHI = np.array([random_body(RNG) for _ in range(3)])
TWIST = RNG.normal(size=6)
X_AB = Pose.from_quaternion([0.1, 0.2, 0.3, 0.9], [0.3, -0.2, 0.1])

OTHER_ARGUMENTS = {
    "in_frame": (X_AB,),
    "kinetic_energy": (TWIST,),
    "spatial_momentum": (TWIST,),
    "subtract": (np.zeros(10),),
    "difference": (np.zeros(10),),
}
"""What the functions of ten parameters take beside them."""


def of_ten_parameters():
    """Every function of `identify.inertia` whose first argument is ten parameters."""
    names = []
    for name in inertia.__all__:
        one = getattr(inertia, name)
        if inspect.isfunction(one) and next(iter(inspect.signature(one).parameters)) in (
            "phi",
            "phis",
            "with_",
        ):
            names.append(name)
    return names


def numbers(result):
    """What a function gave as numbers."""
    if isinstance(result, inertia.BodyVerdict):
        return np.concatenate((result.principal_moments, result.pseudo_eigenvalues))
    return np.asarray(getattr(result, "phi", result))


def test_there_are_functions_of_ten_parameters():
    assert {"check", "composite", "in_frame", "nearest_consistent", "kinetic_energy"} <= set(
        of_ten_parameters()
    )


@pytest.mark.parametrize("name", of_ten_parameters())
def test_a_body_is_taken_for_its_ten_numbers(name):
    function, others = getattr(inertia, name), OTHER_ARGUMENTS.get(name, ())
    one = PHI if name == "composite" else PHI[0]
    given = numbers(function(InertialParameters(one), *others))
    assert np.array_equal(given, numbers(function(one, *others)))
    if name not in ("check", "difference"):  # of one body
        batch = numbers(function(InertialParameters(PHI), *others))
        assert np.array_equal(batch, numbers(function(PHI, *others)))


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
def test_a_body_is_taken_by_every_convention(name):
    said = CONVENTIONS[name].from_phi(InertialParameters(PHI))
    assert_same_body(CONVENTIONS[name].to_phi(said), PHI, 1e-12)


def test_bodies_give_bodies_and_arrays_arrays():
    body = InertialParameters(PHI)
    assert isinstance(inertia.in_frame(body, X_AB), InertialParameters)
    assert isinstance(inertia.composite(body), InertialParameters)
    assert isinstance(inertia.composite(list(body)), InertialParameters)
    assert isinstance(inertia.subtract(body[0], np.zeros(10)), InertialParameters)
    assert isinstance(inertia.nearest_consistent(body).parameters, InertialParameters)
    assert isinstance(inertia.in_frame(PHI, X_AB), np.ndarray)
    assert isinstance(inertia.composite(PHI), np.ndarray)
    assert isinstance(inertia.subtract(PHI, PHI), np.ndarray)


def test_bodies_add_up():
    a, b, c = InertialParameters(PHI)
    assert (a + b) == InertialParameters(PHI[0] + PHI[1])
    assert sum([a, b, c]) == inertia.composite([a, b, c])
    assert_same_body((a + b - b).phi, a.phi, 1e-14)
    batch = InertialParameters(PHI)
    assert (batch + a).batch == (3,)
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(TypeError):
        a - "b"
    with pytest.raises(TypeError):
        1 + a
    with pytest.raises(ImpossibleDifference):
        inertia.subtract(a, a + b)


def test_a_regressor_times_a_body_is_a_wrench():
    Y = RNG.normal(size=(6, 10))
    assert np.array_equal(Y @ InertialParameters(PHI[0]), Y @ PHI[0])
    stacked = np.array([InertialParameters(one) for one in PHI])
    assert np.array_equal(stacked, PHI)


@settings(max_examples=20)
@given(bodies(), bodies())
def test_what_is_said_of_a_batch_is_said_of_each(first, second):
    singles = [InertialParameters(first), InertialParameters(second)]
    batch = InertialParameters(np.stack((first, second)))
    assert batch.batch == (2,)
    assert len(batch) == 2
    assert list(batch) == singles
    assert batch[1] == singles[1]
    for name in ("mass", "first_moment", "com", "inertia_about_com", "inertia_about_origin"):
        each = [getattr(one, name) for one in singles]
        assert np.array_equal(getattr(batch, name), each), name
    for name in ("pseudo_inertia", "spatial_inertia", "principal_moments", "consistent"):
        each = [getattr(one, name) for one in singles]
        assert np.array_equal(getattr(batch, name), each), name
    again = InertialParameters.from_com(batch.mass, batch.com, batch.inertia_about_com)
    assert_same_body(again.phi, batch.phi, 1e-14)


def test_one_body_is_no_batch_and_a_batch_is_not_one_body():
    body, batch = InertialParameters(PHI[0]), InertialParameters(PHI)
    assert type(body.mass) is float
    assert type(body.consistent) is bool
    with pytest.raises(TypeError, match="one body has no length"):
        len(body)
    with pytest.raises(TypeError, match="one body has no entries"):
        body[0]
    with pytest.raises(ModelError, match=r"phi: expected shape \(10\), got \(3, 10\)"):
        inertia.check(batch)
    assert InertialParameters(PHI.reshape(1, 3, 10))[0, 2] == InertialParameters(PHI[2])


def test_equal_bodies_are_equal_and_have_one_hash():
    zero, minus = np.zeros(10), -np.zeros(10)
    assert InertialParameters(zero) == InertialParameters(minus)
    assert hash(InertialParameters(zero)) == hash(InertialParameters(minus))
    assert len({InertialParameters(PHI[0]), InertialParameters(PHI[0].copy())}) == 1
    assert InertialParameters(PHI[0]) != InertialParameters(PHI)
    assert InertialParameters(PHI[0]) != "body"


def test_a_body_says_its_mass_centre_of_mass_and_inertia_in_a_line():
    body = InertialParameters.from_com(1.25, [0.02, 0.0, -0.1], np.diag([4e-3, 5e-3, 3e-3]))
    assert repr(body) == (
        "InertialParameters(mass 1.25 kg, com [0.02, 0, -0.1] m, inertia about com "
        "[xx 0.004, yy 0.005, zz 0.003, xy 0, xz 0, yz 0] kg m²)"
    )
    assert repr(InertialParameters(np.r_[0.0, np.ones(9)])).startswith(
        "InertialParameters(mass 0 kg, inertia about origin [xx 1,"
    )
    thousand = InertialParameters(np.tile(body.phi, (10, 100, 1)))
    assert repr(thousand) == "InertialParameters(batch (10, 100), mass 1.25 to 1.25 kg)"
    assert repr(InertialParameters(np.empty((0, 10)))) == "InertialParameters(batch (0,))"


@given(poses())
def test_a_matrix_is_taken_for_its_pose(X):
    T, body = X.matrix, InertialParameters(PHI[0])
    lists = T.tolist()
    assert inertia.in_frame(body, lists) == body.in_frame(T) == body.in_frame(X)
    for function in (spatial.adjoint, spatial.coadjoint, inertia.frame_map):
        assert np.array_equal(function(T), function(X))
    assert np.array_equal(inertia.momentum_in_frame(TWIST, T), inertia.momentum_in_frame(TWIST, X))
    M = body.spatial_inertia
    for function in (inertia.spatial_inertia_in_frame, inertia.added_mass_in_frame):
        assert np.array_equal(function(M, T), function(M, X))
    assert np.array_equal((X @ T).matrix, (X @ X).matrix)
    assert np.array_equal(np.asarray(X), T)
    assert_close(np.linalg.inv(X) @ X, np.eye(4), 1e-12, scale=5.0)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(3), r"pose: expected shape \(4, 4\), got \(3, 3\)"),
        (2.0 * np.eye(4), r"last row is \[0, 0, 0, 1\], got \[0.0, 0.0, 0.0, 2.0\]"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "right-handed"),
        ("X", "pose: expected numbers"),
    ],
)
def test_what_is_no_pose_is_refused(matrix, message):
    with pytest.raises(ModelError, match=message):
        InertialParameters(PHI[0]).in_frame(matrix)


def test_statistics_and_ellipsoids_take_matrices_too():
    from identify.inertia.shapes import BoundingEllipsoid
    from identify.regressors.wrench import frame_change

    assert np.array_equal(frame_change(X_AB.matrix), frame_change(X_AB))
    ellipsoid = BoundingEllipsoid(np.zeros(3), np.diag([1.0, 2.0, 3.0]))
    assert np.array_equal(ellipsoid.in_frame(X_AB.matrix).Q, ellipsoid.in_frame(X_AB).Q)


def test_exports_and_logs_take_bodies():
    from identify.exchange import inertial_snippet, round_body
    from identify.exchange.controllers import payload_setting
    from identify.logs.synthetic import synthetic_recording

    body = InertialParameters(PHI[0])
    for name in ("urdf", "ur", "drake"):
        assert identify.export_body(body, name) == identify.export_body(PHI[0], name)
    assert payload_setting("kuka", PHI[0]) == payload_setting("kuka", body)
    assert inertial_snippet(body, "sdf").text == inertial_snippet(PHI[0], "sdf").text
    assert round_body(body).inertia == round_body(PHI[0]).inertia
    one, other = (
        synthetic_recording(phi, rng=np.random.default_rng(0), duration=1.0)
        for phi in (body, PHI[0])
    )
    assert one.sha256 == other.sha256
    with pytest.raises(ModelError, match=r"body: expected shape \(10\), got \(3, 10\)"):
        identify.export_body(InertialParameters(PHI), "ur")
