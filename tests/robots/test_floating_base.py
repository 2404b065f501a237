"""Floating bases: against Pinocchio with a free flyer, and a quadruped with contacts in MuJoCo."""

from typing import Any

import numpy as np
import pytest

from identify import BodyPrior, ParameterSpace, solve
from identify.errors import ModelError
from identify.inertia import base_columns
from identify.inertia.conventions import ColumnOrder
from identify.robots import contact_jacobian, floating_base_regressor, read_robot, torque_regressor
from identify.spatial import BodyMotion
from tests.close import assert_close
from tests.endtoend.conftest import load_script
from tests.strategies import random_body

GRAVITY = np.array([1.0, -2.0, 3.0])


@pytest.fixture(scope="module")
def quadruped():
    return load_script("docs/quadruped.py")


@pytest.fixture
def robot(quadruped, tmp_path, pinocchio):
    path = tmp_path / "quadruped.urdf"
    path.write_text(quadruped.urdf())
    return read_robot(path, gravity=GRAVITY)


def floating_model(pinocchio, quadruped):
    model = pinocchio.buildModelFromXML(quadruped.urdf(), pinocchio.JointModelFreeFlyer())
    model.gravity = pinocchio.Motion(GRAVITY, np.zeros(3))
    return model, model.createData()


def random_state(rng, pinocchio, robot, model):
    q, v, a = rng.normal(size=(3, 1, len(robot.joints)))
    V, dV, quaternion = rng.normal(size=6), rng.normal(size=6), rng.normal(size=4)
    R = pinocchio.Quaternion(quaternion / np.linalg.norm(quaternion)).matrix()
    index = [robot.joints.index(model.names[k]) for k in range(2, model.njoints)]
    pose = np.concatenate((rng.normal(size=3), pinocchio.Quaternion(R).coeffs(), q[0, index]))
    rates = np.concatenate((V, v[0, index])), np.concatenate((dV, a[0, index]))
    proper = dV[:3] + np.cross(V[3:], V[:3]) - R.T @ GRAVITY  # of a spatial acceleration
    base = BodyMotion(proper[None], V[None, 3:], dV[None, 3:])
    return (base, q, v, a), (pose, *rates), np.concatenate((np.arange(6), 6 + np.array(index)))


def test_rows_are_those_of_pinocchio_with_a_free_flyer(quadruped, robot, pinocchio):
    rng = np.random.default_rng(1)
    model, data = floating_model(pinocchio, quadruped)
    links = [
        robot.links.index(name.replace("hip", "thigh").replace("knee", "shank"))
        for name in model.names[2:]
    ]
    phi = rng.permuted([random_body(rng) for _ in range(9)], axis=0)
    for _ in range(5):
        ours, theirs, rows = random_state(rng, pinocchio, robot, model)
        Y = pinocchio.computeJointTorqueRegressor(model, data, *theirs).copy()
        expected = ColumnOrder.of("pinocchio", 9).to_phi(Y) @ phi.ravel()
        here = np.zeros_like(phi)
        here[0], here[1 + np.array(links)] = phi[0], phi[1:]
        assert_close(
            (floating_base_regressor(robot, *ours)[0] @ here.ravel())[rows], expected, 1e-10
        )
        _, q, v, a = ours
        still = BodyMotion(-GRAVITY[None], np.zeros((1, 3)), np.zeros((1, 3)))
        fixed = floating_base_regressor(robot, still, q, v, a)[:, 6:, 10:]
        assert_close(fixed, torque_regressor(robot, q, v, a), 1e-12)


def test_jacobian_of_a_foot_is_that_of_pinocchio(quadruped, robot, pinocchio):
    rng = np.random.default_rng(2)
    model, data = floating_model(pinocchio, quadruped)
    (_, q, _, _), (pose, *_), rows = random_state(rng, pinocchio, robot, model)
    for frame in ("foot_hl", "trunk"):
        J = pinocchio.computeFrameJacobian(
            model, data, pose, model.getFrameId(frame), pinocchio.ReferenceFrame.LOCAL
        )
        assert_close(contact_jacobian(robot, frame, q)[0][:, rows], J, 1e-12)
    with pytest.raises(ModelError, match="did you mean 'foot_"):
        contact_jacobian(robot, "foot_f", q)
    with pytest.raises(ModelError, match="expected 1 samples as of the joints"):
        floating_base_regressor(robot, BodyMotion(*np.zeros((3, 2, 3))), q, q, q)


def test_quadruped_is_identified_from_its_contact_wrenches(quadruped, mujoco, pinocchio):
    """Sums and base parameters, as of the rows, are right, and every link is consistent."""
    estimate = quadruped.main(duration=2.5)
    found = {body.body: body.parameters for body in estimate.bodies}
    assert all(body.consistent for body in found.values())
    assert estimate.verdict.explains_data
    total = sum(quadruped.true_body(name)[0] for name in found)
    assert sum(body.mass for body in found.values()) == pytest.approx(total, rel=2e-3)
    for body in estimate.bodies:
        low, high = body.intervals["m"]
        mass = quadruped.true_body(body.body)[0]
        assert low - 0.05 * mass < mass < high + 0.05 * mass
    image = [1, 1, -1, 1, 1, -1, 1, 1, -1, 1]
    assert_close(found["shank_fl"].phi, found["shank_fr"].phi * image, 1e-6)


def test_base_parameters_of_the_quadruped(quadruped, mujoco, pinocchio, tmp_path):
    """Without noise the rows give the base parameters of the truth."""
    path = tmp_path / "quadruped.urdf"
    path.write_text(quadruped.urdf())
    robot = read_robot(path)
    Y, b = quadruped.rows(robot, quadruped.simulate(1.5))
    Y, b = Y.reshape(-1, Y.shape[2]), b.ravel()
    base = base_columns(Y)
    truth = np.concatenate([quadruped.true_body(name) for name in ("trunk", *robot.links)])
    beta = np.linalg.lstsq(Y[:, base.independent], b, rcond=None)[0]
    assert_close(beta, base.dependence @ truth, 1e-4)


@pytest.mark.parametrize("order", ["pinocchio", "drake", "figaroh"])
def test_a_wrong_order_is_named_though_the_rows_leave_bodies_open(
    order, quadruped, mujoco, pinocchio, tmp_path
):
    path = tmp_path / "quadruped.urdf"
    path.write_text(quadruped.urdf())
    robot = read_robot(path)
    Y, b = quadruped.rows(robot, quadruped.simulate(1.5))
    A, b = Y.reshape(-1, Y.shape[2]), b.ravel()
    b = b + 0.05 * np.random.default_rng(3).normal(size=b.shape)
    columns = ColumnOrder.of(order, 9)
    given = np.empty_like(A)
    given[:, columns.columns] = A
    names = ("trunk", *robot.links)
    priors = {n: BodyPrior.with_error(1.1 * quadruped.true_body(n), 0.2) for n in names}
    options: Any = {"space": ParameterSpace(names), "noise": 0.05, "prior": priors}
    wrong = solve(given, b, **options)
    assert wrong.verdict.usable == "no"
    finding = next(each for each in wrong.findings if each.code == "column_order")
    assert order in finding.evidence["orders"] or repr(order) in finding.text
    right = solve(given, b, order=order, **options)
    assert right.verdict.explains_data
    assert not any(finding.severity == "error" for finding in right.findings)
