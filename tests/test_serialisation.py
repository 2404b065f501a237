import json
from pathlib import Path

import numpy as np
import pytest

from identify.errors import ModelError
from identify.exchange import Bound
from identify.findings import Finding
from identify.inertia import InertialParameters
from identify.serialisation import from_json_and_arrays, to_json_and_arrays
from identify.spatial import BodyFrame, Pose


def again(value):
    arrays: dict[str, np.ndarray] = {}
    said = json.loads(json.dumps(to_json_and_arrays(value, arrays, "value")))
    return from_json_and_arrays(said, arrays)


@pytest.mark.parametrize(
    "value",
    [
        *(
            None,
            True,
            3,
            -0.1,
            1e300,
            float("inf"),
            "text \N{SNOWMAN}",
            (),
            (1, (2.5, "a")),
            [1, []],
        ),
        {"a": {"b": (1,)}, 3: None},
        Finding("contact", "warning", "text", "remedy", {"p": (1.0, 2.0)}, "here"),
        BodyFrame("wrist"),
        {"m": Bound(1.0, None, 0.0)},
    ],
)
def test_plain_values_round_trip(value):
    assert again(value) == value


def test_numbers_of_arrays_come_back_to_the_last_bit():
    body = InertialParameters(np.arange(1.0, 11.0) / 3.0)
    np.testing.assert_array_equal(again(body).phi, body.phi)
    pose = Pose.from_quaternion([0.1, 0.2, 0.3, 0.9], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(again((pose,))[0].rotation, pose.rotation)
    assert np.isnan(again(float("nan")))
    assert again(np.float64(0.1)) == 0.1
    assert again(Path("a/b")) == "a/b"


def test_arrays_are_named_by_their_places():
    arrays: dict[str, np.ndarray] = {}
    to_json_and_arrays({"logs": ({"time": np.zeros(2)},)}, arrays, "result")
    assert list(arrays) == ["result.logs.0.time"]


def test_non_plain_value_is_rejected():
    with pytest.raises(TypeError, match=r"a\.1: a function cannot be serialised"):
        to_json_and_arrays([1, print_nothing], {}, "a")


def print_nothing() -> None:
    pass


@pytest.mark.parametrize(
    "place",
    [
        "os:system",
        "identify.errors:IdentifyError",
        "identify.nothing:Pose",
        "identify",
        "subprocess:Popen",
    ],
)
def test_nothing_but_dataclasses_of_the_toolkit_is_made(place):
    with pytest.raises(ModelError, match="unknown class"):
        from_json_and_arrays({"class": place, "fields": {}}, {})
