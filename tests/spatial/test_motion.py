import numpy as np
import pytest

from identify.errors import ModelError
from identify.spatial import BodyMotion
from tests.close import assert_close


def test_features_are_the_accelerations_and_all_products_of_the_rates():
    rng = np.random.default_rng(0)
    a, w, alpha = rng.normal(size=(3, 4, 7, 3))
    psi = BodyMotion(a, w, alpha).features
    assert psi.shape == (4, 7, 12)
    pairs = np.einsum("...i,...j->...ij", w, w)
    rows, columns = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    assert_close(psi, np.concatenate((a, alpha, pairs[..., rows, columns]), axis=-1), 0.0)


def test_length_is_the_number_of_samples():
    zero = np.zeros((11, 3))
    assert len(BodyMotion(zero, zero, zero)) == 11


@pytest.mark.parametrize(
    "shapes", [((4, 3), (5, 3), (4, 3)), ((4, 2),) * 3, ((4, 3), (4, 3), (3,))]
)
def test_arrays_of_different_shapes_are_rejected(shapes):
    with pytest.raises(ModelError, match="three arrays of one shape"):
        BodyMotion(*(np.zeros(shape) for shape in shapes))
