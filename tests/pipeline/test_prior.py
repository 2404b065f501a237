"""A body that is the prior of a fit is in the frame of the logs, and not found from them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from identify.errors import LogError, SchemaError
from identify.estimation.priors import Ball, BodyPrior, NoPrior
from identify.inertia.shapes import Box
from identify.pipeline.preconditions import require_compatible_prior
from identify.pipeline.settings import merge_settings
from identify.spatial import BodyFrame, Pose

BOX = Box(0.1, 0.2, 0.3).body(mass=1.0).phi
THERE = Pose(np.eye(3), np.array([0.0, 0.0, 0.1]))


def log(**frame: Any) -> Any:
    return SimpleNamespace(body_frame=BodyFrame(**frame), sha256="ab", name="log")


def prior(*logs: str, **frame: Any) -> BodyPrior:
    return BodyPrior(BOX, 1e-4 * np.eye(10), "earlier.json", BodyFrame(**frame), logs)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ({}, {}),
        ({"name": "sensor"}, {}),
        ({"name": "sensor"}, {"name": "sensor"}),
        ({"name": "sensor", "flange": THERE}, {"name": "flange", "flange": THERE}),
    ],
)
def test_prior_in_same_or_unknown_frame_is_accepted(own, other):
    require_compatible_prior(prior("cd", **own), [log(**other)])


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ({"name": "sensor"}, {"name": "flange"}),
        ({"flange": THERE}, {"flange": Pose.identity()}),
    ],
)
def test_prior_in_other_frame_is_rejected(own, other):
    with pytest.raises(LogError, match=r"earlier.json refers to .* are not the same"):
        require_compatible_prior(prior(**own), [log(**other)])


def test_prior_estimated_from_same_log_is_rejected():
    with pytest.raises(LogError, match="was estimated from log itself; a log counted twice"):
        require_compatible_prior(prior("cd", "ab"), [log()])


def test_named_priors_need_no_arguments():
    assert merge_settings(None, {"prior": "none"}).prior == NoPrior()
    assert merge_settings(None, {"prior": "ball"}).prior == merge_settings(None, {}).prior == Ball()
    with pytest.raises(SchemaError, match="did you mean 'none'"):
        merge_settings(None, {"prior": "nonne"})
