import pickle
from dataclasses import replace

import numpy as np
import pytest

from identify.errors import LogError
from identify.estimation import estimate_body
from identify.logs import Noise, Recording, Stream, synthetic_recording
from identify.logs.log_writing import write_log
from identify.logs.synthetic import random_motion
from identify.regressors import block_statistics
from identify.signals import on_one_clock, prepare
from tests.chords import between
from tests.close import assert_close
from tests.recordings import Path, record
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
GROUPS = {
    "pose": ("position", "quaternion"),
    "twist": ("angular_velocity",),
    "acceleration": ("linear_acceleration",),
    "wrench": ("force", "torque"),
}
NOISE = Noise(position=1e-4, orientation=5e-4, linear_acceleration=0.05, force=0.05, torque=0.005)


def clock_of(rate: float, seconds: float, rng: np.random.Generator) -> np.ndarray:
    return np.arange(rng.uniform(0.0, 1.0 / rate), seconds, 1.0 / rate)


def at(phi, motion, time, *, rng=None, noise: Noise | None = None) -> Recording:
    """All signals of a motion at any times, in body axes."""

    class Shifted:
        def at(self, even: np.ndarray):
            assert len(even) == len(time)
            return motion.at(time)

    return synthetic_recording(
        phi,
        rng=rng or np.random.default_rng(0),
        motion=Shifted(),
        duration=len(time) / 100.0,
        rate_hz=100.0,
        noise=noise,
        include="all",
    )


def streams_of(
    phi,
    rates: dict[str, float],
    *,
    seed: int = 1,
    seconds: float = 20.0,
    noise: bool = False,
    clocks: dict[str, np.ndarray] | None = None,
) -> Recording:
    """A log of streams, each at its own stamps; noise has the density of NOISE at 100 Hz."""
    rng = np.random.default_rng(seed)
    motion = random_motion(rng)
    streams = {}
    for group, rate in rates.items():
        time = clock_of(rate, seconds, rng)
        if clocks and group in clocks:
            time = clocks[group]
        size = np.sqrt(rate / 100.0)
        sized = Noise(**{key: size * getattr(NOISE, key) for key in NOISE.__slots__})
        signals = at(phi, motion, time, rng=rng, noise=sized if noise else None).signals
        streams[group] = Stream(group, time, {name: signals[name] for name in GROUPS[group]})
    wrench = streams.pop("wrench")
    zero = wrench.time[0]
    return Recording(
        name="three clocks",
        time=wrench.time - zero,
        signals=wrench.signals,
        frames={"wrench": "body", "twist": "body", "acceleration": "body"},
        gravity=np.array([0.0, 0.0, -9.80665]),
        sources=(),
        sha256="0" * 64,
        rows=len(wrench) + sum(map(len, streams.values())),
        streams=tuple(Stream(s.name, s.time - zero, s.signals) for s in streams.values()),
    )


def errors(recording: Recording, phi) -> tuple[np.ndarray, np.ndarray]:
    """Errors of an estimate, by the body's own size, and in half-widths of its intervals."""
    estimate = estimate_body([block_statistics(prepare(recording))])
    off = np.abs(estimate.parameters.phi - phi)
    size = np.repeat([phi[0], np.linalg.norm(phi[1:4]), np.abs(phi[4:]).max()], [1, 3, 6])
    intervals = np.array([estimate.intervals[name] for name in list(estimate.intervals)[:10]])
    return off / size, 2.0 * off / np.ptp(intervals.astype(float), axis=1)


RATES = [
    {"pose": 100.0, "wrench": 700.0},
    {"pose": 100.0, "acceleration": 250.0, "wrench": 700.0},
    {"pose": 99.7, "wrench": 100.0},
    {"pose": 400.0, "wrench": 120.0},
]


@pytest.mark.parametrize("rates", RATES)
def test_noise_free_streams_recover_body(rates):
    off, _ = errors(streams_of(PHI, rates), PHI)
    assert off.max() < 1e-4


def test_streams_match_single_clock_errors_and_coverage():
    """Pose at 100 Hz, accelerometer at 250 Hz and wrench at 700 Hz, of several bodies."""
    ours, theirs, covered = [], [], []
    for seed in range(5):
        phi = random_body(np.random.default_rng(seed))
        off, within = errors(streams_of(phi, RATES[1], seed=seed, noise=True), phi)
        ours.append(off)
        covered.append(within < 1.0)
        one_clock = {"pose": 100.0, "acceleration": 100.0, "wrench": 100.0}
        same = clock_of(100.0, 20.0, np.random.default_rng(0))
        one = streams_of(
            phi, one_clock, seed=seed, noise=True, clocks=dict.fromkeys(one_clock, same)
        )
        signals = {**one.signals}
        for stream in one.streams:
            signals |= stream.signals
        theirs.append(errors(replace(one, signals=signals, streams=()), phi)[0])
    assert np.sqrt(np.mean(np.square(ours))) < 1.5 * np.sqrt(np.mean(np.square(theirs)))
    assert np.mean(covered) > 0.87


def test_resampled_streams_keep_noise_density():
    """A thinned or resampled stream has the density it had; else intervals would be too narrow."""
    found = []
    for rates in ({"pose": 100.0, "wrench": 700.0}, {"pose": 100.0, "wrench": 100.0}):
        read = [
            prepare(streams_of(PHI, rates, seed=seed, noise=True), cutoff_hz=5.0).noise
            for seed in range(3)
        ]
        found.append(np.mean(read, axis=0))
    assert found[0][12:] == pytest.approx(found[1][12:], rel=0.2)
    assert found[0][:6] == pytest.approx(found[1][:6], rel=0.2)


def test_slowest_stream_is_unchanged_and_sets_clock():
    recording = streams_of(PHI, RATES[1])
    one = on_one_clock(recording)
    pose = recording.streams[0]
    assert one.streams == ()
    first = int(np.flatnonzero((pose.signals["position"] == one.signals["position"][0]).all(1))[0])
    rows = slice(first, first + len(one))
    np.testing.assert_array_equal(one.signals["position"], pose.signals["position"][rows])
    assert_close(one.time, pose.time[rows], 1e-9)
    assert list(one.signals) == ["position", "quaternion", "linear_acceleration", "force", "torque"]
    assert len(pose) - len(one) <= 2 * 14
    (finding,) = one.findings
    assert (finding.code, finding.severity) == ("clocks_joined", "info")
    assert "(wrench 700 Hz, pose 100 Hz, acceleration 250 Hz)" in finding.text
    assert f"of the slowest, pose: {len(one)} of its {len(pose)}" in finding.text


def test_single_clock_log_is_returned_unchanged():
    recording = synthetic_recording(PHI, rng=np.random.default_rng(1), include="all")
    assert on_one_clock(recording) is recording
    one = on_one_clock(streams_of(PHI, RATES[0]))
    assert on_one_clock(one) is one


def test_parts_that_only_some_streams_have_are_left_out():
    rng = np.random.default_rng(0)
    clocks = {"pose": clock_of(100.0, 15.0, rng), "wrench": 5.0 + clock_of(700.0, 15.0, rng)}
    recording = streams_of(PHI, RATES[0], clocks=clocks)
    one = on_one_clock(recording)
    assert np.ptp(one.time) == pytest.approx(
        10.0 - 0.12, abs=0.03
    )  # the kernel needs the first 0.12 s
    off, _ = errors(recording, PHI)
    assert off.max() < 3e-4


@pytest.mark.parametrize("gap_in", ["pose", "wrench"])
def test_nothing_is_interpolated_across_a_gap_of_any_stream(gap_in):
    rng = np.random.default_rng(0)
    clocks = {group: clock_of(rate, 20.0, rng) for group, rate in RATES[0].items()}
    time = clocks[gap_in]
    clocks[gap_in] = time[(time < 8.0) | (time > 8.5)]
    recording = streams_of(PHI, RATES[0], clocks=clocks)
    one = on_one_clock(recording)
    step = int(np.argmax(np.diff(one.time)))
    lost = {"pose": 0.0, "wrench": 0.24}[gap_in]
    assert one.time[step + 1] - one.time[step] == pytest.approx(0.5 + lost, abs=0.03)
    assert np.sum(np.diff(one.time) > 0.011) == 1
    off, _ = errors(recording, PHI)
    assert off.max() < 3e-4


def test_stamps_of_each_stream_are_repaired():
    """Late by up to a tenth of a period, and some twice."""
    rng = np.random.default_rng(4)
    recording = streams_of(PHI, RATES[0])

    def late(stream: Stream) -> Stream:
        period = np.median(np.diff(stream.time))
        time = stream.time + period * rng.uniform(0.0, 0.1, len(stream))
        again = np.sort(np.concatenate((np.arange(len(time)), [200, 400])))
        signals = {name: values[again] for name, values in stream.signals.items()}
        return Stream(stream.name, time[again], signals)

    wrench = late(Stream("wrench", recording.time, recording.signals))
    shaken = replace(
        recording,
        time=wrench.time,
        signals=wrench.signals,
        streams=tuple(map(late, recording.streams)),
    )
    assert errors(shaken, PHI)[0].max() < 2e-3


@pytest.mark.parametrize("hold", [2, 10])
def test_a_slower_pose_that_is_held_is_taken_at_its_samples(hold):
    """Held rows taken for samples would be half a hold late against the wrench."""
    path, rate = Path.random(3), 1000.0
    time = np.arange(0.0, 20.0, 1.0 / rate)
    held = (np.arange(len(time)) // hold) * hold
    recording = record(path, PHI, time, ("position", "quaternion"))
    pose = {name: recording.signals[name][held] for name in ("position", "quaternion")}
    recording = replace(recording, signals={**recording.signals, **pose})
    one = on_one_clock(recording)
    assert one.findings[0].code == "held_samples"
    assert one.findings[0].text.startswith(
        f"pose sampled at {rate / hold:.4g} Hz, held in a log of 1000 Hz: "
    )
    assert 1.0 / np.median(np.diff(one.time)) == pytest.approx(rate / hold, rel=1e-9)
    assert errors(recording, PHI)[0].max() < 2e-4


def test_held_samples_of_a_stream_and_of_all_rows():
    recording = streams_of(PHI, {"pose": 100.0, "wrench": 700.0})
    seven = np.repeat(np.arange(len(recording)), 7)
    held = replace(
        recording,
        time=np.linspace(0.0, recording.time[-1] * (1.0 + 6 / 7 / len(recording)), len(seven)),
        signals={name: values[seven] for name, values in recording.signals.items()},
    )
    one = on_one_clock(held)
    assert [finding.code for finding in one.findings] == ["held_samples", "clocks_joined"]
    assert_close(one.signals["force"], on_one_clock(recording).signals["force"], 2e-3)
    whole = on_one_clock(recording)
    three = np.repeat(np.arange(len(whole)), 3)
    repeated = replace(
        whole,
        time=np.arange(len(three)) / 300.0,
        signals={name: values[three] for name, values in whole.signals.items()},
    )
    thinned = on_one_clock(repeated)
    for name, values in whole.signals.items():
        np.testing.assert_array_equal(thinned.signals[name], values)
    assert thinned.streams == ()


@pytest.mark.parametrize(("pose_hz", "kind"), [(60.0, "slerp"), (125.0, "components")])
def test_an_interpolated_pose_is_taken_at_its_samples(pose_hz, kind):
    """Rows between samples lie on chords, which make the acceleration smaller than it was."""
    path, rate = Path.random(3, fastest_hz=2.0), 500.0
    time, slow = np.arange(0.0, 20.0, 1.0 / rate), np.arange(-0.5 / pose_hz, 20.1, 1.0 / pose_hz)
    pose = between(path.position(slow), path.rotation(slow), slow, time, kind)
    recording = replace(record(path, PHI, time, ("position", "quaternion")), name="chords")
    recording = replace(recording, signals={**recording.signals, **pose})
    one = on_one_clock(recording)
    assert [finding.code for finding in one.findings] == ["interpolated_samples", "clocks_joined"]
    assert one.findings[0].evidence["rate_hz"] == pytest.approx(pose_hz, rel=1e-6)
    assert one.findings[0].text.startswith(
        f"pose sampled at {pose_hz:.4g} Hz, interpolated in a log of 500 Hz: "
    )
    assert_close(one.signals["position"], path.position(one.time), 1e-6)
    assert errors(recording, PHI)[0].max() < 2e-3


def test_signals_of_a_sensor_share_interpolation_samples():
    """A wrench of its own samples is not taken at those of the pose, nor the pose at its own."""
    path, rate = Path.random(4), 1000.0
    time, slow = np.arange(0.0, 10.0, 1.0 / rate), np.arange(0.0, 10.1, 1e-2)
    recording = record(path, PHI, time, noise={"force": 0.01, "torque": 1e-3})
    pose = between(path.position(slow), path.rotation(slow), slow, time, "slerp")
    rows = np.arange(0, len(time), 4)
    wrench = {
        name: np.column_stack([np.interp(time, time[rows], x) for x in values[rows].T])
        for name, values in recording.signals.items()
        if name in ("force", "torque")
    }
    one = on_one_clock(replace(recording, signals={**recording.signals, **pose, **wrench}))
    rates = [finding.evidence.get("rate_hz") for finding in one.findings]
    assert [finding.code for finding in one.findings[:2]] == ["interpolated_samples"] * 2
    assert rates[:2] == pytest.approx([100.0, 250.0], rel=1e-3)
    assert set(one.findings[2].evidence) == {"pose", "wrench", "rows"}


def test_parts_of_a_log_keep_its_time():
    """A later part of a log whose clocks are joined stays at its own time."""
    recording = streams_of(PHI, {"pose": 100.0, "wrench": 700.0})
    wrench = Stream("wrench", recording.time, recording.signals)
    late = [
        Stream(
            one.name,
            one.time[one.time > 8.0],
            {k: v[one.time > 8.0] for k, v in one.signals.items()},
        )
        for one in (wrench, *recording.streams)
    ]
    part = replace(recording, time=late[0].time, signals=late[0].signals, streams=tuple(late[1:]))
    whole, one = on_one_clock(recording), on_one_clock(part)
    rows = np.searchsorted(whole.time, one.time - 1e-6)
    assert one.time[0] > 8.0
    assert_close(one.signals["force"][30:-30], whole.signals["force"][rows][30:-30], 1e-3)


def test_streams_without_time_in_common():
    recording = streams_of(PHI, RATES[0], seconds=5.0)
    (pose,) = recording.streams
    apart = replace(recording, streams=(Stream("pose", pose.time + 30.5, pose.signals),))
    message = r"three clocks: its streams have no time in common: .*pose 30.* to 3.* s in 500 rows"
    with pytest.raises(LogError, match=message):
        prepare(apart)
    # As with stamps of the pose in seconds where the schema says microseconds.
    tiny = replace(recording, streams=(Stream("pose", 1.0 + pose.time * 1e-6, pose.signals),))
    with pytest.raises(LogError, match=r"have 4.99e-06 s, which is too little, in common: wrench "):
        prepare(tiny)


@pytest.mark.parametrize("rows", [[0, 1], [0, 1, 2, 3, 4], [0, -1]])
def test_a_stream_of_few_rows(rows):
    recording = streams_of(PHI, RATES[0], seconds=5.0)
    (pose,) = recording.streams
    signals = {name: values[rows] for name, values in pose.signals.items()}
    short = replace(recording, streams=(Stream("pose", pose.time[rows], signals),))
    with pytest.raises(LogError, match=rf"too little, in common: .*pose .* in {len(rows)} rows"):
        prepare(short)


def test_streams_survive_pickling_read_only():
    sent = streams_of(PHI, RATES[1], seconds=2.0)
    got = pickle.loads(pickle.dumps(sent))  # noqa: S301 - our own
    for one, other in zip(sent.streams, got.streams, strict=True):
        np.testing.assert_array_equal(one.time, other.time)
        assert not other.time.flags.writeable
        for name, values in one.signals.items():
            np.testing.assert_array_equal(values, other.signals[name])
            with pytest.raises(ValueError, match="read-only"):
                other.signals[name][0] = 0.0


def test_write_log_rejects_unsynchronised_streams(tmp_path):
    recording = streams_of(PHI, RATES[0], seconds=2.0)
    with pytest.raises(LogError, match=r"write identify.signals.on_one_clock\(recording\)"):
        write_log(recording, tmp_path / "log.csv")
    write_log(on_one_clock(recording), tmp_path / "log.csv")
