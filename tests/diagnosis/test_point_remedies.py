"""Remedies of a displaced point name keys of the schema that was read, and mend it."""

import re

import numpy as np
import pytest

import identify
from experiments.silent_study.scoring import apply_remedy
from identify.exchange import write_estimate
from identify.logs import open_log, synthetic_recording
from identify.pipeline import check_logs
from identify.spatial.rotations import rotate, rotation_from_quaternion
from tests.strategies import random_body

_POINT = np.array([0.01, 0.02, 0.12])
_COLUMNS = ("px", "py", "pz"), ("qx", "qy", "qz", "qw"), ("fx", "fy", "fz"), ("tx", "ty", "tz")


_BODY = random_body(np.random.default_rng(3))


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log whose pose is that of a tool point, and whose wrench is that of the flange."""
    import pandas as pd

    folder = tmp_path_factory.mktemp("point")
    recording = synthetic_recording(
        _BODY,
        rng=np.random.default_rng(3),
        duration=12.0,
        rate_hz=100.0,
    )
    R = rotation_from_quaternion(recording.signals["quaternion"])
    s = {name: np.array(values) for name, values in recording.signals.items()}
    values = [
        *(s["position"] + rotate(R, _POINT)).T,
        *s["quaternion"].T,
        *s["force"].T,
        *s["torque"].T,
        *rotate(R, s["force"]).T,
        *rotate(R, s["torque"]).T,
    ]
    world = ("wfx", "wfy", "wfz", "wtx", "wty", "wtz")
    names = [*(name for columns in _COLUMNS for name in columns), *world]
    table = pd.DataFrame(dict(zip(names, values, strict=True)))
    table.insert(0, "t", np.array(recording.time))
    table.to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def schema(frame="body", **tables):
    world = frame == "world"
    wrench = {
        "force": [f"w{name}" if world else name for name in _COLUMNS[2]],
        "torque": [f"w{name}" if world else name for name in _COLUMNS[3]],
        "frame": frame,
        "acts_on": "body",
        **tables.pop("wrench", {}),
    }
    pose = {"position": [*_COLUMNS[0]], "quaternion": [*_COLUMNS[1]]}
    return {"log": {"time": "t"}, "pose": pose, "wrench": wrench, **tables}


@pytest.fixture(scope="module")
def displaced(log):
    """The estimate by a schema that takes the tool point for the point of the wrench."""
    return identify.fit(open_log(log, schema())).estimate


_TOOL = {"pose": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]}


@pytest.mark.parametrize(
    ("read", "key"),
    [
        pytest.param(
            schema(), "[body.tcp], to be added, set `pose = [0.01", marks=pytest.mark.slow
        ),
        (
            schema(body={"flange": {}}),
            "[body], leave `flange` out; in [body.tcp], to be added, set",
        ),
        pytest.param(
            schema(body={"tcp": _TOOL}), "[body.tcp], set `pose = [0.01", marks=pytest.mark.slow
        ),
        (schema(body={"tcp": {**_TOOL, "unit": "mm"}}), "[body.tcp], set `pose = [10.0"),
        pytest.param(schema("world"), 'set `point = "flange"`', marks=pytest.mark.slow),
        pytest.param(
            schema("world", body={"tcp": _TOOL}, wrench={"point": "flange"}),
            "[body.tcp], set",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            schema("world", body={"tcp": {"pose": [*map(float, _POINT), 0.0, 0.0, 0.0]}}),
            '[wrench], set `point = "flange"`',
            marks=pytest.mark.slow,
        ),
        pytest.param(
            schema("sensor", wrench={"mount": {"unit": "mm"}}),
            "[wrench.mount], set `translation",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            schema("sensor", body={"tcp": _TOOL}, wrench={"mount": {"unit": "mm"}}),
            "[wrench.mount], set `translation = [-10.0",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            schema(body={"flange": {"translation": [0.0, 0.0, -0.1]}}),
            "[wrench.mount], to be added, set `translation = [-0.01",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_remedy_of_a_displaced_point_is_a_key_of_the_schema(log, read, key):
    (found,) = (f for f in check_logs(open_log(log, read)).findings if f.code == "kinematic_offset")
    assert key in found.remedy
    remedy = found.remedy[found.remedy.index("In the schema") :].partition(" Or: ")[0]
    mended = apply_remedy(read, remedy)
    again = identify.fit(open_log(log, mended))
    assert {f.severity for f in again.findings} <= {"info"}
    assert "kinematic_offset" not in {f.code for f in again.findings}


@pytest.mark.parametrize(
    ("remedy", "pose", "com"),
    [  # the pose is of a tool point and the wrench about the flange, or the reverse
        (0, (), _BODY[1:4] / _BODY[0]),
        (1, ("--at", *"000000"), _BODY[1:4] / _BODY[0] - _POINT),
    ],
)
def test_a_payload_setting_is_refused_until_the_schema_has_the_remedy(
    cli, log, displaced, tmp_path, remedy, pose, com
):
    """A pose typed for the logged frame would be off by the distance from the wrench's point."""
    path = tmp_path / "estimate.json"
    write_estimate(displaced, path)
    refused = cli("export", path, "--to", "ur", "--at", "0", "0", "0.12", *"000")
    assert (refused.status, refused.out) == (4, "")
    lines = re.findall(r"In the schema, [^`]*(?:`[^`]*`[^`]*?)+(?= if )", refused.err)
    mended = apply_remedy(schema(), f"{lines[remedy]} if so.")
    write_estimate(identify.fit(open_log(log, mended)).estimate, path)
    done = cli("export", path, "--to", "ur", *pose)
    assert done.status == 0
    written = re.search(r"payload\([^,]+, \[([^]]+)\]", done.out)[1].split(",")
    assert abs(np.array(written, dtype=float) - com).max() < 1e-3
