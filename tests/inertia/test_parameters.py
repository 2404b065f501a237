import inspect

import numpy as np
import pytest
from hypothesis import given

from identify import inertia, spatial
from identify.errors import ModelError
from identify.inertia import PHI, UNITS, InertialParameters
from identify.inertia.conventions import CONVENTIONS
from identify.spatial import Pose
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, poses, random_body

ICUB = np.diag([0.02, 0.03, 0.04])


@given(bodies(offset=1.0))
def test_from_com_undoes_the_views(phi):
    body = InertialParameters(phi)
    again = InertialParameters.from_com(body.mass, body.com, body.inertia_about_com)
    assert_same_body(again.phi, phi, 1e-14)


def test_views_of_a_body_agree():
    body = InertialParameters.from_com(2.0, [0.1, -0.2, 0.3], ICUB)
    assert body.mass == 2.0
    assert_close(body.first_moment, [0.2, -0.4, 0.6], 1e-15)
    assert_close(body.com, [0.1, -0.2, 0.3], 1e-15)
    assert_close(body.inertia_about_com, ICUB, 1e-14)
    steiner = 2.0 * (0.14 * np.eye(3) - np.outer([0.1, -0.2, 0.3], [0.1, -0.2, 0.3]))
    assert_close(body.inertia_about_origin, ICUB + steiner, 1e-15)
    assert_close(body.principal_moments, [0.02, 0.03, 0.04], 1e-13)
    assert_close(body.pseudo_inertia[3], [0.2, -0.4, 0.6, 2.0], 1e-15)
    assert_close(body.spatial_inertia[:3, :3], 2.0 * np.eye(3), 0.0)
    assert body.consistent
    assert dict(zip(PHI, body.phi, strict=True))["Ixy"] == body.inertia_about_origin[0, 1]
    assert len(UNITS) == len(PHI) == 10
    assert (UNITS[0], UNITS[1], UNITS[9]) == ("kg", "kg m", "kg m²")


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (np.ones(9), r"phi: expected shape \(..., 10\), got \(9,\)"),
        (
            np.r_[np.ones(4), np.nan, np.ones(5)],
            r"phi: entry \(4,\) is nan; every entry must be fin",
        ),
        (np.r_[np.ones(9), np.inf], r"phi: entry \(9,\) is inf"),
        (["one"] * 10, r"phi: expected numbers of shape \(..., 10\)"),
        ([1.0] * 9 + [[1.0]], r"phi: expected numbers of shape \(..., 10\)"),
        (None, r"phi: expected shape \(..., 10\), got \(\)"),
    ],
)
def test_wrong_shape_or_nan_is_rejected(phi, message):
    with pytest.raises(ModelError, match=message):
        InertialParameters(phi)


@pytest.mark.parametrize(
    ("mass", "com", "inertia", "message"),
    [
        (1.0, [0, 0], ICUB, r"com: expected shape \(..., 3\), got \(2,\)"),
        (1.0, [0, 0, np.nan], ICUB, r"com: entry \(2,\) is nan"),
        (1.0, [0, 0, 0], np.eye(2), r"inertia_about_com: expected shape \(..., 3, 3\), got"),
        (1.0, [0, 0, 0], [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "expected a symmetric matrix"),
        (np.nan, [0, 0, 0], ICUB, r"phi: entry \(0,\) is nan"),
        (np.inf, [0, 0, 0], ICUB, "must be finite"),
    ],
)
def test_from_com_rejects_invalid_inertia(mass, com, inertia, message):
    with pytest.raises(ModelError, match=message):
        InertialParameters.from_com(mass, com, inertia)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_asymmetry_is_judged_by_the_inertias_own_size(scale):
    skewed = scale * (np.eye(3) + np.array([[0, 1e-6, 0], [0, 0, 0], [0, 0, 0]]))
    with pytest.raises(ModelError, match="expected a symmetric matrix"):
        InertialParameters.from_com(1.0, [0, 0, 0], skewed)
    rounded = scale * (np.eye(3) + np.array([[0, 1e-12, 0], [0, 0, 0], [0, 0, 0]]))
    InertialParameters.from_com(1.0, [0, 0, 0], rounded)


def test_massless_body_has_no_centre_of_mass():
    body = InertialParameters(np.zeros(10))
    with pytest.raises(ModelError, match="a body without mass has no centre of mass"):
        _ = body.com
    with pytest.raises(ModelError, match="without mass has no inertia about the centre of mass"):
        _ = body.inertia_about_com
    with pytest.raises(ModelError, match="without mass"):
        _ = body.principal_moments


RNG = np.random.default_rng(4)
THREE = np.array([random_body(RNG) for _ in range(3)])
TWIST = RNG.normal(size=6)
X_AB = Pose.from_quaternion([0.1, 0.2, 0.3, 0.9], [0.3, -0.2, 0.1])

OTHER_ARGUMENTS = {
    "in_frame": (X_AB,),
    "kinetic_energy": (TWIST,),
    "spatial_momentum": (TWIST,),
    "subtract": (np.zeros(10),),
    "subtract_estimates": (np.zeros(10),),
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
    if isinstance(result, inertia.BodyVerdict):
        return np.concatenate((result.principal_moments, result.pseudo_eigenvalues))
    return np.asarray(getattr(result, "phi", result))


@pytest.mark.parametrize("name", of_ten_parameters())
def test_body_converts_to_array(name):
    function, others = getattr(inertia, name), OTHER_ARGUMENTS.get(name, ())
    one = THREE if name == "composite" else THREE[0]
    given = numbers(function(InertialParameters(one), *others))
    assert np.array_equal(given, numbers(function(one, *others)))
    if name not in ("check_consistency", "subtract_estimates"):  # of one body
        batch = numbers(function(InertialParameters(THREE), *others))
        assert np.array_equal(batch, numbers(function(THREE, *others)))


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
def test_every_convention_accepts_a_body(name):
    said = CONVENTIONS[name].from_phi(InertialParameters(THREE))
    assert_same_body(CONVENTIONS[name].to_phi(said), THREE, 1e-12)


def test_result_type_matches_argument_type():
    body = InertialParameters(THREE)
    assert isinstance(inertia.in_frame(body, X_AB), InertialParameters)
    assert isinstance(inertia.composite(body), InertialParameters)
    assert isinstance(inertia.composite(list(body)), InertialParameters)
    assert isinstance(inertia.subtract(body[0], np.zeros(10)), InertialParameters)
    assert isinstance(inertia.nearest_consistent(body).parameters, InertialParameters)
    assert isinstance(inertia.in_frame(THREE, X_AB), np.ndarray)
    assert isinstance(inertia.composite(THREE), np.ndarray)
    assert isinstance(inertia.subtract(THREE, THREE), np.ndarray)


def test_single_body_and_batch_are_distinguished():
    body, batch = InertialParameters(THREE[0]), InertialParameters(THREE)
    assert type(body.mass) is float
    assert type(body.consistent) is bool
    with pytest.raises(TypeError, match="a single body has no length"):
        len(body)
    with pytest.raises(TypeError, match="a single body cannot be indexed"):
        body[0]
    with pytest.raises(ModelError, match=r"phi: expected shape \(10\), got \(3, 10\)"):
        inertia.check_consistency(batch)
    assert InertialParameters(THREE.reshape(1, 3, 10))[0, 2] == InertialParameters(THREE[2])


def test_equal_bodies_have_equal_hash():
    zero, minus = np.zeros(10), -np.zeros(10)
    assert InertialParameters(zero) == InertialParameters(minus)
    assert hash(InertialParameters(zero)) == hash(InertialParameters(minus))
    assert len({InertialParameters(THREE[0]), InertialParameters(THREE[0].copy())}) == 1
    assert InertialParameters(THREE[0]) != InertialParameters(THREE)
    assert InertialParameters(THREE[0]) != "body"


def test_body_prints_on_one_line():
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
def test_homogeneous_matrix_is_accepted_as_pose(X):
    T, body = X.matrix, InertialParameters(THREE[0])
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
        (np.eye(3), r"pose: expected shape \(..., 4, 4\), got \(3, 3\)"),
        (2.0 * np.eye(4), r"last row is \[0, 0, 0, 1\], got \[0.0, 0.0, 0.0, 2.0\]"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "right-handed"),
        ("X", "pose: expected numbers"),
    ],
)
def test_invalid_pose_is_rejected(matrix, message):
    with pytest.raises(ModelError, match=message):
        InertialParameters(THREE[0]).in_frame(matrix)
