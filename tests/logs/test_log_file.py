import pickle
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from identify.errors import LogError
from identify.logs import LogFile, Recording, log_file, open_log, read_log
from identify.logs.log_writing import write_log
from identify.logs.readers import line_index
from identify.logs.recording import excerpt
from identify.logs.synthetic import synthetic_recording
from identify.regressors import log_scan, summarise_log
from identify.signals import Interpretation
from tests.close import assert_close

PHI = np.array([0.6, 0.012, -0.018, 0.03, 3e-3, 1e-4, 1e-4, 3e-3, 1e-4, 2e-3])
RATE = 60.03
ROWS = 3600
CUTOFF = Interpretation(cutoff_hz=4.97)


@pytest.fixture(autouse=True)
def _short_is_long(monkeypatch) -> None:
    """What is long here is short: chunks of 1200 rows, an offset every 64 lines."""
    monkeypatch.setattr(log_file, "MIN_ROWS_IN_CHUNKS", 500)
    monkeypatch.setattr(log_file, "_HEAD_ROWS", 100)
    monkeypatch.setattr(log_scan, "CHUNK_ROWS", 1200)
    monkeypatch.setattr(line_index, "_LINES_BETWEEN_OFFSETS", 64)
    monkeypatch.setattr(line_index, "_BLOCK_BYTES", 1000)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """A folder with the log as CSV and Parquet, and its schema."""
    folder = tmp_path_factory.mktemp("long")
    recording = synthetic_recording(
        PHI, rng=np.random.default_rng(3), duration=ROWS / RATE, rate_hz=RATE
    )
    write_log(recording, folder / "log.csv", folder / "schema.toml")
    write_log(recording, folder / "log.parquet", folder / "other.toml")
    table = pq.read_table(folder / "log.parquet")
    pq.write_table(table, folder / "log.parquet", row_group_size=700)
    return folder


def opened(log: Path, schema: Path) -> LogFile:
    found = open_log(log, schema)
    assert isinstance(found, LogFile)
    return found


def edited(written: Path, tmp_path: Path, edit, schema=lambda text: text) -> tuple[Path, Path]:
    """The CSV and its schema, its lines (the header first) and its text edited."""
    lines = (written / "log.csv").read_bytes().split(b"\n")[:-1]
    edit(lines)
    (tmp_path / "log.csv").write_bytes(b"\n".join(lines) + b"\n")
    text = schema((written / "schema.toml").read_text())
    (tmp_path / "schema.toml").write_text(text)
    return tmp_path / "log.csv", tmp_path / "schema.toml"


def assert_same_rows(ours: Recording, theirs: Recording) -> None:
    assert ours.time is not None
    assert theirs.time is not None
    assert_close(ours.time, theirs.time, 0.0)
    for name, values in theirs.signals.items():
        assert_close(ours.signals[name], values, 0.0)


@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
def test_parts_match_the_log_read_whole(written, name):
    log = opened(written / name, written / "schema.toml")
    whole = read_log(written / name, written / "schema.toml")
    assert (len(log), log.name, log.sha256) == (len(whole), whole.name, whole.sha256)
    assert log.rate_hz == pytest.approx(RATE, rel=1e-3)
    assert log.recording.sources == whole.sources
    reader = log.reader()
    for start, stop in ((0, 1000), (1000, 2000), (2000, len(whole)), (100, 101), (650, 1500)):
        ours, theirs = reader(start, stop, 30), excerpt(whole, start, stop, 30)
        assert_same_rows(ours.recording, theirs.recording)
        assert (ours.span, ours.row_count) == (theirs.span, theirs.row_count)
        assert ours.defect_counts.dropped.total == 0


@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
def test_a_scan_of_the_file_matches_the_recording(written, name):
    log = opened(written / name, written / "schema.toml")
    whole = read_log(written / name, written / "schema.toml")
    ours, theirs = summarise_log(log, CUTOFF), summarise_log(whole, CUTOFF)
    assert_close(ours.statistics.factors, theirs.statistics.factors, 0.0)
    assert (ours.rows_kept, ours.recording.rows) == (len(whole), len(whole))
    assert ours.recording.sha256 == theirs.recording.sha256
    there = pickle.loads(pickle.dumps(log))  # noqa: S301 - what a worker gets
    assert_close(summarise_log(there, CUTOFF).statistics.factors, theirs.statistics.factors, 0.0)


def test_a_row_of_units_and_stamps_in_two_columns_are_read_in_part(written, tmp_path):
    def edit(lines):
        for k, line in enumerate(lines[1:], start=1):
            stamp, rest = line.split(b",", 1)
            seconds, fraction = divmod(round(1e9 * float(stamp)), 10**9)
            lines[k] = b"%d,%d,%s" % (seconds, fraction, rest)
        lines[0] = b"t,rest," + lines[0].split(b",", 1)[1]
        lines.insert(1, b",".join([b"unit"] * len(lines[0].split(b","))))

    def joined(text):
        return text.replace('"t"', '"t"\ntime_fraction = "rest"')

    log, schema = edited(written, tmp_path, edit, joined)
    whole = read_log(log, schema)
    assert_close(whole.time, read_log(written / "log.csv", written / "schema.toml").time, 1e-9)
    part = opened(log, schema).reader()(650, 1500, 30)
    assert_same_rows(part.recording, excerpt(whole, 650, 1500, 30).recording)


def test_rows_dropped_at_the_edges_of_chunks_are_counted_once(written, tmp_path):
    def edit(lines):
        for row in (1199, 1200, 1201, 1230, 2399):
            lines[1 + row] = b"nan," + lines[1 + row].split(b",", 1)[1]
        lines[-1] = lines[-1][:20]

    log, schema = edited(written, tmp_path, edit)
    whole = read_log(log, schema)
    ours, theirs = summarise_log(opened(log, schema), CUTOFF), summarise_log(whole, CUTOFF)
    assert ours.recording.dropped == whole.dropped
    assert (whole.dropped.not_finite, whole.dropped.cut_short) == (5, 1)
    assert ours.rows_kept == len(whole)
    assert_close(ours.statistics.samples.sum(), theirs.statistics.samples.sum(), 1e-9)
    assert ours.duration == pytest.approx(theirs.duration)


def test_a_chunk_of_bad_rows_alone_is_left_out(written, tmp_path):
    def edit(lines):
        for row in range(1150, 2450):
            lines[row] = b"x," + lines[row].split(b",", 1)[1]

    def dropping(text):
        return text.replace('"t"', '"t"\ndrop_bad_rows = true')

    log, schema = edited(written, tmp_path, edit, dropping)
    ours, whole = summarise_log(opened(log, schema), CUTOFF), read_log(log, schema)
    assert ours.recording.dropped == whole.dropped
    assert whole.dropped.not_numbers == 1300
    assert ours.rows_kept == len(whole)
    assert len(np.unique(ours.segment_ids)) == 2
    theirs = summarise_log(whole, CUTOFF).statistics.samples.sum()
    assert ours.statistics.samples.sum() == pytest.approx(theirs, abs=30.0)


def test_a_bad_row_far_down_is_named_with_its_line(written, tmp_path):
    def edit(lines):
        lines[3000] = lines[3000].replace(b",", b",x", 1)

    log, schema = edited(written, tmp_path, edit)
    with pytest.raises(LogError) as whole:
        read_log(log, schema)
    with pytest.raises(LogError, match="line 3001") as part:
        summarise_log(opened(log, schema))
    assert str(part.value) == str(whole.value)
    assert part.value.row == whole.value.row == 3001


def test_a_log_of_bad_rows_is_rejected_as_a_whole(written, tmp_path):
    def edit(lines):
        for row in range(1500, 2300):
            lines[row] = lines[row].rsplit(b",", 1)[0] + b",nan"

    log, schema = edited(written, tmp_path, edit)
    with pytest.raises(LogError) as whole:
        read_log(log, schema)
    with pytest.raises(LogError, match=r"'tz' of log\.csv is the worst") as part:
        summarise_log(opened(log, schema))
    assert str(part.value) == str(whole.value)


def test_whole_stamps_and_a_rate_begin_at_the_first_row_kept(written, tmp_path):
    start = 1_700_000_000_000_000_123

    def edit(lines):
        for row, line in enumerate(lines[1:], start=1):
            lines[row] = b"%d," % (start + row * 16_658_337) + line.split(b",", 1)[1]
        lines[1] = lines[1].rsplit(b",", 1)[0] + b","

    stamps = edited(
        written, tmp_path, edit, lambda text: text.replace('"t"', '"t"\ntime_unit = "ns"')
    )
    assert_same_rows(opened(*stamps).reader()(2000, 2500, 0).recording, part_of(*stamps))
    schema = tmp_path / "rate.toml"
    schema.write_text((written / "schema.toml").read_text().replace('time = "t"', "rate_hz = 60.0"))
    found = opened(stamps[0], schema).reader()(2000, 2500, 0).recording
    assert_same_rows(found, part_of(stamps[0], schema))


def part_of(log: Path, schema: Path) -> Recording:
    """Rows 2000 to 2500 of a log read whole, of which the first is dropped."""
    return excerpt(read_log(log, schema), 1999, 2499, 0).recording


@pytest.mark.parametrize(
    "edit",
    [
        lambda lines: lines.insert(2000, b"# a comment"),
        lambda lines: lines.insert(2000, b""),
        lambda lines: lines.__setitem__(2000, lines[2000] + b"\r"),
    ],
)
def test_irregular_file_is_read_into_memory(written, tmp_path, edit):
    log, schema = edited(written, tmp_path, edit)
    assert isinstance(open_log(log, schema), Recording)


def stamped(written, tmp_path, stamp) -> tuple[Path, Path]:
    """The log with whole stamps in microseconds, as a function of the row's number gives them."""

    def edit(lines):
        for row in range(1, len(lines)):
            lines[row] = b"%d,%s" % (stamp(row - 1), lines[row].split(b",", 1)[1])

    return edited(
        written, tmp_path, edit, lambda text: text.replace('"t"', '"t"\ntime_unit = "us"')
    )


def test_a_counter_that_starts_again_is_read_whole(written, tmp_path):
    step = round(1e6 / RATE)
    log, schema = stamped(written, tmp_path, lambda row: (2**32 - 10**7 + step * row) % 2**32)
    found = open_log(log, schema)
    assert isinstance(found, Recording)
    assert [finding.code for finding in found.findings] == ["counter_wrapped"]
    assert found.time is not None
    assert_close(found.time[-1], (ROWS - 1) * step * 1e-6, 1e-9)
    log, schema = stamped(written, tmp_path, lambda row: 10**6 + step * row)
    assert isinstance(open_log(log, schema), LogFile)


def test_rows_of_streams_that_alternate_are_read_whole(written, tmp_path):
    def edit(lines):
        names = lines[0].decode().replace('"', "").split(",")
        of_wrench = [k for k, name in enumerate(names) if name[0] in "ft" and name != "t"]
        for row in range(1, len(lines)):
            fields = lines[row].split(b",")
            for k in range(1, len(fields)):
                if (k in of_wrench) == (row % 2 == 0):
                    fields[k] = b""
            lines[row] = b",".join(fields)

    found = open_log(*edited(written, tmp_path, edit))
    assert isinstance(found, Recording)
    assert len(found.streams) == 1
    assert found.dropped.total == 0


def test_windows_line_ends_and_missing_final_newline(written, tmp_path):
    content = (written / "log.csv").read_bytes()
    (tmp_path / "log.csv").write_bytes(content.replace(b"\n", b"\r\n")[:-2])
    log = opened(tmp_path / "log.csv", written / "schema.toml")
    whole = read_log(written / "log.csv", written / "schema.toml")
    assert len(log) == len(whole)
    last = log.reader()(3500, len(log), 0).recording
    assert_same_rows(last, excerpt(whole, 3500, len(whole), 0).recording)
