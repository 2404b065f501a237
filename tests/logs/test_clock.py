import numpy as np
import pytest

from identify.diagnosis.faults.timing import time_patch, time_remedy
from identify.errors import LogError, SchemaError
from identify.logs import read_log
from identify.logs.readers import text as reader


def stamped(lines, stamps, name="t"):
    rest = [line.split(",", 1)[1] for line in lines]
    return [f"{name},{rest[0]}", *(f"{t},{x}" for t, x in zip(stamps, rest[1:], strict=False))]


@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_units(write, schema, lines, unit, ticks):
    path = write(stamped(lines, [repr(ticks * 0.25 * i + 3) for i in range(20)]))
    time = read_log(path, schema(log={"time_unit": unit})).time
    np.testing.assert_allclose(time, 0.25 * np.arange(20), rtol=1e-15, atol=0)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("missing", [False, True])
def test_nanoseconds_since_1970_lose_nothing(write, schema, lines, monkeypatch, fast, missing):
    if not fast:
        monkeypatch.setattr(reader, "read_regular_lines", lambda *_: None)
    steps = np.cumsum(np.arange(20) * 1_000_003 + 1)
    stamps = [str(1_700_000_000_123_456_789 + int(step)) for step in steps]
    expected = np.array([int(step - steps[0]) / 1e9 for step in steps])
    if missing:
        stamps[7] = ""
        expected = np.delete(expected, 7)
    time = read_log(write(stamped(lines, stamps)), schema(log={"time_unit": "ns"})).time
    np.testing.assert_array_equal(time, expected)


def fractions(lines, columns):
    """The log with stamps in two columns in place of one."""
    return [f"{s},{f},{x.split(',', 1)[1]}" for (s, f), x in zip(columns, lines, strict=True)]


@pytest.mark.parametrize(("unit", "ticks"), [("ns", 10**9), ("us", 10**6), ("ms", 10**3)])
@pytest.mark.parametrize("whole", ["{}", "{}.0"])
def test_stamps_in_two_columns_are_joined_exactly(write, schema, lines, unit, ticks, whole):
    stamps = [divmod(17 * 10**8 * ticks + 3 * ticks // 8 * i + i, ticks) for i in range(20)]
    path = write(fractions(lines, [("sec", "rest"), *((whole.format(s), f) for s, f in stamps)]))
    layout = {"time": "sec", "time_fraction": "rest", "time_fraction_unit": unit}
    time = read_log(path, schema(log=layout)).time
    expected = [(3 * ticks // 8 * i + i) / ticks for i in range(20)]
    np.testing.assert_array_equal(time, expected)
    rows = fractions(lines, [("sec", "rest"), *stamps])
    rows[5] = rows[5].replace(f",{stamps[4][1]},", ",,", 1)
    assert read_log(write(rows), schema(log=layout)).dropped.not_finite == 1


@pytest.mark.parametrize("date", ["", "2024-05-01T"])
def test_fraction_follows_the_whole_seconds_of_a_date(write, schema, lines, date):
    stamps = [(f"{date}23:00:{i // 4:02}", 250 * (i % 4)) for i in range(20)]
    path = write(fractions(lines, [("sec", "rest"), *stamps]))
    layout = {"time": "sec", "time_fraction": "rest", "time_fraction_unit": "ms"}
    time = read_log(path, schema(log=layout)).time
    np.testing.assert_array_equal(time, 0.25 * np.arange(20))
    wrong = [(f"{date}23:00:{i // 4:02}.5", 250 * (i % 4)) for i in range(20)]
    with pytest.raises(LogError, match="are whole seconds and less than a second after them"):
        read_log(write(fractions(lines, [("sec", "rest"), *wrong])), schema(log=layout))


def test_time_fraction_must_be_below_one_second(write, schema, lines):
    stamps = [divmod(3 * 10**8 * i, 10**9) for i in range(20)]
    layout = {"time": "sec", "time_fraction": "rest"}
    path = write(fractions(lines, [("sec", "rest"), *stamps]))
    wrong = schema(log={**layout, "time_fraction_unit": "us"})
    with pytest.raises(LogError, match=r"line 3: .* got 0 and 300 s; check time_fraction_unit"):
        read_log(path, wrong)
    with pytest.raises(SchemaError, match="follows whole seconds: give time, without time_unit"):
        read_log(path, schema(log={**layout, "time_unit": "ns"}))


def test_no_unit_is_suggested_for_whole_seconds():
    assert time_patch({"log": {"time": "sec"}}, 1e-3) == {"log.time_unit": "ms"}
    said = {"log": {"time": "sec", "time_fraction": "rest"}}
    assert time_patch(said, 1e-3) == {}
    assert "time_unit =" not in time_remedy(said, 1e-3)


def test_time_starts_at_the_first_row_kept(write, schema, lines):
    stamps = [f"{1.7e9 + i / 8:.3f}" for i in range(20)]
    lines = stamped(lines, stamps)
    lines[1] = lines[1].rpartition(",")[0] + ",nan"
    recording = read_log(write(lines), schema())
    np.testing.assert_array_equal(recording.time, np.arange(19) / 8)


def test_a_rate_leaves_the_gap_of_a_dropped_row(write, schema, lines):
    lines[6] = lines[6].rpartition(",")[0] + ",nan"
    recording = read_log(write(lines), schema(log={"time": None, "rate_hz": 1000}))
    np.testing.assert_array_equal(recording.time, np.delete(np.arange(20), 5) / 1000)


def test_decreasing_time_is_rejected(write, schema, lines):
    stamps = [str(i / 100) for i in range(20)]
    stamps[12] = "0.055"
    with pytest.raises(LogError, match=r"line 14: time goes back from 0.11 to 0.055; ") as caught:
        read_log(write(stamped(lines, stamps)), schema())
    assert (caught.value.exit_code, caught.value.row, caught.value.column) == (2, 14, "t")
    stamps = [str(1_700_000_000_000_000_000 - i) for i in range(20)]
    message = "line 3: time goes back from 1700000000000000000 to 1699999999999999999"
    with pytest.raises(LogError, match=message):
        read_log(write(stamped(lines, stamps)), schema(log={"time_unit": "ns"}))


@pytest.mark.parametrize(
    ("midnight", "before", "after", "remedy"),
    [
        (
            ["23:59:59.992", "00:00:00.000"],
            "23:59:59.992000",
            "00:00:00.000000",
            "write the date before",
        ),
        (
            ["10:00:05.000", "10:00:04.000"],
            "10:00:05.000000",
            "10:00:04.000000",
            "split the log where its clock was set back",
        ),
        (
            ["2024-05-01T10:00:00.5", "2024-05-01T09:00:00.5"],
            "2024-05-01T10:00:00.500000",
            "2024-05-01T09:00:00.500000",
            "split the log where its clock was set back",
        ),
    ],
)
def test_decreasing_dates_are_named_as_dates(write, schema, lines, midnight, before, after, remedy):
    stamps = [midnight[0]] * 12 + [midnight[1]] * 8
    message = rf"time goes back from {before} to {after}; stamps must not decrease: .*{remedy}"
    with pytest.raises(LogError, match=message):
        read_log(write(stamped(lines, stamps)), schema())


def test_constant_time_is_rejected(write, schema, lines):
    with pytest.raises(
        LogError, match=r"time never advances: all 20 rows have the stamp 7\.5"
    ) as caught:
        read_log(write(stamped(lines, ["7.5"] * 20)), schema())
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("clock", [{"time": "t"}, {"time": None, "rate_hz": 100}])
def test_single_sample_is_rejected_unless_still(write, schema, lines, clock):
    with pytest.raises(LogError, match=r"has only one sample.* set still = true"):
        read_log(write(lines[:2]), schema(log=clock))


def test_stamps_too_far_apart_for_int64(write, schema, lines):
    stamps = [str(-(2**62) - 2**61), *map(str, range(2**62, 2**62 + 19))]
    recording = read_log(write(stamped(lines, stamps)), schema(log={"time_unit": "ns"}))
    assert recording.time is not None
    assert recording.time[-1] == pytest.approx((2**63 + 2**61) / 1e9)
    stamps = [str(2**70 + 2**20 * i) for i in range(20)]
    recording = read_log(write(stamped(lines, stamps)), schema(log={"time_unit": "ns"}))
    np.testing.assert_allclose(recording.time, 2**20 * np.arange(20) / 1e9)


def test_stamps_that_overflow(write, schema, lines):
    stamps = ["-1.7e308", *(f"{1.6e308}" for _ in range(19))]
    with pytest.raises(LogError, match=r"time_unit = \"s\": 20 rows would last inf s"):
        read_log(write(stamped(lines, stamps)), schema())


@pytest.mark.parametrize(("count", "step"), [(2**16, 4), (2**32, 1000), (10**9, 10_000_000)])
def test_wrapped_counter_is_unwrapped(write, schema, lines, count, step):
    steps = np.cumsum([count - 5 * step - 3] + [step + i % 2 for i in range(19)])
    ticks = [int(stamp) % count for stamp in steps]
    assert ticks[6] < ticks[5]
    recording = read_log(write(stamped(lines, ticks)), schema(log={"time_unit": "us"}))
    np.testing.assert_allclose(recording.time, (steps - steps[0]) / 1e6, rtol=1e-15)
    (finding,) = recording.findings
    assert (finding.code, finding.severity) == ("counter_wrapped", "info")
    assert (
        f"line 8: time falls from {ticks[5]} to {ticks[6]} and continues: a counter" in finding.text
    )
    assert finding.evidence == {"ticks": count, "times": 1}


@pytest.mark.parametrize(
    "fall",
    [
        -(2**16) + 500,  # it goes on 125 steps later
        -(2**16) - 8,  # it goes back even so
        -(2**15),
    ],
)
def test_clock_set_back_is_not_a_counter_wrap(write, schema, lines, fall):
    steps = np.full(19, 4)
    steps[12] = fall
    stamps = np.cumsum([60000, *steps])
    with pytest.raises(LogError, match=r"line 15: time goes back from 60048 to "):
        read_log(write(stamped(lines, stamps.tolist())), schema(log={"time_unit": "ms"}))
