"""Columns that stand still while the others of their sensor go on."""

from itertools import pairwise

import numpy as np
import pytest

from identify.diagnosis.dead_channels import ChannelMonitor
from identify.logs import LogFile, log_file, open_log, read_log
from identify.logs.log_writing import write_log
from identify.pipeline import check_logs
from identify.pipeline.scanned_log import scan_log
from identify.regressors import log_scan, summarise_log
from identify.signals import Interpretation
from tests.diagnosis.logs import PHI, moving, time_of, with_signals
from tests.recordings import Path, record
from tests.slow import few_or_many


def dead_channels(log):
    spans = scan_log(log, Interpretation(), all_columns=True).spans
    return [span for span in spans if span.code == "dead_channel"]


def stuck(log, name, channel, start):
    values = log.signals[name].copy()
    values[start:, channel] = values[start, channel]
    return with_signals(log, **{name: values})


def coarse(log, steps=(0.2, 0.02)):
    """The wrench in steps of several times its noise, which then repeats its values."""
    parts = zip(("force", "torque"), steps, strict=True)
    return with_signals(
        log, **{name: step * np.round(log.signals[name] / step) for name, step in parts}
    )


@pytest.mark.parametrize("start", [0, 2100])
@pytest.mark.parametrize(("name", "channel"), [("torque", 2), ("position", 0)])
def test_dead_channel_is_named_by_its_column(name, channel, start):
    log = moving(3)
    (dead,) = dead_channels(stuck(log, name, channel, start))
    assert dead.channel == ("tz", "px")[name == "position"]
    assert abs(dead.start - time_of(log)[start]) < 0.1
    assert dead_channels(log) == []


def test_channels_of_a_plane_motion_without_noise_are_not_dead():
    time = np.arange(0.0, 12.0, 0.01)
    log = record(Path.random(5), PHI, time)
    flat = log.signals["position"].copy()
    flat[:, 2] = 0.0
    assert dead_channels(with_signals(log, position=flat)) == []
    assert dead_channels(with_signals(log, position=flat.round(6))) == []


@pytest.mark.parametrize("channel", range(6))
def test_dead_channel_is_detected_in_coarse_steps(channel):
    log = coarse(moving(4, 20.0))
    name, axis = ("force", "torque")[channel // 3], channel % 3
    (dead,) = dead_channels(stuck(log, name, axis, 1500))
    assert dead.channel == f"{name[0]}{'xyz'[axis]}"
    assert abs(dead.start - time_of(log)[1500]) < 0.5
    assert dead_channels(log) == []


def test_in_coarse_steps_a_channel_that_has_nothing_to_read_is_not_dead():
    """The torque about an axis through the centre of mass stays under a step, and so zero."""
    phi = np.array([1.3, 0.0, 0.0, 0.08, 9e-3, 0.0, 0.0, 9e-3, 0.0, 1e-5])
    log = coarse(moving(4, 20.0, phi=phi), (0.2, 0.05))
    assert not np.ptp(log.signals["torque"][:, 2])
    assert dead_channels(log) == []


def test_dead_channels_do_not_depend_on_chunk_size():
    log = stuck(moving(3), "torque", 1, 1700)
    summary = summarise_log(log, wide=True)
    whole = ChannelMonitor()
    whole.update(log)
    (expected,) = whole.dead_channels(summary)
    for size in (700, 256, 61):
        watch = ChannelMonitor()
        for start, stop in pairwise([*range(0, len(log), size), len(log)]):
            watch.update(log, slice(start, stop))
        assert watch.dead_channels(summary) == (expected,)


@pytest.mark.parametrize("decimals", few_or_many(1, 9))
def test_a_log_read_in_chunks_has_the_finding_of_the_log_in_memory(tmp_path, monkeypatch, decimals):
    log = moving(3, 40.0)
    rounded = {
        name: log.signals[name].round(decimals + k) for k, name in enumerate(("force", "torque"))
    }
    log = stuck(with_signals(log, **rounded), "torque", 2, 2100)
    write_log(log, tmp_path / "log.csv", tmp_path / "schema.toml")
    monkeypatch.setattr(log_file, "MIN_ROWS_IN_CHUNKS", 500)
    monkeypatch.setattr(log_scan, "CHUNK_ROWS", 1200)
    opened = open_log(tmp_path / "log.csv", tmp_path / "schema.toml")
    assert isinstance(opened, LogFile)
    in_memory = read_log(tmp_path / "log.csv", tmp_path / "schema.toml")
    found, expected = (check_logs(each).findings[0] for each in (opened, in_memory))
    assert (found.code, found.text) == ("dead_channel", expected.text)
    assert "(tz): 21-" in found.text


@pytest.mark.parametrize("value", [np.max, lambda values: 3.0 * np.abs(values).max()])
def test_a_channel_that_dies_at_its_extreme_is_neither_saturated_nor_zeroed(value):
    log = moving(6, 20.0)
    torque = log.signals["torque"].copy()
    torque[1100:, 1] = value(torque[:, 1])
    spans = scan_log(with_signals(log, torque=torque), Interpretation(), all_columns=True).spans
    assert [(span.code, span.channel) for span in spans] == [("dead_channel", "ty")]


def test_a_channel_that_rests_at_the_end_of_its_range_is_saturated_and_not_dead():
    log = moving(6, 20.0)
    force = log.signals["force"].copy()
    limit = np.quantile(force[:, 2], 0.95)
    last = np.flatnonzero(force[:1800, 2] > limit + 0.2)[-1]
    rest = {name: values.copy() for name, values in log.signals.items()}
    for name in ("position", "quaternion"):
        rest[name][last:] = rest[name][last]
    rng = np.random.default_rng(0)
    for name, size in (("force", 0.03), ("torque", 0.003)):
        still = rest[name][last] + size * rng.normal(size=(len(log) - last, 3))
        rest[name][last:] = still
    rest["force"][:, 2] = np.minimum(rest["force"][:, 2], limit)
    log = with_signals(log, **rest)
    spans = scan_log(log, Interpretation(), all_columns=True).spans
    assert {(span.code, span.channel) for span in spans if span.channel} == {("saturation", "fz")}
    watch = ChannelMonitor()
    watch.update(log)
    assert [span.channel for span in watch.dead_channels(summarise_log(log, wide=True))] == ["fz"]
