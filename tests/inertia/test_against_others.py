"""The same body in Pinocchio, MuJoCo and rigeo."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from identify.inertia import (
    InertialParameters,
    in_frame,
    pseudo_inertia,
    spatial_inertia,
)
from identify.spatial import Pose
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, poses

# Position of each of ours in Pinocchio's dynamic parameters m, h, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


@given(bodies(flat=False, offset=0.5), poses())
def test_change_of_frame_is_that_of_pinocchio(pinocchio, phi, X):
    X = Pose(X.rotation, X.position * np.linalg.norm(phi[1:4]) / phi[0])
    placement = pinocchio.SE3(np.array(X.rotation), np.array(X.position))
    moved = placement.act(pinocchio.Inertia.FromDynamicParameters(phi[PINOCCHIO]))
    assert_same_body(in_frame(phi, X), moved.toDynamicParameters()[PINOCCHIO], 1e-13)


@given(bodies(flat=False, offset=0.5))
def test_pseudo_inertia_is_that_of_pinocchio(pinocchio, phi):
    inertia = pinocchio.Inertia.FromDynamicParameters(phi[PINOCCHIO])
    theirs = inertia.toPseudoInertia()
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3], matrix[3, :3], matrix[3, 3] = (
        theirs.sigma,
        theirs.h,
        theirs.h,
        theirs.mass,
    )
    scale = 10.0 * np.abs(pseudo_inertia(phi)).max()
    assert_close(matrix, pseudo_inertia(phi), 1e-14, scale=scale)


@given(bodies(flat=False, offset=0.5))
def test_pseudo_inertia_is_that_of_rigeo(rigeo, phi):
    theirs = rigeo.InertialParameters.from_vec(phi)
    scale = np.abs(pseudo_inertia(phi)).max()
    assert_close(theirs.J, pseudo_inertia(phi), 1e-14, scale=scale)
    angular_first = np.r_[3:6, 0:3]
    assert_close(
        theirs.M[np.ix_(angular_first, angular_first)], spatial_inertia(phi), 1e-14, scale=scale
    )


@given(
    bodies(flat=False, offset=0.5).filter(lambda phi: 0.01 < phi[0] < 1e4),
    st.sampled_from(["principal", "mass matrix"]),
)
def test_moments_and_mass_matrix_are_those_of_mujoco(mujoco, phi, what):
    body = InertialParameters(phi)
    Ic = body.inertia_about_com
    six = " ".join(f"{x:.17g}" for x in (*np.diag(Ic), Ic[0, 1], Ic[0, 2], Ic[1, 2]))
    com = " ".join(f"{x:.17g}" for x in body.com)
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><compiler boundmass="0" boundinertia="0"/><worldbody><body><freejoint/>
        <inertial pos="{com}" mass="{body.mass:.17g}" fullinertia="{six}"/>
        </body></worldbody></mujoco>"""
    )
    if what == "principal":
        theirs = np.sort(model.body_inertia[1])
        assert_close(theirs, body.principal_moments, 1e-9, scale=theirs.max())
        return
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    dense = np.zeros((6, 6))
    columns = np.eye(6)
    for k in range(6):
        mujoco.mj_mulM(model, data, dense[k], columns[k])
    assert_close(dense, spatial_inertia(phi), 1e-9, scale=np.abs(dense).max())
