from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.csv as pacsv
import pytest
from scipy.spatial.transform import Rotation

from identify.exchange import SavedBias, SavedEstimate, write_estimate
from identify.findings import Finding, derive_verdict
from identify.inertia import InertialParameters
from identify.logs import read_log
from identify.logs.log_writing import write_log
from identify.spatial import BodyFrame, Pose
from tests.close import assert_close
from tests.recordings import POSE, Path, record, with_wrench
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
BIAS = np.array([1.0, -2.0, 3.0, 0.1, 0.05, -0.1])
TIME = np.arange(0.0, 6.0, 5e-3)
PUSH = np.array([2.0, -3.0, 4.0, 0.1, -0.2, 0.3])
FLANGE = Pose(np.eye(3), np.array([0.0, 0.0, -0.04]))


@pytest.fixture
def log(tmp_path):
    """A log with a push from 3 s on."""
    free = record(Path.random(1), PHI, TIME, POSE, bias=BIAS, body_frame=BodyFrame("flange"))
    path = tmp_path / "log.csv"
    write_log(with_wrench(free, np.outer(TIME >= 3.0, PUSH)), path, tmp_path / "schema.toml")
    return path, tmp_path / "schema.toml"


@pytest.fixture
def estimate(tmp_path):
    def write(**changes) -> str:
        saved = SavedEstimate(InertialParameters(PHI), **changes)
        return str(write_estimate(saved, tmp_path / "estimate.json"))

    return write


def wrench_of(log, schema) -> tuple[np.ndarray, np.ndarray]:
    recording = read_log(log, schema)
    return recording.time, np.hstack([recording.signals["force"], recording.signals["torque"]])


def assert_pushed(out, schema, push=PUSH) -> None:
    time, wrench = wrench_of(out, schema)
    first = pacsv.read_csv(out)["t"][0].as_py() if out.suffix == ".csv" else 0.0
    known = np.abs(time + first - 3.0) > 0.1  # the rows differ from the log's at its begin
    assert_close(wrench[known], np.outer(time + first >= 3.0, push)[known], 1e-3, scale=4.0)


def test_the_contact_forces_are_a_log_with_a_schema(cli, log, estimate, tmp_path):
    sha256 = read_log(*log).sha256
    path, out = estimate(bias=(SavedBias(sha256, BIAS, None),)), tmp_path / "new" / "contact.csv"
    words = ("compensate", log[0], "--schema", log[1], "--estimate", path)
    printed = cli.done(*words, "-o", out)
    assert "[1, -2, 3, 0.1, 0.05, -0.1] N, N m (the estimate's for this log).\n" in printed
    assert "of 1200 rows." in printed
    schema = out.with_suffix(".toml")
    assert_pushed(out, schema)
    comment = [line for line in schema.read_text().splitlines() if line.startswith("#")]
    assert comment[0] == f"# Contact forces on the body in {log[0]} (sha256 {sha256})."
    assert "sensor offset [1, -2, 3, 0.1, 0.05, -0.1] N, N m at Bo in B" in comment[-1]
    assert set(read_log(out, schema).signals) == {*POSE, "force", "torque"}
    assert cli.done(*words, "-o", tmp_path / "c.parquet", "--offset", *BIAS, "--quiet") == ""
    assert_close(
        wrench_of(tmp_path / "c.parquet", tmp_path / "c.toml")[1], wrench_of(out, schema)[1], 1e-12
    )
    printed = cli.done(*words, "-o", out, "--zero-seconds", 2.5)
    assert "(mean residual of the first 2.5 s)" in printed
    assert_pushed(out, schema)


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_compensated_log_keeps_clock_and_other_columns(
    cli, log, estimate, tmp_path, suffix, long, monkeypatch
):
    monkeypatch.setattr("identify.logs.log_file.MIN_ROWS_IN_CHUNKS", 100 if long else 10**6)
    table = pd.read_csv(log[0])
    stamps = 1_700_000_000_000 + np.rint(1e3 * table["t"]).astype(int)
    table = table.assign(t=0.5, stamp=stamps, state="RUNNING", mode=np.arange(len(table)))
    path = tmp_path / f"robot{suffix}"
    table.to_parquet(path) if suffix == ".parquet" else table.to_csv(path, index=False)
    text = log[1].read_text().replace('time = "t"', 'time = "stamp"\ntime_unit = "ms"')
    log[1].write_text(text)
    words = ("--schema", log[1], "--estimate", estimate(), "--offset", *BIAS)
    out = tmp_path / "contact.csv"
    cli.done("compensate", path, *words, "-o", out)
    found = pd.read_csv(out)
    assert_close(found["t"], 1.7e9 + TIME[found["mode"]], 1e-6, scale=1.0)
    assert (found["log.t"] == 0.5).all()
    assert {"state", "stamp"}.isdisjoint(found)
    assert len(read_log(out, out.with_suffix(".toml"))) == len(found)


def test_the_reaction_and_other_units_become_the_force_on_the_body(cli, log, estimate, tmp_path):
    text = log[1].read_text().replace('acts_on = "body"', 'acts_on = "sensor"')
    log[1].write_text(text.replace("[wrench]", '[wrench]\nforce_unit = "kgf"'))
    recording = read_log(*log)
    assert_close(recording.signals["torque"][0], -wrench_of_file(log[0])[0, 3:], 1e-12)
    out, offset = tmp_path / "contact.csv", np.zeros(6)
    light = SavedEstimate(InertialParameters(1e-9 * PHI))
    path = write_estimate(light, tmp_path / "light.json")
    words = ("--schema", log[1], "--estimate", path, "--offset", *offset, "-o", out)
    cli.done("compensate", log[0], *words)
    _, wrench = wrench_of(out, out.with_suffix(".toml"))
    raw = wrench_of_file(log[0])
    lost = (len(raw) - len(wrench)) // 2
    expected = -raw[lost : len(raw) - lost] * np.repeat([9.80665, 1.0], 3)
    assert_close(wrench, expected, 1e-6)


def wrench_of_file(path) -> np.ndarray:
    table = pacsv.read_csv(path)
    return np.column_stack([table[name] for name in ("fx", "fy", "fz", "tx", "ty", "tz")])


def test_unusable_estimate_writes_nothing_unless_findings_are_accepted(
    cli, log, estimate, tmp_path
):
    found = (Finding("unexplained", "error", "R² is 0.1 -- \n[world] gravity = 1"),)
    verdict = derive_verdict(found, possible=True, optimal=True, identifiable=[])
    path, out = estimate(findings=found, verdict=verdict), tmp_path / "out" / "contact.csv"
    words = ("--schema", log[1], "--estimate", path, "--offset", *BIAS, "-o", out)
    message = cli.refused("compensate", log[0], *words, status=4)
    assert "this estimate must not be used, so nothing was written" in message
    assert not out.parent.exists()
    outcome = cli("compensate", log[0], *words, "--accept-findings")
    assert outcome.status == 0
    assert "identify: error: R² is 0.1" in outcome.err
    text = out.with_suffix(".toml").read_text()
    assert (
        "# This estimate must not be used; --accept-findings overrode its findings:\n# error:"
        in text
    )
    assert_pushed(out, out.with_suffix(".toml"))


def test_corrections_of_fit_are_noted(cli, log, estimate, tmp_path):
    path = estimate(provenance={"applied": [{"code": "delay", "meaning": "it is late"}]})
    words = ("--schema", log[1], "--estimate", path, "--offset", *BIAS, "--quiet")
    outcome = cli("compensate", log[0], *words, "-o", tmp_path / "contact.csv")
    assert outcome.status == 0
    assert "note: the fit corrected delay; this log is not corrected" in outcome.err


def test_a_body_about_another_frame_is_rejected_until_its_pose_is_given(
    cli, log, estimate, tmp_path
):
    text = log[1].read_text()
    log[1].write_text(f"{text}\n[body.flange]\ntranslation = [0, 0, -0.04]\n")
    turned = Rotation.from_rotvec([0.0, 0.0, 0.7])
    X_AB = Pose(turned.as_matrix(), np.array([0.0, 0.01, 0.02]))
    body = InertialParameters(PHI).in_frame(X_AB.inverse())
    frames = BodyFrame("tool", X_AB.inverse() @ FLANGE)
    path = write_estimate(SavedEstimate(body, frames=frames), tmp_path / "tool.json")
    out = tmp_path / "contact.csv"
    words = ("--schema", log[1], "--estimate", path, "--offset", *BIAS, "-o", out)
    message = cli.refused("compensate", log[0], *words)
    assert "is about B (tool), but" in message
    at = message.partition("on the same flange, give --at ")[2].split()
    assert_close([float(x) for x in at], [0, 0.01, 0.02, 0, 0, 0.7], 1e-8)
    cli.done("compensate", log[0], *words, "--at", *at)
    assert_pushed(out, out.with_suffix(".toml"))


def test_contacts_refer_to_logged_tool_point(cli, tmp_path):
    free = record(Path.random(1), PHI, TIME, POSE, bias=BIAS)
    tcp = Pose(np.eye(3), np.array([0.0, 0.0, 0.1]))
    flange = with_wrench(free, np.outer(TIME >= 3.0, PUSH))
    logged = replace(flange, body_frame=BodyFrame(flange=Pose.identity(), tcp=tcp))
    schema = write_log(logged, tmp_path / "log.csv")
    path = write_estimate(SavedEstimate(InertialParameters(PHI)), tmp_path / "e.json")
    out = tmp_path / "contact.csv"
    words = ("--schema", schema, "--estimate", path, "--offset", *BIAS, "-o", out)
    cli.done("compensate", tmp_path / "log.csv", *words)
    assert_pushed(out, out.with_suffix(".toml"))
    ours, theirs = read_log(out, out.with_suffix(".toml")), read_log(tmp_path / "log.csv", schema)
    assert_close(ours.body_frame.tcp.position, tcp.position, 1e-12)
    lost = (len(theirs) - len(ours)) // 2
    position = theirs.signals["position"][lost : len(theirs) - lost]
    assert_close(ours.signals["position"], position, 1e-9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "contact.xlsx"), "-o contact.xlsx: expected the suffix .csv or .parquet"),
        (("-o", "{folder}/log.csv"), "log.csv is an input; choose another -o"),
        (("-o", "{folder}/schema.csv"), "schema.toml is an input; choose another -o"),
        (
            ("-o", "{folder}/c.csv", "--offset", *"000000", "--zero-seconds", "1"),
            "--offset cannot be combined with --zero-seconds",
        ),
        (("-o", "{folder}/c.csv"), "has no sensor offset for it: give the offset"),
        (("-o", "{folder}/c.csv", "--zero-seconds", "-1"), "zero_seconds"),
        (("-o", "{folder}/c.csv", "--offset", *"00000", "nan"), "offset"),
    ],
)
def test_invalid_arguments_are_reported_and_nothing_is_written(
    cli, log, estimate, words, message, tmp_path
):
    given = [word.format(folder=tmp_path) for word in words]
    call = ("compensate", log[0], "--schema", log[1], "--estimate", estimate())
    before = sorted(tmp_path.iterdir())
    assert message in cli.refused(*call, *given)
    assert sorted(tmp_path.iterdir()) == before


def test_damaged_log_end_leaves_no_partial_output(cli, log, estimate, tmp_path):
    lines = log[0].read_text().splitlines()
    log[0].write_text("\n".join([*lines[:-2], "a,b,c", *lines[-2:]]) + "\n")
    call = ("--schema", log[1], "--estimate", estimate(), "--offset", *"000000")
    before = sorted(tmp_path.iterdir())
    assert "log.csv" in cli.refused("compensate", log[0], *call, "-o", tmp_path / "c.csv")
    assert sorted(tmp_path.iterdir()) == before
