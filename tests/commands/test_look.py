"""Pages of logs before a fit, of logs as people have them."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from identify.diagnosis import Span
from identify.diagnosis.signal_marks import rest_spans, signal_marks, summarise_clock
from identify.logs import read_log, synthetic_recording
from identify.logs.log_writing import write_log
from identify.pipeline.log_overview import look_at_log
from identify.reporting.attitude_sphere import gravity_directions, largest_angle
from identify.reporting.signal_columns import merged_spans, trace
from tests.close import assert_close
from tests.recordings import synthetic_still_recording, with_signals
from tests.reporting.page import Page
from tests.strategies import random_body

TIME = np.arange(3000) / 100.0


def log_of(folder, **options):
    """A log without noise and its schema, as files: its wrench has the usual sign of a draft."""
    recording = on_the_sensor(
        synthetic_recording(
            random_body(np.random.default_rng(3)), rng=np.random.default_rng(3), **options
        )
    )
    log, schema = folder / "log.csv", folder / "log.toml"
    write_log(recording, log, schema)
    schema.write_text(schema.read_text().replace('acts_on = "body"', 'acts_on = "sensor"'))
    return log, schema


def on_the_sensor(recording):
    """The recording with the wrench that the body exerts on the sensor."""
    return with_signals(recording, **{n: -recording.signals[n] for n in ("force", "torque")})


def write_sloppy(path):
    """A log with decimal commas, prose, words, empty cells, a spike, a freeze and a gap."""
    rng = np.random.default_rng(0)
    force = np.stack([np.sin((k + 1) * TIME) for k in range(3)], axis=-1)
    force += 0.01 * rng.standard_normal(force.shape)
    force[500, 0] += 20.0
    force[1500:1600] = force[1500]
    time = TIME + 2.0 * (TIME > 12.0)
    lines = ["Messung vom 3. Mai;;;;", "Zeit;Kraft X;Kraft Y;Kraft Z;Status"]
    for row, (t, values) in enumerate(zip(time, force, strict=True)):
        cells = [f"{x:.5f}".replace(".", ",") for x in (t, *values)]
        cells[2] = "" if row == 40 else "***" if row == 41 else cells[2]
        lines.append(";".join([*cells, "RUN"]))
    path.write_text("\n".join(lines), encoding="latin-1")
    return path


def test_a_readable_log_is_shown_in_si_and_only_the_flange_is_missing(cli, tmp_path):
    log, _ = log_of(tmp_path, duration=10.0, rate_hz=100.0)
    page = tmp_path / "page.html"
    record = json.loads(cli.done("look", log, "-o", page, "--json"))
    assert record["readable"]
    assert record["columns"]["fx"] == {
        "signal": "wrench.force",
        "unit": "N",
        "certainty": "by its name",
    }
    assert list(record["missing"]) == ["the flange"]
    text = " ".join(Page(page.read_text(encoding="utf-8")).texts)
    for shown in (
        "reads the log",
        "Motion",
        "Wrench",
        "force on the body [N]",
        "acts_on",
        "quaternion w",
    ):
        assert shown in text
    assert page.stat().st_size < 1e6


def test_look_names_what_a_fit_refuses_to_go_without(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log, _ = log_of(tmp_path, duration=10.0, rate_hz=100.0)
    log.write_text(re.sub(r'"p([xyz])"', r'"tcp_\1"', log.read_text()))
    printed = cli.done("look", log, "-o", "page.html")
    refusal = cli("fit", log, "-o", "out").err
    assert "Missing: the tool point in the flange (for a fit" in printed
    reviewed = [line for line in refusal.splitlines() if line.startswith("  [")]
    assert [line for line in printed.splitlines() if line.startswith("Review: ")] == [
        f"Review: {line.strip()}" for line in reviewed
    ]
    assert {line.split(" = ")[0] for line in reviewed} == {"  [body.tcp] pose", "  [wrench] frame"}
    assert "pose = [X, Y, Z, RX, RY, RZ]" in " ".join(Page(Path("page.html").read_text()).texts)


def test_a_sloppy_log_is_shown_as_logged_with_its_marks(cli, tmp_path):
    log, page = write_sloppy(tmp_path / "sloppy.csv"), tmp_path / "page.html"
    printed = cli.done("look", log, "-o", page)
    assert "The schema does not read the log: [pose] give exactly one of" in printed
    assert "Missing: force and torque" in printed
    text = " ".join(Page(page.read_text(encoding="utf-8")).texts)
    for shown in (
        "does not read the log",
        "spikes, Kraft X: one sample",
        "gap: 2.01 s",
        "constant, Kraft X: 0.99 s",
        "its values are not numbers",
        "1 of 3000 rows have no number",
    ):
        assert shown in text
    assert "Status" not in look_at_log(log).tables[0].raw.columns


def test_a_wrong_schema_is_named_and_the_rest_of_it_used(cli, tmp_path):
    log, schema = log_of(tmp_path, duration=5.0, rate_hz=100.0)
    text = schema.read_text()
    schema.write_text(text.replace('"fx"', '"force_x"'))
    overview = look_at_log(log, schema)
    assert overview.recording is None
    assert "has no 'force_x' among" in overview.problem
    uses = {use.column: use for use in overview.tables[0].uses}
    assert uses["fx"].reason == "the schema does not name it"
    assert (uses["fy"].signal, uses["fy"].part) == ("wrench.force", "y")
    assert (uses["qw"].signal, uses["qw"].part, uses["qw"].certainty) == (
        "pose.quaternion",
        "w",
        "given",
    )
    for broken in ("[log\n", "log = 3\nstreams = 'a'\n[wrench]\nforce = [1, [2], true]\n"):
        schema.write_text(broken)
        cli.done("look", log, "--schema", schema, "-o", tmp_path / "page.html")
        assert look_at_log(log, schema).problem


def test_stamps_that_go_back_are_counted_and_rows_are_drawn(tmp_path):
    log, _ = log_of(tmp_path, duration=10.0, rate_hz=100.0)
    head, *rows = log.read_text().splitlines()
    log.write_text("\n".join([head, *rows[:600], *rows[300:]]))
    overview = look_at_log(log)
    assert "time goes back" in overview.problem
    (table,) = overview.tables
    assert table.clock.backward == 1
    assert not table.raw.by_time
    assert [(mark.code, mark.start) for mark in overview.marks] == [("backward", 601.0)]


def test_joints_lack_the_model_of_the_arm(tmp_path):
    values = np.stack([np.sin(TIME + k) for k in range(3)], axis=-1)
    path = tmp_path / "log.npz"
    np.savez(path, t=TIME, q=values, current=values)
    overview = look_at_log(path)
    assert "the model of the arm" in {entry.name for entry in overview.missing}
    signals = {use.signal for use in overview.tables[0].uses}
    assert signals == {"log.time", "joints.position", "joints.effort"}


def test_look_refuses_a_page_of_another_suffix(cli, tmp_path):
    log, _ = log_of(tmp_path, duration=2.0, rate_hz=100.0)
    message = cli.refused("look", log, "-o", tmp_path / "page.txt")
    assert message.endswith("page.txt: expected the suffix .html")


@pytest.mark.parametrize("kind", ["mcap", "ros1"])
def test_a_bag_has_a_table_and_a_clock_for_each_topic(cli, tmp_path, kind):
    containers = pytest.importorskip("tests.logs.containers")
    recording = on_the_sensor(
        synthetic_recording(
            random_body(np.random.default_rng(3)),
            rng=np.random.default_rng(3),
            duration=3.0,
            rate_hz=100.0,
        )
    )
    names = {"p": "position", "q": "quaternion", "f": "force", "tau": "torque"}
    columns = {key: recording.signals[name] for key, name in names.items()}
    columns["t"] = 1_700_000_000_000_000_000 + np.rint(1e9 * recording.time).astype(np.int64)
    bag = containers.write_bag(tmp_path / ("log.bag" if kind == "ros1" else "log"), kind, columns)
    cli.done("look", bag, "-o", tmp_path / "page.html")
    overview = look_at_log(bag)
    assert overview.recording is not None
    assert {table.raw.info.topic for table in overview.tables} == {"/pose", "/ft/wrench"}
    for table in overview.tables:
        assert table.clock.rate_hz == pytest.approx(100.0, rel=1e-3)


def test_clock_summary_counts_what_is_wrong_with_stamps():
    time = np.concatenate((TIME[:1000], TIME[999:2000] + 1.0, [np.nan], TIME[1500:]))
    clock = summarise_clock(time)
    assert (clock.rows, clock.missing, clock.backward) == (len(time), 1, 1)
    assert clock.gaps == 1
    assert summarise_clock(np.repeat(TIME, 2)).repeated == len(TIME)
    jittered = TIME + 1e-3 * np.random.default_rng(0).uniform(-1.0, 1.0, len(TIME))
    assert summarise_clock(jittered).jitter / 100.0 == pytest.approx(1e-3 / np.sqrt(3.0), rel=0.1)


def test_clean_signals_have_no_marks_and_a_rest_is_found():
    moving = np.clip(TIME, 5.0, 20.0) - 5.0
    half = 0.5 * 0.3 * moving
    quaternion = np.stack((np.sin(half), 0.0 * half, 0.0 * half, np.cos(half)), axis=-1)
    noise = np.random.default_rng(0).standard_normal((len(TIME), 3))
    assert signal_marks(TIME, {"force": noise}) == ()
    assert signal_marks(TIME, {"position": np.sin(TIME)[:, None]}) == ()
    recording = synthetic_recording(
        random_body(np.random.default_rng(3)), rng=np.random.default_rng(3), duration=2.0
    )
    resting = replace(recording, time=TIME, signals={"quaternion": quaternion})
    first, last = rest_spans(resting)
    assert_close([first.start, first.stop, last.start], [0.0, 5.0, 20.0], rtol=0.06)
    assert last.stop == pytest.approx(TIME[-1], abs=0.25)


def test_a_slow_turn_is_not_at_rest():
    angle = 0.3 * np.sin(2.0 * np.pi * 0.05 * TIME)
    q = np.stack([np.sin(angle / 2), 0 * angle, 0 * angle, np.cos(angle / 2)], axis=-1)
    rng = np.random.default_rng(3)
    log = synthetic_recording(random_body(rng), rng=rng, duration=30.0, rate_hz=100.0)
    signals = {"quaternion": q[: len(log)], "position": np.zeros((len(log), 3))}
    slow = replace(log, signals={**log.signals, **signals})
    assert rest_spans(slow) == ()


def test_gravity_directions_of_pose_and_of_accelerometer_agree():
    recording = synthetic_still_recording(
        random_body(np.random.default_rng(3)),
        rng=np.random.default_rng(1),
        poses=7,
    )
    by_pose = gravity_directions(recording)
    read = -9.80665 * by_pose
    by_accelerometer = gravity_directions(replace(recording, signals={"accelerometer": read}))
    assert_close(by_pose, by_accelerometer, rtol=1e-9)
    assert largest_angle(np.eye(3)) == pytest.approx(np.pi / 2)


def test_traces_keep_peaks_and_are_interrupted_at_gaps():
    values = np.zeros(len(TIME))
    values[1234] = 7.0
    x, y = trace(TIME + 5.0 * (TIME > 20.0), values, buckets=50)
    assert len(x) < 160
    assert np.nanmax(y) == 7.0
    assert np.isnan(y).sum() == 1


def test_merged_spans_join_the_nearest():
    spans = [Span("gap", t, t + 0.5, 1) for t in (0.0, 0.6, 10.0, 10.6, 30.0)]
    assert merged_spans(spans, 3) == [(0.0, 1.1), (10.0, 11.1), (30.0, 30.5)]
    assert len(merged_spans(spans, 9)) == 5


def test_read_log_of_the_draft_equals_the_recording_of_the_overview(tmp_path):
    log, schema = log_of(tmp_path, duration=3.0, rate_hz=100.0)
    overview, expected = look_at_log(log, schema), read_log(log, schema)
    assert overview.recording.sha256 == expected.sha256
    for name, values in expected.signals.items():
        assert_close(overview.recording.signals[name], values, rtol=0.0)
