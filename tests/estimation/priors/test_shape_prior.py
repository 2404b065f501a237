"""Shapes as priors: what they say of a body, and what is refused of them."""

import numpy as np
import pytest

from identify.errors import IdentifyError, ModelError
from identify.estimation.errors import TermError
from identify.estimation.priors import ShapePrior
from identify.estimation.priors.shape_covariance import point_parameters
from identify.inertia import inertia_about_com, is_consistent
from identify.inertia.shapes import Box, Cylinder, Plate, convex_hull
from identify.spatial import Pose
from tests.close import assert_close

SIDES = np.array([0.2, 0.06, 0.03])
AT = Pose(
    np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.array([0.1, 0.0, -0.2])
)
CORNERS = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3, indexing="ij")).reshape(3, 8).T * SIDES


def voxels(spacing: float = 0.01) -> np.ndarray:
    """Centres of the cubes that fill the box."""
    axes = [np.arange(spacing / 2, side, spacing) - side / 2 for side in SIDES]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def spreads(prior: ShapePrior) -> np.ndarray:
    """Standard deviations of the ten at the widest of the grid, for a kilogram."""
    return np.sqrt(np.diagonal(prior.mixture(1.0).covariances, axis1=1, axis2=2))[-1]


def test_point_mesh_and_solid_priors_of_a_box_agree():
    box = Box(*SIDES)
    priors = {
        "solid": ShapePrior.of_shape(box, at=AT, error=0.003),
        "mesh": ShapePrior.of_shape(convex_hull(CORNERS), at=AT, error=0.003),
        "points": ShapePrior.of_points(voxels(), at=AT, error=0.003),
    }
    exact = box.body(mass=1.0).in_frame(AT).phi
    for name, prior in priors.items():
        assert_close(prior.mean, exact, 1e-12)
        assert_close(spreads(prior), spreads(priors["solid"]), 0.05)
        assert prior.spacing == 0.0, name
        assert_close(prior.volume, SIDES.prod(), 1e-6)


def test_every_body_of_the_grid_is_possible_and_the_mass_is_left_open():
    for prior in (ShapePrior.of_shape(Cylinder(0.02, 0.2)), ShapePrior.of_box(SIDES, at=AT)):
        mixture = prior.mixture(1.3)
        assert all(map(is_consistent, mixture.means))
        assert_close(np.sqrt(mixture.covariances[:, 0, 0]), np.full(len(mixture.means), 1.3), 1e-9)
        for values in mixture.settings.values():
            assert values.shape == (len(mixture.means),)
        eigenvalues = np.linalg.eigvalsh(mixture.covariances)
        assert eigenvalues[:, 0].min() > -1e-12 * eigenvalues.max()


def test_volumes_that_add_up_to_far_more_than_the_points_get_a_grid_of_overreach():
    points = voxels()
    cubes = np.full(len(points), 0.01**3)
    assert set(ShapePrior.of_points(points, cubes).mixture(1.0).settings) == {"density", "outline"}
    beyond = ShapePrior.of_points(points, 100.0 * cubes)
    mixture = beyond.mixture(1.0)
    assert set(mixture.settings) == {"density", "outline", "overreach"}
    assert "may reach 10 mm beyond" in str(beyond)
    # shrunk by as much as the points reach beyond: half a side less κ d
    kappa = mixture.settings["overreach"]
    central = inertia_about_com(mixture.means[kappa == 1.0][0])
    half = 0.5 * SIDES
    squares = half**4 / (half + 0.01) ** 2 / 3.0
    assert_close(np.diag(central), squares.sum() - squares, 1e-9)


def test_a_box_alone_is_the_dirichlet_process_of_its_cells():
    """Its second moments are those of bodies drawn part by part; the mean is the even box."""
    prior = ShapePrior.of_box(SIDES, at=AT)
    middles = (np.arange(10) + 0.5) / 10 - 0.5
    cells = np.stack(np.meshgrid(*[middles] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * SIDES
    own = point_parameters(AT.apply(cells))
    alpha = 3.0  # the process of concentration α has the variance 1/(1 + α) of one place
    shares = np.random.default_rng(0).dirichlet(np.full(1000, alpha / 1000.0), 8000)
    drawn = np.cov((shares @ own).T)
    units = np.sqrt(np.diag(drawn)) + 1e-12
    found = prior.density / (1.0 + alpha)
    assert_close(found / np.outer(units, units), drawn / np.outer(units, units), 0.06, scale=1.0)
    assert_close(prior.mean, Box(*SIDES).body(mass=1.0).in_frame(AT).phi, 0.01)


@pytest.mark.parametrize(
    ("scale", "said"),
    [
        (1.0, "--shape-scale 0.001 if it is in millimetres"),
        (0.1, "--shape-scale 0.001 if it is in millimetres"),
    ],
)
def test_a_shape_in_another_unit_is_rejected_with_the_scale_to_give(tmp_path, scale, said):
    path = tmp_path / "box.csv"
    np.savetxt(path, 1e3 * voxels(), delimiter=",", header="x,y,z", comments="")
    prior = ShapePrior.read(path, scale=scale)
    with pytest.raises(TermError, match=said):
        prior.mixture(0.5)
    assert ShapePrior.read(path, scale=1e-3).mixture(0.5).means.shape == (24, 10)


def test_a_file_of_points_has_volumes_and_parts(tmp_path):
    path = tmp_path / "tool.csv"
    rows = np.column_stack((voxels(), np.full(len(voxels()), 1e-6), np.zeros(len(voxels()))))
    np.savetxt(path, rows, delimiter=",", header="x, y, z, volume, part", comments="")
    assert_close(ShapePrior.read(path).mean, ShapePrior.of_points(voxels()).mean, 1e-12)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,y,w\n0,0,0\n", r"column 'w'.*x,y,z"),
        ("x,y\n0,0\n", "no column 'z'"),
        ("x,y,z\n0,0,0\n1,nan,0\n", "y of line 3 is 'nan'; expected a number"),
        ("x,y,z\n0,0,0\n1,a,0\n", "y of line 3 is 'a'"),
        ("x,y,z,volume\n0,0,0,1\n1,0,0,-1\n0,1,0,1\n0,0,1,1\n", "weight 1 is -1"),
        ("x,y,z\n0,0,0\n0,0,1\n", "2 points do not define a shape"),
        ("x,y,z\n" + "0,0,0\n" * 9, "all points coincide"),
        ("", "expected a CSV file"),
    ],
)
def test_invalid_shape_points_are_rejected(tmp_path, text, said):
    path = tmp_path / "tool.csv"
    path.write_text(text)
    with pytest.raises(ModelError, match=said):
        ShapePrior.read(path)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ShapePrior.of_shape(Plate(0.1, 0.2)), "fills no volume"),
        (lambda: ShapePrior.of_shape(Box(0.1, 0.2, 0.3), error=-1.0), "error of the outline"),
        (lambda: ShapePrior.of_shape(Box(0.1, 0.2, 0.3), error=float("nan")), "error of the out"),
        (lambda: ShapePrior.of_points(voxels(), error=0.0), "error of the outline above zero"),
        (lambda: ShapePrior.of_box([0.1, 0.0, 0.2]), "three sides above zero"),
        (lambda: ShapePrior.of_box([0.1, 0.2]), "box: sides"),
    ],
)
def test_uninformative_shapes_are_rejected(make, said):
    with pytest.raises(IdentifyError, match=said):
        make()


def test_points_in_a_plane_leave_a_body_of_their_spacing_in_thickness():
    flat = voxels()
    flat = flat[flat[:, 2] == flat[0, 2]]
    prior = ShapePrior.of_points(flat)
    moments = np.linalg.eigvalsh(inertia_about_com(prior.mean))
    assert_close(moments[0] + moments[1] - moments[2], 2.0 * 0.01**2 / 12.0, 1e-6)
