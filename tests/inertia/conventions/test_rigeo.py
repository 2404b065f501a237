"""Against rigeo itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from identify.inertia.conventions import find_convention
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies

VECTOR, MATRIX = find_convention("rigeo"), find_convention("rigeo_matrix")


@given(bodies(flat=False))
def test_vector_and_matrix_are_those_of_rigeo(rigeo, phi):
    theirs = rigeo.InertialParameters.from_vec(np.array(VECTOR.from_phi(phi)))
    scale = np.abs(theirs.M).max()
    assert_close(theirs.M, MATRIX.from_phi(phi), 1e-14, scale=scale)
    assert_same_body(VECTOR.to_phi(theirs.vec), phi, 1e-14)
    assert_same_body(MATRIX.to_phi(theirs.M), phi, 1e-14)
