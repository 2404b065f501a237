"""A log read otherwise than its schema says, against a schema that says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from identify.logs import Recording
from identify.signals import Reading
from tests.close import assert_close

RNG = np.random.default_rng(5)
ROWS = 12
ATTITUDE = RNG.standard_normal((ROWS, 4))
ATTITUDE /= np.linalg.norm(ATTITUDE, axis=1, keepdims=True)
GIVEN = {name: RNG.standard_normal((ROWS, 3)) for name in ("position", "force", "torque")}


def recording(**said) -> Recording:
    return Recording.from_arrays(
        **GIVEN,
        quaternion=ATTITUDE,
        rate_hz=10.0,
        **{"acts_on": "body", "wrench_frame": "body", **said},
    )


def assert_same(ours: Recording, theirs: Recording) -> None:
    for name, values in theirs.signals.items():
        assert_close(ours.signals[name], values, 1e-14)
    assert_close(ours.gravity, theirs.gravity, 0.0)


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        (Reading(turned_order=True), {"quaternion_order": "wxyz"}),
        (Reading(turned_maps=True), {"maps": "world_to_body"}),
        (
            Reading(turned_order=True, turned_maps=True),
            {"quaternion_order": "wxyz", "maps": "world_to_body"},
        ),
        (Reading(scales=(("force", -1.0), ("torque", -1.0))), {"acts_on": "sensor"}),
        (Reading(gravity=(1.0, 2.0, 3.0)), {"gravity": (1.0, 2.0, 3.0)}),
        (Reading(position="body"), {"position_axes": "body"}),
        (
            Reading(turned_maps=True, position="body"),
            {"maps": "world_to_body", "position_axes": "body"},
        ),
        (
            Reading(turned_maps=True, position="world"),
            {"maps": "world_to_body", "position_axes": "world"},
        ),
        (Reading(wrench_frame="world"), {"wrench_frame": "world"}),
        (Reading(wrench_delay=0.01), {"wrench_delay": 0.01}),
    ],
)
def test_a_reading_is_what_another_schema_would_say(reading, said):
    read = reading.apply(recording())
    assert_same(read, recording(**said))
    assert read.frames == recording(**said).frames
    assert read.wrench_delay == recording(**said).wrench_delay
    if reading.gravity is None and reading.wrench_frame is None:
        back = replace(reading, position=reading.position and "world").apply(recording(**said))
        assert_same(back, recording())


def test_nothing_read_otherwise_is_the_same_recording():
    log = recording()
    assert Reading().apply(log) is log
    assert Reading().scaled(2.0, ["linear_velocity"]).apply(log) is log


def test_the_digest_tells_readings_apart_and_outlives_a_process():
    readings = [
        Reading(),
        Reading(gravity=(0.0, 0.0, 1.0)),
        Reading(cutoff_hz=4.0),
        Reading(scales=(("force", 2.0),)),
        Reading(turned_order=True),
        Reading(turned_maps=True),
        Reading(most_rows=10),
        Reading(position="body"),
        Reading(wrench_frame="world"),
        Reading(wrench_delay=0.1),
        Reading(acceleration_kind="proper"),
    ]
    assert len({reading.digest for reading in readings}) == len(readings)
    assert len(set(readings)) == len(readings)
    assert Reading().digest == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
