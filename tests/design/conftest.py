import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def few_iterations(monkeypatch) -> None:
    """Ends each start after a few iterations, with a motion that is better than random."""
    monkeypatch.setattr("identify.design.d_optimal._STAGES", (25,))
    monkeypatch.setattr("identify.design.d_optimal._RANDOM_MOTIONS", 5)
