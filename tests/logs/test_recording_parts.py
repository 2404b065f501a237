"""Parts of a recording, its table and its figure, as a user of Python has them."""

from dataclasses import replace

import numpy as np
import pytest

import identify
from identify.errors import LogError
from identify.logs import JointAxes, Stream, synthetic_recording
from tests.close import assert_close
from tests.recordings import synthetic_still_recording
from tests.strategies import random_body


@pytest.fixture(scope="module")
def recording():
    rng = np.random.default_rng(3)
    made = synthetic_recording(random_body(rng), rng=rng, duration=20.0, rate_hz=100.0)
    return replace(made, name="run")


def test_part_has_the_rows_of_its_span_and_keeps_the_metadata(recording):
    part = recording.between(5.0, 12.5)
    inside = (recording.time >= 5.0) & (recording.time < 12.5)
    assert_close(part.time, recording.time[inside], rtol=0.0)
    for name, values in recording.signals.items():
        assert_close(part.signals[name], values[inside], rtol=0.0)
    assert (part.name, part.rows) == ("run from 5 to 12.5 s", inside.sum())
    assert part.sha256 != recording.sha256
    assert (part.frames, part.schema) == (recording.frames, recording.schema)


def test_two_parts_of_a_log_are_fitted_together(recording):
    parts = [recording.between(0.0, 9.0), recording.between(11.0, 20.0)]
    result = identify.fit(parts)
    assert [log.name for log in result.logs] == ["run from 0 to 9 s", "run from 11 to 20 s"]
    assert result.logs[1].duration == pytest.approx(9.0, abs=0.5)


def test_streams_and_coordinates_of_their_pose_are_cut_by_their_own_clock(recording):
    time = np.arange(0.0, 20.0, 0.04)
    quaternion = np.tile([0.0, 0.0, 0.0, 1.0], (len(time), 1))
    both = replace(
        recording,
        streams=(Stream("pose", time, {"quaternion": quaternion}),),
        attitude_coordinates=np.stack((time, time, time), axis=-1),
    )
    part = both.between(5.0, 6.0)
    assert len(part) == 100
    assert_close(part.streams[0].time, time[125:150], rtol=0.0)
    assert_close(part.attitude_coordinates[:, 0], time[125:150], rtol=0.0)
    assert part.rows == 125


def test_empty_part_names_span_and_times_of_the_log(recording):
    message = r"run: between\(30, 40\): 0 of its 2000 rows from 0 to 19.99 s are in this span"
    with pytest.raises(LogError, match=message):
        recording.between(30.0, 40.0)
    with pytest.raises(LogError, match=r"between\(5, 4\): 0 of its"):
        recording.between(5.0, 4.0)
    rng = np.random.default_rng(1)
    with pytest.raises(LogError, match="every row is a static pose"):
        synthetic_still_recording(random_body(rng), rng=rng, poses=7).between(0.0, 1.0)


def test_dataframe_has_named_columns_and_time(recording):
    table = recording.to_dataframe()
    assert table.index.name == "time [s]"
    assert_close(table.index, recording.time, rtol=0.0)
    assert_close(table[["fx", "fy", "fz"]], recording.signals["force"], rtol=0.0)
    assert_close(table[["qx", "qy", "qz", "qw"]], recording.signals["quaternion"], rtol=0.0)
    joints = replace(
        recording,
        signals={"effort": recording.signals["force"][:, :2]},
        joints=JointAxes(("shoulder", "elbow"), np.zeros(2)),
    )
    assert list(joints.to_dataframe()) == ["effort[shoulder]", "effort[elbow]"]


def test_dataframe_of_streams_names_the_function_that_joins_them(recording):
    stream = Stream("pose", recording.time, {})
    with pytest.raises(LogError, match="the streams pose have clocks of their own"):
        replace(recording, streams=(stream,)).to_dataframe()


def test_plot_has_a_panel_for_each_signal(recording):
    figure = recording.plot()
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == [
        "position [m]",
        "quaternion [–]",
        "force on the body [N]",
        "torque on the body [N m]",
    ]
    (line, *_) = figure.axes[0].lines
    assert np.nanmax(line.get_ydata()) == pytest.approx(recording.signals["position"][:, 0].max())
