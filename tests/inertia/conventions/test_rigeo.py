"""Against rigeo itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from identify.inertia.conventions import (
    phi_from_rigeo_matrix,
    phi_from_rigeo_vector,
    rigeo_matrix,
    rigeo_vector,
)
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies


@given(bodies(flat=False))
def test_vector_and_matrix_are_those_of_rigeo(rigeo, phi):
    theirs = rigeo.InertialParameters.from_vec(np.array(rigeo_vector(phi)))
    scale = np.abs(theirs.M).max()
    assert_close(theirs.M, rigeo_matrix(phi), 1e-14, scale=scale)
    assert_same_body(phi_from_rigeo_vector(theirs.vec), phi, 1e-14)
    assert_same_body(phi_from_rigeo_matrix(theirs.M), phi, 1e-14)
