import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from identify.diagnosis import SignalMonitor, Span, contact_spans, excitation
from identify.diagnosis.contacts import _window_energies, plausible_contacts, wrench_equations
from identify.logs import Recording
from identify.signals import prepare
from identify.signals.spikes import without_spikes
from identify.spatial import exp_rotation, quaternion_product, rotation_from_quaternion
from identify.spatial.rotations import rotate
from tests.close import assert_close, group_errors
from tests.diagnosis.logs import (
    NOISE,
    PHI,
    fitted,
    moving,
    still,
    time_of,
    with_signals,
    with_wrench,
)

LOG = moving(0, 40.0)
TIME = time_of(LOG)
ROWS = len(TIME)
INSIDE = (TIME > 12.0) & (TIME < 14.0)
PUSH = INSIDE[:, None] * np.array([2.0, -1.0, 3.0, 0.0, 0.0, 0.0])


def frozen(*names):
    held = {}
    for name in names:
        held[name] = LOG.signals[name].copy()
        held[name][INSIDE] = held[name][np.flatnonzero(INSIDE)[0]]
    return with_signals(LOG, **held)


def clipped():
    force = LOG.signals["force"].copy()
    force[:, 2] = np.minimum(force[:, 2], np.quantile(force[:, 2], 0.97))
    return with_signals(LOG, force=force)


def spiked():
    rng = np.random.default_rng(0)
    at = rng.random(ROWS) < 0.01
    added = np.zeros((ROWS, 6))
    added[at, :3] = 50.0 * rng.choice([-1.0, 1.0], size=(int(at.sum()), 3))
    return with_wrench(LOG, added), at


def signal_spans(log: Recording) -> tuple[Span, ...]:
    watch = SignalMonitor()
    watch.update(log)
    return watch.spans()


def test_signals_of_a_clean_log_show_nothing():
    assert signal_spans(LOG) == ()
    assert signal_spans(with_wrench(LOG, PUSH)) == ()
    assert signal_spans(still(0, 60)) == ()


@pytest.mark.parametrize(
    ("names", "code"),
    [(("force", "torque"), "frozen_wrench"), (("position", "quaternion"), "frozen_pose")],
)
def test_frozen_signals_are_found_with_their_times(names, code):
    (span,) = signal_spans(frozen(*names))
    assert span.code == code
    assert (span.start, span.stop) == pytest.approx((12.0, 14.0), abs=0.03)


def test_signals_held_by_a_slower_sensor_are_not_frozen():
    held = np.arange(ROWS) // 4 * 4
    log = with_signals(LOG, force=LOG.signals["force"][held], torque=LOG.signals["torque"][held])
    assert signal_spans(log) == ()


def test_a_channel_at_the_end_of_its_range():
    """A span each time that it gets there, so that what is between them can be used."""
    spans = signal_spans(clipped())
    assert {(span.code, span.channel) for span in spans} == {("saturation", "fz")}
    fz = clipped().signals["force"][:, 2]
    at_the_end = int((fz == spans[0].size).sum())
    assert 0.8 * at_the_end < sum(span.rows for span in spans) <= at_the_end
    inside = np.zeros(ROWS, dtype=bool)
    for span in spans:
        inside |= (span.start <= TIME) & (span.stop >= TIME)
    assert at_the_end <= 1.2 * inside.sum()
    assert inside.sum() < 2.0 * at_the_end


def test_an_end_of_range_at_four_fifths_of_the_peak_makes_no_spikes():
    """Nearly half of the rows of a channel are the same, and its usual difference is not zero."""
    quiet = with_signals(LOG, force=moving(4, 40.0, bandwidth_hz=0.5).signals["force"])
    most = 0.8 * np.abs(quiet.signals["force"]).max()
    for share in (1.0, 0.9, 0.8):
        low = share * most
        found = signal_spans(with_signals(quiet, force=np.clip(quiet.signals["force"], -low, low)))
        assert {span.code for span in found} == {"saturation"}


@pytest.mark.parametrize("seed", range(4))
def test_a_coarse_resolution_is_neither_spikes_nor_an_end_of_range(seed):
    """Rounded to five times its noise, as steps of 0.15 are, a signal stays where it turns."""
    log = moving(seed, 40.0, bandwidth_hz=0.4)
    steps = {"force": 5.0 * NOISE.force, "torque": 5.0 * NOISE.torque}
    rounded = {name: step * np.round(log.signals[name] / step) for name, step in steps.items()}
    assert signal_spans(with_signals(log, **rounded)) == ()


@pytest.mark.parametrize(("jump", "spans"), [(0.003, 0), (3.0, 1)])
def test_a_jump_of_an_unloaded_axis_is_measured_by_the_loaded_ones(jump, spans):
    force = LOG.signals["force"].copy()
    force[:, 2] = 0.02 * np.sin(0.3 * TIME) + jump * (TIME > 20.0)
    found = [s for s in signal_spans(with_signals(LOG, force=force)) if s.code == "bias_step"]
    assert len(found) == spans
    assert all(abs(span.size - jump) < 0.1 * jump for span in found)


def test_spikes_are_found_and_taken_out_before_they_smear():
    log, at = spiked()
    (span,) = signal_spans(log)
    assert span.code == "spikes"
    assert span.rows > 0.9 * at.sum()
    repaired, count = without_spikes(log)
    assert at.sum() <= count <= 1.3 * at.sum()
    assert np.abs(repaired.signals["force"] - LOG.signals["force"]).max() < 2.0
    assert without_spikes(LOG)[1] == 0
    with_them, without = (group_errors(fitted(each).x, PHI) for each in (log, repaired))
    assert without.mass < 0.1 * with_them.mass


def spoiled():
    """A log whose wrench is frozen, at the end of its range and spiked, each for itself."""
    log, _ = spiked()
    force = np.maximum(clipped().signals["force"], LOG.signals["force"] * 0 - 40.0)
    force[~INSIDE, :2] = log.signals["force"][~INSIDE, :2]
    held = np.flatnonzero(INSIDE)[0]
    torque = LOG.signals["torque"].copy()
    force[INSIDE], torque[INSIDE] = force[held - 1], torque[held - 1]
    return with_signals(LOG, force=force, torque=torque)


@pytest.mark.parametrize("parts", [1, 7, 61])
def test_signal_spans_do_not_depend_on_chunk_size(parts):
    log = spoiled()
    watch, edges = SignalMonitor(), np.linspace(0, ROWS, parts + 1).astype(int).tolist()
    for start, stop in pairwise(edges):
        watch.update(log, slice(start, stop))
    assert watch.spans() == signal_spans(log)
    assert {span.code for span in watch.spans()} == {"frozen_wrench", "saturation", "spikes"}


@pytest.mark.parametrize("piece", [97, 400, 1300])
def test_runs_go_on_where_a_log_is_cut(monkeypatch, piece):
    log = spoiled()
    whole = {span.code: span for span in signal_spans(log)}
    monkeypatch.setattr(sys.modules[SignalMonitor.__module__], "_BLOCK_ROWS", piece)
    cut = {span.code: span for span in signal_spans(log)}
    for code in ("frozen_wrench", "saturation"):
        assert replace(cut[code], size=whole[code].size) == whole[code]
        assert cut[code].size == pytest.approx(whole[code].size)


def test_a_spike_that_is_held_is_taken_out_of_all_rows_that_hold_it():
    log, _ = spiked()
    held = np.arange(ROWS) // 3 * 3
    slow = with_signals(log, **{n: log.signals[n][held] for n in ("force", "torque")})
    repaired, count = without_spikes(slow)
    clean = LOG.signals["force"][held]
    spoiled_rows = (np.abs(slow.signals["force"] - clean) > 10.0).any(axis=1)
    assert np.abs(repaired.signals["force"] - clean).max() < 2.0
    assert spoiled_rows.sum() <= count <= 1.3 * spoiled_rows.sum()


def series(log):
    prepared = prepare(log)
    return prepared.time, prepared.rows, prepared.segment_ids


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_clean_log_has_no_contact(seed):
    assert contact_spans(*series(moving(seed, 40.0))) == ()


def test_a_contact_is_found_with_its_times():
    (span,) = contact_spans(*series(with_wrench(LOG, PUSH)))
    assert span.code == "contact"
    assert (span.start, span.stop) == pytest.approx((12.0, 14.0), abs=0.6)
    assert span.size > 15.0


def test_energies_of_windows_are_those_of_weighted_least_squares_on_their_rows():
    _, rows, _ = series(with_wrench(LOG, PUSH))
    count = len(rows) // 10
    rows = rows[: 10 * count]
    window, every = np.arange(10 * count) // 10, np.ones(count, dtype=np.bool_)
    A, y, _ = wrench_equations(rows)
    sigma = y.std(axis=0)
    whitened = (A / sigma[:, None]).reshape(-1, 16), (y / sigma).reshape(-1)
    squares = (y - A @ np.linalg.lstsq(*whitened)[0]) ** 2
    expected = (squares.reshape(count, 10, 6).mean(axis=1) / squares.mean(axis=0)).mean(axis=1)
    assert_close(_window_energies(rows, window, count, [every], 1.0), expected, rtol=1e-9)


def test_globally_wrong_model_has_no_contacts():
    other = moving(8, 40.0)
    assert contact_spans(*series(with_signals(LOG, force=other.signals["force"]))) == ()
    short = replace(
        LOG, time=TIME[:300], signals={name: v[:300] for name, v in LOG.signals.items()}
    )
    assert contact_spans(*series(short)) == ()


def test_excitation_is_the_root_mean_square_of_the_motion():
    found = excitation(fitted(LOG))
    features = prepare(LOG).rows[:, 1:13]
    np.testing.assert_allclose(found.rms_rates, np.sqrt(features[:, 6:9].mean(axis=0)), rtol=0.1)
    alpha = np.sqrt((features[:, 3:6] ** 2).mean(axis=0))
    np.testing.assert_allclose(found.rms_angular_accelerations, alpha, rtol=0.15)
    direction = features[:, :3].mean(axis=0)
    share = 1.0 - direction @ direction / (features[:, :3] ** 2).sum(axis=1).mean()
    assert found.rms_tilt == pytest.approx(np.arcsin(np.sqrt(share)), rel=0.1)
    assert found.unidentifiable == ()
    assert found.advice == ()


def test_advice_on_static_poses_names_the_command_that_designs_a_motion():
    found = excitation(fitted(still(0, 8)))
    assert "Log a motion for the inertia." in found.advice[0]
    assert not any("to and fro" in text for text in found.advice)
    assert "Ixx" in found.unidentifiable
    assert "`identify design --wrist --after OUT/estimate.json`" in found.advice[-1]


def test_a_sensors_range_and_a_freeze_are_seen_in_a_wrench_in_world_axes():
    """The sensor clips and freezes in its own axes; logged in the world's, nothing is constant."""
    log = moving(3, 20.0)
    R = rotation_from_quaternion(log.signals["quaternion"])
    most = 0.8 * np.abs(log.signals["force"]).max()

    def in_world(force: np.ndarray, torque: np.ndarray) -> Recording:
        turned = with_signals(log, force=rotate(R, force), torque=rotate(R, torque))
        return replace(turned, frames={**log.frames, "wrench": "world"})

    force, torque = log.signals["force"], log.signals["torque"]
    assert signal_spans(in_world(force, torque)) == ()
    clipped = signal_spans(in_world(np.clip(force, -most, most), torque))
    assert {span.code for span in clipped} == {"saturation"}
    assert_close(clipped[0].size, most, 1e-8)
    held = force.copy(), torque.copy()
    for column in held:
        column[900:1000] = column[900]
    (span,) = signal_spans(in_world(*held))
    assert span.code == "frozen_wrench"
    stuck = in_world(force, torque)
    logged = {name: stuck.signals[name].copy() for name in ("force", "torque")}
    for column in logged.values():
        column[900:1000] = column[900]
    (span,) = signal_spans(with_signals(stuck, **logged))
    assert span.code == "frozen_wrench"


@pytest.mark.parametrize("decimals", [3, 5])
def test_a_frozen_wrench_is_found_in_world_axes_of_a_few_decimals(decimals):
    """And a robot that rests is not frozen: its wrench stands as logged too, but for its noise."""
    held = frozen("force", "torque")
    R = rotation_from_quaternion(LOG.signals["quaternion"])
    world = {
        name: np.round(rotate(R, held.signals[name]), decimals) for name in ("force", "torque")
    }
    log = replace(with_signals(held, **world), frames={**LOG.frames, "wrench": "world"})
    (span,) = signal_spans(log)
    assert span.code == "frozen_wrench"
    assert_close([span.start, span.stop], [12.0, 14.0], 0.02)
    noise = np.random.default_rng(1).normal(size=(ROWS, 6)) * 1e-3
    rests = np.where(INSIDE[:, None], np.array([3.0, 1.0, 9.0, 0.1, 0.2, 0.1]) + noise, 0.0)
    still = {
        name: np.where(INSIDE[:, None], np.round(rests[:, part], decimals), rotate(R, signal))
        for name, part in (("force", slice(0, 3)), ("torque", slice(3, 6)))
        for signal in [LOG.signals[name]]
    }
    q = LOG.signals["quaternion"].copy()
    q[INSIDE] = q[np.flatnonzero(INSIDE)[0]] + 1e-6 * noise[INSIDE, :4]
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    resting = with_signals(LOG, **still, quaternion=q)
    spans = signal_spans(replace(resting, frames={**LOG.frames, "wrench": "world"}))
    assert [span for span in spans if span.code != "bias_step"] == []


def test_noise_of_the_attitude_makes_no_spikes_of_a_wrench_in_world_axes():
    """Turned into the body by a noisy attitude, an exact wrench is noisiest where it is largest."""
    wave = np.sin(TIME[:, None] + np.arange(3.0))
    gusts = 1.0 + 60.0 * np.exp(-(((TIME % 10.0 - 5.0) / 0.4) ** 2))
    tilt = exp_rotation(2e-3 * np.random.default_rng(1).normal(size=(ROWS, 3)))
    attitude = quaternion_product(LOG.signals["quaternion"], tilt)
    log = with_signals(LOG, force=gusts[:, None] * wave, torque=wave, quaternion=attitude)
    log = replace(log, frames={**LOG.frames, "wrench": "world"})
    assert "spikes" not in [span.code for span in signal_spans(log)]


def test_a_sensor_at_the_end_of_its_range_all_over_makes_no_spikes_in_world_axes():
    """Turned into the world, what is cut off moves smoothly, and noise stands out of it."""
    attitude = LOG.signals["quaternion"]
    rng = np.random.default_rng(2)
    force = np.array([8.0, -6.0, 9.0]) + rng.normal(size=(ROWS, 3)) * 0.3
    free = (TIME % 5.0 < 1.0)[:, None]
    force = np.where(free, 0.7 * force, np.clip(3.0 * force, -10.0, 10.0))
    wrench = {"force": rotate(rotation_from_quaternion(attitude), force)}
    log = replace(with_signals(LOG, **wrench), frames={**LOG.frames, "wrench": "world"})
    assert {span.code for span in signal_spans(log)} == {"saturation"}


@pytest.mark.parametrize(
    ("starts", "length", "events"),
    [
        ((30,), 50, True),
        ((30,), 60, False),  # more than half
        ((5, 25, 45, 65), 12, True),
        (range(2, 86, 12), 5, False),  # again and again
        (range(2, 86, 12), 2, True),  # as often, of a sixth of the log
    ],
)
def test_contacts_are_events_and_not_half_of_a_log_or_scattered_over_it(starts, length, events):
    time = np.linspace(0.0, 10.0, 100)
    spans = tuple(Span("contact", time[a], time[a + length], length, 9.0) for a in starts)
    assert plausible_contacts(spans, time) == (spans if events else ())
    wrong = (Span("wrong_rows", 3.0, 4.0, 60, 9.0),)
    assert plausible_contacts(wrong, time) == wrong
