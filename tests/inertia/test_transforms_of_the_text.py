"""The formulas of the text on spatial inertia transforms, corrected, by their labels.

Frames c (centre of mass), b (body) and f (fixed). `r_cf` is the position of f's origin from c's in
axes of c, `[Ad]_cf` maps twists in f to twists in c. The slips are in docs/reference-slips.md.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from identify.inertia import in_frame, phi_from_inertia, spatial_inertia
from identify.inertia.frames import spatial_inertia_in_frame
from identify.inertia.momentum import momentum_in_frame, spatial_momentum
from identify.spatial import Pose, adjoint, coadjoint, hat, rotation_from_quaternion
from tests.close import assert_close
from tests.strategies import seeds, vectors


class Setting:
    """A body with principal axes along c, and the poses of its frames in each other."""

    def __init__(self, seed: int, *, aligned: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.m = float(rng.uniform(0.5, 5.0))
        extents = rng.uniform(0.1, 1.0, 3)
        self.I_c = np.diag(self.m * (extents.sum() - extents))
        R = np.eye(3) if aligned else rotation_from_quaternion(rng.normal(size=4))
        self.X_fb = Pose(R, rng.normal(size=3))
        self.X_bc = Pose(np.eye(3), rng.normal(size=3))
        self.X_fc = self.X_fb @ self.X_bc
        self.X_cf = self.X_fc.inverse()
        self.phi_c = phi_from_inertia(self.m, np.zeros(3), self.I_c)
        self.M_cc = spatial_inertia(self.phi_c)
        self.M_ff = spatial_inertia(in_frame(self.phi_c, self.X_fc))
        self.V_c = rng.normal(size=6)

    def blocks(self, upper_right: np.ndarray, lower_left: np.ndarray, lower_right: np.ndarray):
        return np.block([[self.m * np.eye(3), upper_right], [lower_left, lower_right]])


@given(seeds())
def test_inertia_matrix_and_transform_1(seed):
    """M_cc = [[m 1, 0], [0, Ī]] and p_c = M_cc v_c."""
    s = Setting(seed)
    zero = np.zeros((3, 3))
    assert_close(s.M_cc, s.blocks(zero, zero, s.I_c), 1e-15)
    assert_close(spatial_momentum(s.phi_c, s.V_c), s.M_cc @ s.V_c, 1e-15, scale=30.0)


@given(seeds())
def test_transform_2(seed):
    """[Ad]*_cf p_f = M_cc [Ad]_cf v_f."""
    s = Setting(seed)
    V_f = adjoint(s.X_fc) @ s.V_c
    p_f = spatial_momentum(in_frame(s.phi_c, s.X_fc), V_f)
    assert_close(coadjoint(s.X_cf) @ p_f, s.M_cc @ adjoint(s.X_cf) @ V_f, 1e-13, scale=300.0)
    assert_close(coadjoint(s.X_cf) @ p_f, s.M_cc @ s.V_c, 1e-13, scale=300.0)


@given(seeds())
def test_transform_3(seed):
    """p_f = ([Ad]*_cf)⁻¹ M_cc [Ad]_fc⁻¹ v_f = [Ad]*_fc M_cc [Ad]_cf v_f."""
    s = Setting(seed)
    V_f = adjoint(s.X_fc) @ s.V_c
    p_f = momentum_in_frame(spatial_momentum(s.phi_c, s.V_c), s.X_fc)
    first = np.linalg.inv(coadjoint(s.X_cf)) @ s.M_cc @ np.linalg.inv(adjoint(s.X_fc)) @ V_f
    second = coadjoint(s.X_fc) @ s.M_cc @ adjoint(s.X_cf) @ V_f
    assert_close(first, p_f, 1e-13, scale=300.0)
    assert_close(second, p_f, 1e-13, scale=300.0)


@given(seeds())
def test_transform_4(seed):
    """M_ff = [Ad]*_fc M_cc [Ad]_cf; the two factors are each other's transpose."""
    s = Setting(seed)
    assert_close(coadjoint(s.X_fc), adjoint(s.X_cf).T, 1e-14, scale=10.0)
    M_ff = coadjoint(s.X_fc) @ s.M_cc @ adjoint(s.X_cf)
    assert_close(M_ff, s.M_ff, 1e-13)
    assert_close(spatial_inertia_in_frame(s.M_cc, s.X_fc), s.M_ff, 1e-13)


@given(seeds())
def test_minimum_operations_and_further_simplified(seed):
    s = Setting(seed)
    R, r = s.X_fc.rotation, hat(s.X_cf.position)
    upper_right = R @ (s.m * np.eye(3) @ r) @ R.T
    lower_right = R @ (s.I_c - s.m * r @ r) @ R.T
    assert_close(s.blocks(upper_right, -upper_right, lower_right), s.M_ff, 1e-13)
    # With the subscripts of the left factors exchanged the printed lower blocks are right too.
    left = hat(s.X_fc.position) @ R
    assert_close(left @ (s.m * np.eye(3)) @ R.T, -upper_right, 1e-13, scale=20.0)
    lower = left @ (s.m * np.eye(3)) @ r @ R.T + R @ s.I_c @ R.T
    assert_close(lower, lower_right, 1e-13, scale=100.0)


@given(seeds())
def test_further_simplified_2_with_everything_in_axes_of_f(seed):
    s = Setting(seed)
    R = s.X_fc.rotation
    r_cf = R @ s.X_cf.position
    lower_right = R @ s.I_c @ R.T - s.m * hat(r_cf) @ hat(r_cf)
    assert_close(s.blocks(s.m * hat(r_cf), -s.m * hat(r_cf), lower_right), s.M_ff, 1e-13)


@given(seeds())
def test_further_simplified_2_as_printed_where_the_axes_are_aligned(seed):
    s = Setting(seed, aligned=True)
    r = hat(s.X_cf.position)
    assert_close(s.blocks(s.m * r, -s.m * r, s.I_c - s.m * r @ r), s.M_ff, 1e-13)


@given(seeds())
def test_the_ten_stored_terms_are_the_ten_parameters_with_the_first_moment_from_f(seed):
    """m r_cf points from c to f: it is minus the first moment of mass about f."""
    s = Setting(seed)
    phi_f = in_frame(s.phi_c, s.X_fc)
    assert_close(-s.m * s.X_fc.rotation @ s.X_cf.position, phi_f[1:4], 1e-13, scale=20.0)
    assert_close(spatial_inertia(phi_f), s.M_ff, 1e-15)


@given(seeds())
def test_not_com_frame(seed):
    """M_ff = [Ad]*_fb [Ad]*_bc M_cc [Ad]_cb [Ad]_bf."""
    s = Setting(seed)
    step = spatial_inertia_in_frame(s.M_cc, s.X_bc)
    assert_close(spatial_inertia_in_frame(step, s.X_fb), s.M_ff, 1e-13)
    X_cb, X_bf = s.X_bc.inverse(), s.X_fb.inverse()
    product = coadjoint(s.X_fb) @ coadjoint(s.X_bc) @ s.M_cc @ adjoint(X_cb) @ adjoint(X_bf)
    assert_close(product, s.M_ff, 1e-13)


@given(seeds())
def test_not_com_frame_2_to_5_and_result(seed):
    """The chain of the text: turn Ī, find the centre of mass, then the parallel axis theorem."""
    s = Setting(seed)
    R_fb = s.X_fb.rotation
    I_cc_f = R_fb @ s.I_c @ R_fb.T  # 2: a 3×3 inertia about c in axes of f
    r_fc = s.X_fb.position + R_fb @ s.X_bc.position  # 3
    assert_close(r_fc, s.X_fc.position, 1e-14, scale=5.0)
    t_temp = s.m * r_fc  # 4
    result = np.outer(r_fc, t_temp)  # identity_simplify2: b aᵀ, less its trace
    result -= np.trace(result) * np.eye(3)
    I_ff = I_cc_f - result  # result, result2
    assert_close(I_cc_f - hat(t_temp) @ hat(r_fc), I_ff, 1e-14, scale=100.0)
    assert_close(s.blocks(-hat(t_temp), hat(t_temp), I_ff), s.M_ff, 1e-13)  # 5


@given(vectors(3, 2.0), vectors(3, 2.0))
def test_identity_simplify(a, b):
    """ã b̃ = b aᵀ − (aᵀ b) 1."""
    assert_close(hat(a) @ hat(b), np.outer(b, a) - a @ b * np.eye(3), 1e-15, scale=10.0)


@pytest.mark.parametrize(
    "printed",
    [
        lambda s, R, r: s.blocks(R @ (s.m * r) @ R.T, r @ R.T * s.m @ R.T, s.M_ff[3:, 3:]),
        lambda s, R, r: s.blocks(
            s.M_ff[:3, 3:], s.M_ff[3:, :3], r @ R.T * s.m @ r @ R.T + R @ s.I_c @ R.T
        ),
        lambda s, R, r: s.blocks(s.M_ff[:3, 3:], s.M_ff[3:, :3], s.I_c - s.m * r @ r),
        lambda s, R, r: s.blocks(s.m * r, -s.m * r, s.I_c - s.m * r @ r),
    ],
    ids=["lower left", "lower right", "further_simplified", "further_simplified2"],
)
def test_the_printed_blocks_are_slips_for_turned_axes(printed):
    s = Setting(12)
    R, r = s.X_fc.rotation, hat(s.X_cf.position)
    assert np.abs(printed(s, R, r) - s.M_ff).max() > 0.05 * np.abs(s.M_ff).max()
