"""Time stamps in days, as spreadsheets count them since 1899-12-30."""

import numpy as np
import pytest

from identify.logs import LogFile, log_file, open_log, read_log
from identify.logs.draft_schema import draft_schema
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording
from identify.pipeline import fit
from identify.pipeline.misread_error import MisreadLog
from tests.small_faults import PHI

DAY, START = 86400.0, 45000.123
NOISE = Noise(position=1e-4, orientation=5e-4, force=0.03, torque=0.003)


def in_days(folder, rate_hz=100.0, start=START, unit=""):
    """A log whose stamps are days to fifteen digits, and its schema; its exact times."""
    log = synthetic_recording(
        PHI, rng=np.random.default_rng(3), duration=20.0, rate_hz=rate_hz, noise=NOISE
    )
    path, schema = folder / "log.csv", folder / "schema.toml"
    write_log(log, path, schema)
    header, *lines = path.read_text().splitlines()
    rows = (line.split(",", 1) for line in lines)
    days = [f"{start + float(stamp) / DAY:.15g},{rest}" for stamp, rest in rows]
    path.write_text("\n".join([header, *days]) + "\n")
    if unit:
        text = schema.read_text().replace('time = "t"', f'time = "t"\ntime_unit = "{unit}"')
        schema.write_text(text)
    assert log.time is not None
    return path, schema, log.time


@pytest.mark.parametrize("start", [0.0, START, 738_000.5])
def test_days_are_read_to_their_last_digit(tmp_path, start):
    path, schema, time = in_days(tmp_path, start=start, unit="d")
    digit = DAY * 10.0 ** (np.floor(np.log10(max(start, 1.0))) - 14)
    assert np.abs(np.array(read_log(path, schema).time) - time).max() < 1.1 * digit + 1e-6


def test_a_long_log_in_days_is_read_in_parts(tmp_path, monkeypatch):
    path, schema, time = in_days(tmp_path, unit="d")
    monkeypatch.setattr(log_file, "MIN_ROWS_IN_CHUNKS", 500)
    opened = open_log(path, schema)
    assert isinstance(opened, LogFile)
    part = opened.reader()(1000, 1500, 0).recording
    assert np.abs(np.array(part.time) - time[1000:1500]).max() < 1e-5


@pytest.mark.parametrize("rate_hz", [10.0, 100.0, 1000.0])
def test_days_that_are_read_as_seconds_are_named_with_their_unit(tmp_path, rate_hz):
    path, schema, _ = in_days(tmp_path, rate_hz)
    with pytest.raises(MisreadLog) as caught:
        fit(read_log(path, schema))
    assert caught.value.finding.code == "time_unit"
    assert 'set `time_unit = "d"`' in caught.value.finding.remedy


def test_first_schema_detects_days(tmp_path):
    path, *_ = in_days(tmp_path)
    assert 'time_unit = "d"' in draft_schema(path).text
