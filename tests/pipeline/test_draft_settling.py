"""Drafts of schemas: the log settles what it decides, and the rest stays marked."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from identify.findings import Finding, derive_verdict
from identify.logs.draft_lines import drafted_keys
from identify.logs.draft_schema import draft_schema
from identify.pipeline import LogCheck, draft_settling
from identify.pipeline.draft_settling import settle_draft
from tests.recordings import NO_EFFECTS, Path, record
from tests.slow import few_or_many
from tests.strategies import random_body

BODY = random_body(np.random.default_rng(11))
NOISE = {"force": 0.05, "torque": 0.005, "position": 2e-5, "quaternion": 2e-5}


@pytest.fixture
def settled_keys(tmp_path):
    """The keys of the draft of a log with Euler angles, settled by the log."""

    def keys(path: Path, order: str, *, unit: float = 1.0, names=("roll", "pitch", "yaw")):
        time = np.arange(0.0, 12.0, 0.02)
        log = record(path, BODY, time, bias=np.full(6, 0.3), noise=NOISE)
        columns = dict(zip("xyz", unit * log.signals["position"].T, strict=True))
        angles = Rotation.from_quat(log.signals["quaternion"]).as_euler(order)
        columns |= dict(zip(names, angles.T, strict=True))
        for name, signal in (("f", "force"), ("t", "torque")):
            vector = zip("xyz", -log.signals[signal].T, strict=True)
            columns |= {f"{name}{axis}": values for axis, values in vector}
        file = tmp_path / "log.csv"
        pd.DataFrame({"time": time, **columns}).to_csv(file, index=False)
        schema = tmp_path / "schema.toml"
        draft = f"{draft_schema(file).text}\n{NO_EFFECTS}"
        settled = settle_draft(file, draft, schema)
        return {key.place: key for key in drafted_keys(settled.text)}, settled

    return keys


@pytest.mark.slow
@pytest.mark.parametrize("true", few_or_many("xyz", "zyx"))
def test_an_order_that_turns_about_one_axis_leave_open_stays_marked(settled_keys, true):
    path = Path.random(5, distance=0.05, angle=0.25)
    about_x = np.array([[1.0], [0.0], [0.0]]) * path.angles.amplitude
    keys, settled = settled_keys(
        replace(path, angles=replace(path.angles, amplitude=about_x)), true
    )
    order = keys["pose.order"]
    assert settled.check.result is not None
    assert order.uncertain
    assert 'order = "' in order.comment


@pytest.mark.parametrize("true", few_or_many("xyz", "zyx"))
def test_large_turns_settle_the_order(settled_keys, true):
    order = settled_keys(Path.random(5), true)[0]["pose.order"]
    assert (order.value, order.uncertain) == (true, False)


def test_a_turn_about_one_axis_leaves_rotation_vector_or_euler_angles_open(settled_keys):
    path = Path.random(5, distance=0.05, angle=0.5)
    about_x = np.array([[1.0], [0.0], [0.0]]) * path.angles.amplitude
    path = replace(path, angles=replace(path.angles, amplitude=about_x))
    key = settled_keys(path, "xyz", names=("rx", "ry", "rz"))[0]["pose.rotation_vector"]
    assert key.uncertain
    assert "euler" in key.comment


@pytest.mark.slow
def test_a_unit_and_an_order_that_are_both_wrong_are_settled_together(settled_keys):
    keys, settled = settled_keys(Path.random(5, distance=0.004), "XYZ", unit=1e3)
    assert (keys["pose.position_unit"].value, keys["pose.order"].value) == ("mm", "XYZ")
    assert settled.check.result.estimate.parameters.mass == pytest.approx(BODY[0], rel=0.02)


def test_a_draft_without_a_line_to_check_says_so(tmp_path, monkeypatch):
    verdict = derive_verdict((), possible=False, optimal=False, identifiable=())
    monkeypatch.setattr(draft_settling, "_check", lambda *_: LogCheck((), verdict))
    for mark, left in (("", " (none is left)"), ("(?) ", "")):
        text = f'# Check the lines with (?), then: …\n[log]\ntime = "t" # {mark}by its name\n'
        settled = settle_draft(tmp_path / "log.csv", text, tmp_path / "schema.toml")
        assert settled.text.splitlines()[0] == f"# Check the lines with (?){left}, then: …"


def test_of_readings_that_tie_one_of_marked_lines_is_taken_and_the_others_are_named(
    tmp_path, monkeypatch
):
    text = '[wrench]\nforce = ["a", "b", "c"]\nacts_on = "sensor" # (?) usual\n'
    schemas = [{"wrench.force": ["-a", "-b", "-c"]}, {"wrench.acts_on": "body"}]
    evidence = {"schema": schemas[0], "schemas": schemas}
    verdict = derive_verdict((), possible=False, optimal=False, identifiable=())
    tie = Finding("force_sign", "error", "several readings.", "Find out.", evidence)
    checks = iter([LogCheck((tie,), verdict), LogCheck((), verdict)])
    monkeypatch.setattr(draft_settling, "_check", lambda *_: next(checks))
    settled = settle_draft(tmp_path / "log.csv", text, tmp_path / "schema.toml")
    keys = {key.name: key for key in drafted_keys(settled.text)}
    assert keys["force"].value == ["a", "b", "c"]
    assert (keys["acts_on"].value, keys["acts_on"].uncertain) == ("body", True)
    assert keys["acts_on"].comment == 'the log fits as well force = ["-a", "-b", "-c"]'


def test_a_change_after_which_errors_remain_stays_marked(tmp_path, monkeypatch):
    text = '[wrench]\nacts_on = "sensor"\n'
    verdict = derive_verdict((), possible=False, optimal=False, identifiable=())
    evidence = {"schema": {"wrench.acts_on": "body", "wrench.point": None}}
    sign = Finding("wrench_sign", "error", "the sign is wrong.", "Change it.", evidence)
    gain = Finding("gain", "error", "no unit explains the torque.", "Calibrate.")
    checks = iter([LogCheck((sign,), verdict), LogCheck((gain,), verdict)])
    monkeypatch.setattr(draft_settling, "_check", lambda *_: next(checks))
    settled = settle_draft(tmp_path / "log.csv", text, tmp_path / "schema.toml")
    (key,) = drafted_keys(settled.text)
    assert (key.value, key.uncertain) == ("body", True)
    assert key.comment == 'likelier than acts_on = "sensor", but errors remain'
