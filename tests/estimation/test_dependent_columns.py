"""Regressors whose columns depend on each other: a three-joint arm has rank 15 of 30."""

import numpy as np
import pytest

from identify import solve
from identify.errors import ProblemError
from identify.estimation import DependentColumns, TooLittleMotion
from identify.estimation.terms import Consistent
from identify.inertia import InertialParameters, base_columns
from identify.inertia.conventions import ColumnOrder
from identify.regressors import ParameterSpace, ScalarUnknown
from tests.close import assert_close
from tests.estimation.serial_arm import LINKS, random_joints, torque_regressor
from tests.strategies import random_body

JOINTS = tuple(f"joint {number}" for number in range(3))
FRICTION = tuple(ScalarUnknown(f"viscous {number}", low=0.0) for number in range(3))


def arm(seed: int, *, share: float = 0.0, count: int = 400):
    """Rows of an arm with viscous friction, its truth, and defaults that are a tenth off."""
    rng = np.random.default_rng(seed)
    links = [random_body(rng, mass, 0.2) for mass in (3.0, 2.0, 1.0)]
    joints = random_joints(rng, count)
    friction = np.einsum("nj,jk->njk", joints.v, np.eye(3))
    A = np.concatenate((torque_regressor(joints), friction), axis=2)
    truth = np.concatenate((*links, [0.5, 0.3, 0.1]))
    torque = A @ truth
    torque = torque + share * torque.std(axis=0) * rng.normal(size=torque.shape)
    defaults = {name: phi * rng.uniform(0.8, 1.2) for name, phi in zip(LINKS, links, strict=True)}
    space = ParameterSpace(LINKS, FRICTION, defaults)
    return A.reshape(-1, 33), torque.ravel(), truth, space, list(JOINTS) * count


def unknowns(estimate, *, least_squares: bool = False) -> np.ndarray:
    bodies = [
        (body.least_squares if least_squares else body.parameters).phi for body in estimate.bodies
    ]
    return np.concatenate((*bodies, [value for value, _ in estimate.scalars.values()]))


@pytest.mark.parametrize("seed", range(3))
def test_arm_with_a_default_for_each_link_is_fitted(seed):
    """The rows are explained, and what they leave open is near the defaults and consistent."""
    A, b, truth, space, groups = arm(seed)
    estimate = solve(A, b, space=space, groups=groups)
    x = unknowns(estimate)
    assert np.abs(A @ x - b).max() < 1e-6 * np.abs(b).max()
    assert_close(x[30:], truth[30:], 1e-6)
    base = base_columns(A)
    assert len(base.independent) == 18
    assert_close(base.dependence @ x, base.dependence @ truth, 1e-6)
    assert_close(
        np.linalg.lstsq(A[:, base.independent], b, rcond=None)[0], base.dependence @ x, 1e-6
    )
    assert all(body.parameters.consistent for body in estimate.bodies)
    assert estimate.certificate.rank == 18
    assert estimate.decided_by["m"] == "default"
    assert estimate.decided_by["hx"] == "default"


@pytest.mark.parametrize("seed", range(3))
def test_noisy_arm_is_consistent_and_covers_its_base_parameters(seed):
    A, b, truth, space, groups = arm(seed, share=0.05)
    estimate = solve(A, b, space=space, groups=groups, terms=[Consistent(margin=1e-3)])
    x, base = unknowns(estimate), base_columns(A)
    assert estimate.certificate.margin == 1e-3
    assert min(estimate.certificate.eigenvalues) >= 1e-3 - 1e-9
    assert np.sqrt(np.mean((A @ (x - truth)) ** 2)) < 0.02 * b.std()
    assert estimate.joint_covariance is not None
    error = base.dependence @ (unknowns(estimate, least_squares=True)[:33] - truth)
    spread = base.dependence @ estimate.joint_covariance @ base.dependence.T
    chi_square = error[:15] @ np.linalg.solve(spread[:15, :15], error[:15])
    assert 3.0 < chi_square < 38.0  # χ² of 15 degrees of freedom at .0005 and .999


def test_columns_that_depend_are_named_without_defaults():
    A, b, truth, space, groups = arm(1)
    with pytest.raises(DependentColumns, match="of 33 columns 18 are independent") as caught:
        solve(A, b, space=space.with_defaults({}), groups=groups)
    error = caught.value
    assert isinstance(error, TooLittleMotion)
    assert "base.m" in error.unidentifiable
    assert_close(A[:, error.kept] @ error.dependence, A, 1e-12, scale=np.abs(A).max())
    assert_close(A[:, error.kept] @ (error.dependence @ truth), b, 1e-12)
    assert error.base_parameters[-3:] == ("viscous 0", "viscous 1", "viscous 2")
    assert "upper.hz + 0.4 lower.m" in error.base_parameters
    assert "upper.hz + 0.4 lower.m; " in str(error)
    assert "defaults=" in str(error)


@pytest.mark.parametrize("given", ["identify", "pinocchio"])
def test_rows_of_two_links_are_dependent_and_their_order_is_named_only_if_it_is_wrong(given):
    rng = np.random.default_rng(6)
    links = np.concatenate([random_body(rng, mass, 0.2) for mass in (2.0, 1.0)])
    columns, space = torque_regressor(random_joints(rng, 400))[..., 10:], ParameterSpace(LINKS[1:])
    torque = columns @ links
    b = (torque + 0.01 * torque.std(axis=0) * rng.normal(size=torque.shape)).ravel()
    A = np.empty((len(b), 20))
    A[:, ColumnOrder.of(given, 2).columns] = columns.reshape(-1, 20)
    groups = list(JOINTS) * 400
    with pytest.raises(DependentColumns, match="a prior, or a default") as caught:
        solve(A, b, space=space, groups=groups, order=given)
    assert "in the order" not in str(caught.value)
    error, right = caught.value, columns.reshape(-1, 20)
    assert len(error.kept) == np.linalg.matrix_rank(right, rtol=1e-9) == 15
    assert_close(right[:, error.kept] @ error.dependence, right, 1e-12, scale=np.abs(right).max())
    if given != "identify":
        with pytest.raises(TooLittleMotion, match="in the order 'pinocchio'"):
            solve(A, b, space=space, groups=groups)


def test_defaults_of_some_links_are_not_enough():
    A, b, _, space, groups = arm(2)
    defaults = {name: space.defaults[name] for name in LINKS[1:]}
    with pytest.raises(DependentColumns, match=r"rows do not identify base\.m"):
        solve(A, b, space=space.with_defaults(defaults), groups=groups)


def test_weak_motion_of_independent_columns_is_no_dependence():
    """A body that hardly turns: more motion helps, so the advice is that."""
    rng = np.random.default_rng(4)
    phi = random_body(rng, 1.0)
    A = rng.normal(size=(300, 10)) * ([1e-3, *[1.0] * 9])
    b = A @ phi + rng.normal(size=300)
    with pytest.raises(ProblemError) as caught:
        solve(A, b)
    assert not isinstance(caught.value, DependentColumns)


def test_default_as_a_body_is_accepted():
    A, b, _, space, groups = arm(0)
    bodies = {name: InertialParameters(phi) for name, phi in space.defaults.items()}
    first, second = (
        solve(A, b, space=each, groups=groups) for each in (space, space.with_defaults(bodies))
    )
    assert_close(first.parameters.phi, second.parameters.phi, 0.0)
