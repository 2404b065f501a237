import gzip
from types import SimpleNamespace

import numpy as np
import pyarrow.csv as pacsv
import pytest

from identify.errors import LogError, MissingColumn
from identify.logs import read_log
from identify.logs.readers import text as reader
from identify.logs.readers.text_lines import is_date, microseconds_since_1970


@pytest.fixture(params=["fast", "row by row"])
def way(request, monkeypatch):
    if request.param == "row by row":
        monkeypatch.setattr(reader, "read_regular_lines", lambda *_: None)


def assert_is_small_log(recording, rows):
    np.testing.assert_array_equal(recording.time, rows[:, 0])
    np.testing.assert_array_equal(recording.signals["position"], rows[:, 1:4])
    np.testing.assert_allclose(recording.signals["quaternion"], rows[:, 4:8], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(recording.signals["force"], rows[:, 8:11])
    np.testing.assert_array_equal(recording.signals["torque"], rows[:, 11:14])
    assert recording.rows == len(rows)
    assert recording.dropped.total == 0


@pytest.mark.parametrize(
    ("mark", "separator"),
    [(";", ";"), ("\t", "\t"), (" ; ", ";"), (", ", ","), ("|", "|"), (" ", " ")],
)
def test_separators(write, schema, lines, rows, mark, separator, way):
    path = write([line.replace(",", mark) for line in lines], "log.tsv")
    assert_is_small_log(read_log(path, schema(log={"separator": separator})), rows)


@pytest.mark.parametrize("mark", [" ", "\t", "  \t "])
def test_white_space_of_any_kind(write, schema, lines, rows, mark, way):
    path = write(["  " + line.replace(",", mark) + "\t" for line in lines], "log.txt")
    assert_is_small_log(read_log(path, schema(log={"separator": "whitespace"})), rows)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n", "\r\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(write, schema, lines, rows, end, last, way):
    path = write(end.join(lines) + end * last)
    assert_is_small_log(read_log(path, schema()), rows)


def test_byte_order_mark_quotes_and_blanks_about_names(write, schema, lines, rows, way):
    lines[0] = "\ufeff" + ",".join(f' "{name}" ' for name in lines[0].split(","))
    assert_is_small_log(read_log(write(lines), schema()), rows)


def test_quoted_numbers(write, schema, lines, rows, way):
    lines[3] = ",".join(f'"{field}"' for field in lines[3].split(","))
    assert_is_small_log(read_log(write(lines), schema()), rows)


def test_separators_at_the_ends_of_lines(write, schema, numbered, lines, rows, way):
    assert_is_small_log(read_log(write([line + "," for line in lines]), schema()), rows)
    assert_is_small_log(read_log(write([lines[0]] + [x + "," for x in lines[1:]]), schema()), rows)
    assert_is_small_log(read_log(write([line + "," for line in lines[1:]]), numbered()), rows)


def test_no_header_and_columns_by_number(write, numbered, lines, rows, way):
    assert_is_small_log(read_log(write(lines[1:]), numbered()), rows)


def test_numbers_and_names_may_be_mixed(write, schema, lines, rows, way):
    mixed = schema(pose={"position": [1, "py", 3]}, log={"time": 0})
    assert_is_small_log(read_log(write(lines), mixed), rows)


@pytest.mark.parametrize("suffix", ["csv", "txt", "tsv", "dat", "log", "CSV", "out", "run.csv"])
def test_unknown_suffix_is_read_as_text(write, schema, lines, rows, suffix):
    assert_is_small_log(read_log(write(lines, f"log.{suffix}"), schema()), rows)


def test_gzip_text_is_read(write, schema, lines, rows):
    path = write(gzip.compress("\n".join(lines).encode()), "run_1.csv.gz")
    recording = read_log(path, schema())
    assert_is_small_log(recording, rows)
    assert recording.name == "run_1"


def test_comments_and_blank_lines_count_as_header_lines(write, schema, lines, rows, way):
    top = ["# made by a robot", "", "prose, with, commas"]
    path = write(top + lines)
    assert_is_small_log(read_log(path, schema(log={"header_lines": 4})), rows)


@pytest.mark.parametrize(
    "top",
    [["# one comment"], ["# a", "# b", ""], ["#"], ["#" * 70, "#", "# t", "#"]],
)
def test_comments_on_top_need_not_be_counted(write, schema, lines, rows, top, way):
    assert_is_small_log(read_log(write(top + lines), schema()), rows)


@pytest.mark.parametrize("mark", ["#", "# ", "## ", "#\t"])
@pytest.mark.parametrize("top", [[], ["# rate: 100", "#"]])
def test_names_behind_a_comment_mark(write, schema, lines, rows, mark, top, way):
    path = write([*top, mark + lines[0], *lines[1:]])
    assert_is_small_log(read_log(path, schema()), rows)
    assert_is_small_log(read_log(path, schema(log={"header_lines": len(top) + 1})), rows)


def test_comments_and_blank_lines_among_the_rows(write, schema, lines, rows, way):
    lines[9] += "  # a bump"
    path = write([*lines[:5], "# contact", "", *lines[5:12], "   ", *lines[12:], "# end", ""])
    assert_is_small_log(read_log(path, schema()), rows)


@pytest.mark.parametrize(
    "below",
    [
        [""],
        ["", "# a comment", ""],
        ["s" + ",m" * 7 + ",N" * 3 + ",Nm" * 3],
        ["[s],m,m,m,,,,,N,N,N,N m,N m,N m", ""],
        [",".join(["double"] * 14), "s,m,m,m,1,1,1,1,N,N,N,Nm,Nm,Nm"],
    ],
)
def test_blank_lines_and_units_below_the_names_are_of_the_header(
    write, schema, lines, rows, below, way
):
    path = write([lines[0], *below, *lines[1:]])
    assert_is_small_log(read_log(path, schema()), rows)
    bad = write([lines[0], *below, *replaced(lines, 4, 9, "abc")[1:]])
    with pytest.raises(LogError, match=f"line {len(below) + 5}, column 'fy'"):
        read_log(bad, schema())


def test_a_first_row_without_numbers_is_no_row_of_units(write, schema, lines, way):
    path = write([lines[0], ",".join(["inf", "nan", *["NA"] * 12]), *lines[1:]])
    assert read_log(path, schema()).dropped.not_finite == 1


@pytest.mark.parametrize("mark", [";", "\t", " "])
def test_decimal_commas(write, schema, lines, rows, mark, way):
    commas = [line.replace(",", mark).replace(".", ",") for line in lines]
    layout = {"separator": "whitespace" if mark == " " else mark, "decimal": ","}
    assert_is_small_log(read_log(write(commas), schema(log=layout)), rows)


def test_decimal_commas_within_quotes_may_stand_between_commas(write, schema, lines, rows, way):
    quoted = [",".join(f'"{f.replace(".", ",")}"' for f in line.split(",")) for line in lines]
    assert_is_small_log(read_log(write(quoted), schema(log={"decimal": ","})), rows)


@pytest.mark.parametrize(
    ("date", "end"),
    [
        ("2024-05-01T10:00:{:09.6f}", "Z"),
        ("2024-05-01 23:00:{:06.3f}", "+05:30"),
        ("1.5.2024 10:00:{:06.3f}", ""),
        ("31.12.2024  23:59:{:06.3f}", ""),
        ("09:05:{:06.3f}", ""),
        ("23:59:{:09.6f}", ""),
    ],
)
def test_stamps_may_be_dates(write, schema, lines, rows, date, end, way):
    for i, seconds in enumerate(rows[:, 0], start=1):
        lines = replaced(lines, i, 0, date.format(seconds) + end)
    assert_is_small_log(read_log(write(lines), schema()), rows)
    gone = read_log(write(replaced(lines, 5, 0, "")), schema())
    assert gone.dropped.not_finite == gone.dropped.total == 1
    with pytest.raises(LogError, match=r"line 6, column 't': .*got '1 May'; write time stamps as"):
        read_log(write(replaced(lines, 5, 0, "1 May")), schema())


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("31.12.2024 23:59:58,250", "2024-12-31T23:59:58.25"),
        ("1.2.2024 01:02:03", "2024-02-01T01:02:03"),
        ("1.2.2024 1:02:03.5", "2024-02-01T01:02:03.5"),
        ("13.2.2024 1:02", "2024-02-13T01:02"),
        ("2.13.2024 01:02:03", None),
        ("9:05:01", None),
        (" 09:05:01.5", "1970-01-01T09:05:01.5"),
        ("12/31/2024 10:00:00", None),
        ("24:00:61", None),
        ("10:00", None),
        ("31.12.2024", None),
    ],
)
def test_days_come_first_with_dots_alone_and_no_other_text_is_a_date(text, date):
    assert is_date(text) == (date is not None)
    if date is not None:
        assert microseconds_since_1970(text) == microseconds_since_1970(date)


@pytest.mark.parametrize("with_date", [True, False])
def test_dates_and_times_of_day_do_not_mix(write, schema, lines, rows, with_date, way):
    """A stamp without its date would be of 1970."""
    texts = ["10:00:{:06.3f}", "2024-05-01T10:00:{:06.3f}"]
    for i, seconds in enumerate(rows[:, 0], start=1):
        text = texts[with_date != (i > 10)]
        lines = replaced(lines, i, 0, text.format(seconds))
    got = texts[not with_date].format(rows[10, 0])
    with pytest.raises(LogError, match=rf"line 12, column 't': .*got '{got}'; write .* every row"):
        read_log(write(lines), schema())


def test_zones_of_dates_count(write, schema, numbered, lines):
    pose = [replaced(lines, i, 0, f"2024-05-01T12:00:{i:02}+02:00")[i] for i in range(1, 21)]
    wrench = [replaced(lines, i, 0, f"2024-05-01T10:00:{i:02}.5")[i] for i in range(1, 20)]
    streams = {
        "pose": {"file": write([lines[0], *pose], "p.csv").name},
        "wrench": {"file": write([lines[0], *wrench], "w.csv").name},
    }
    recording = read_log(write(lines).parent, schema(streams=streams))
    assert recording.streams[0].time[0] == -0.5


def test_no_comment_mark_at_all(write, schema, lines, rows, way):
    path = write([f"{line},tool #{i % 3},x" for i, line in enumerate(lines)])
    assert_is_small_log(read_log(path, schema(log={"comment": ""})), rows)


def test_bytes_of_another_encoding_in_comments_and_names(write, schema, lines, rows, way):
    text = "\n".join(
        ["# 20 \xb0C, M\xfcller", lines[0] + ",\xb0C", *(x + ",20" for x in lines[1:])]
    )
    assert_is_small_log(read_log(write(text.encode("latin-1")), schema()), rows)


def test_unused_columns_are_ignored(write, schema, lines, rows, way):
    labels = ["label,notes", "grasp,", 'pick,"a, b"', "nan,#1", '"say ""hi""",?']
    path = write([f"{line},{labels[i % 5 if i else 0]}" for i, line in enumerate(lines)])
    assert_is_small_log(read_log(path, schema(log={"comment": ""})), rows)


def test_numbers_are_exact_to_the_last_bit(write, numbered, way):
    rng = np.random.default_rng(1)
    values = rng.standard_normal((300, 6)) * 10.0 ** rng.integers(-20, 20, (300, 6))
    text = [
        f"{i},0,0,0,0,0,0,1," + ",".join(map(repr, map(float, row))) for i, row in enumerate(values)
    ]
    recording = read_log(write(text), numbered())
    np.testing.assert_array_equal(recording.signals["force"], values[:, :3])
    np.testing.assert_array_equal(recording.signals["torque"], values[:, 3:])


@pytest.mark.parametrize("text", ["1.", ".5", "+1.5", "1E3", "-0", "1e-400", " 7 "])
def test_spellings_of_numbers(write, numbered, lines, text, way):
    fields = lines[5].split(",")
    path = write([*lines[1:5], ",".join([*fields[:8], text, *fields[9:]]), *lines[6:]])
    assert read_log(path, numbered()).signals["force"][4, 0] == float(text)


# What is wrong, and where


def test_names_on_another_line_are_found(write, schema, lines):
    path = write(["prose", "more prose", *lines])
    with pytest.raises(MissingColumn, match=r"line 3 has these names: set header_lines = 3") as e:
        read_log(path, schema())
    assert e.value.exit_code == 2
    with pytest.raises(MissingColumn, match=r"line 1 has these names: set header_lines = 1"):
        read_log(write(lines), schema(log={"header_lines": 2}))
    with pytest.raises(LogError, match=r"header_lines = 0 .*line 1 has these names: set header_"):
        read_log(write(lines), schema(log={"header_lines": 0}))


def test_another_separator_is_recognised(write, schema, numbered, lines):
    path = write([line.replace(",", ";") for line in lines])
    with pytest.raises(MissingColumn, match='set separator = ";" in'):
        read_log(path, schema())
    path = write([line.replace(",", "\t") for line in lines[1:]])
    with pytest.raises(MissingColumn, match=r'no column \d+: .* set separator = "\\t" in \[log\]'):
        read_log(path, numbered())


@pytest.mark.parametrize(
    ("between", "message"),
    [
        ((";", ";"), r"no 'px' among \['t', 'p_x', .*so it is with separator = \";\", to be set"),
        (("\t", "\t"), r"no 'px' among \['t', 'p_x', .*so it is with separator = \"\\t\""),
        ((";", ","), 'it has ";" between its names, and the rows have ",": write the line as'),
        ((",", ";"), "no 'px' among .*set separator = \";\" in .* if that is what separates them"),
    ],
)
def test_a_header_that_is_half_broken_keeps_the_advice_on_separators(
    write, schema, lines, between, message
):
    header = lines[0].replace("px", "p_x").replace(",", between[0])
    path = write([header, *(line.replace(",", between[1]) for line in lines[1:])])
    with pytest.raises(MissingColumn, match=message):
        read_log(path, schema())


def test_a_header_and_rows_with_other_separators_are_named(write, schema, lines):
    path = write([lines[0], *(line.replace(",", ";") for line in lines[1:])])
    with pytest.raises(LogError, match=r'have ";" between their fields, and the header has ","'):
        read_log(path, schema())
    whole = [lines[0].replace(",", ";"), *(line.replace(",", ";") for line in lines[1:])]
    german = write([line.replace(".", ",") for line in whole])
    with pytest.raises(MissingColumn, match=r'with another separator it has: set separator = ";"'):
        read_log(german, schema())


def test_a_missing_column_names_the_nearest(write, schema, lines):
    with pytest.raises(MissingColumn, match=r"no 'tauz' among .*") as caught:
        read_log(write(lines), schema(wrench={"torque": ["tx", "ty", "tauz"]}))
    assert caught.value.column == "tauz"
    with pytest.raises(MissingColumn, match=r"did you mean 'px'\?"):
        read_log(write(lines), schema(pose={"position": ["p_x", "py", "pz"]}))
    with pytest.raises(MissingColumn, match=r"no column 'time' among \['t', 'px'"):
        read_log(write(lines), schema(log={"time": "time"}))
    with pytest.raises(MissingColumn, match=r"no column 99: it has 14 columns, numbered from 0"):
        read_log(write(lines), schema(wrench={"torque": [0, 1, 99]}))


def test_numeric_header_is_reported(write, schema, numbered, lines, rows):
    default = numbered(log={"header_lines": None})
    with pytest.raises(LogError, match=r"line 1 holds numbers .*set header_lines = 0"):
        read_log(write(lines[1:]), default)
    with pytest.raises(MissingColumn, match=r"it holds numbers: .* set header_lines = 0"):
        read_log(write(lines[1:]), schema())
    assert len(read_log(write(lines[1:]), numbered(log={"header_lines": 1}))) == len(rows) - 1
    assert_is_small_log(read_log(write(lines), default), rows)


def test_a_header_of_another_width_than_the_rows(write, schema, lines):
    with pytest.raises(LogError, match=r"line 1 names 15 columns, but the rows have 14 fields"):
        read_log(write([lines[0] + ",extra", *lines[1:]]), schema())
    with pytest.raises(LogError, match=r"line 1 names 14 columns, but the rows have 15 fields"):
        read_log(write([lines[0], *(line + ",7" for line in lines[1:])]), schema())


def test_duplicate_column_name_is_rejected(write, schema, lines):
    path = write([lines[0] + ",fx", *(line + ",7" for line in lines[1:])])
    with pytest.raises(LogError, match=r"columns \[8, 14\] are all called 'fx'.*by its number"):
        read_log(path, schema())
    assert read_log(path, schema(wrench={"force": [14, "fy", "fz"]})).signals["force"][3, 0] == 7


def replaced(lines, number, column, text):
    fields = lines[number].split(",")
    fields[column] = text
    return [*lines[:number], ",".join(fields), *lines[number + 1 :]]


@pytest.mark.parametrize("text", ["abc", "1_000", "0x1p3", "1 2", "--1", "1e"])
def test_text_where_a_number_should_be(write, schema, lines, text, way):
    path = write(["# a comment", *replaced(lines, 7, 9, text)])
    with pytest.raises(
        LogError, match=rf"log.csv: line 9, column 'fy': expected a number, got '{text}'.*drop_bad"
    ) as caught:
        read_log(path, schema())
    assert (caught.value.exit_code, caught.value.row, caught.value.column) == (2, 9, "fy")
    assert caught.value.path == path
    recording = read_log(path, schema(log={"drop_bad_rows": True}))
    assert len(recording) == 19
    assert recording.dropped.not_numbers == recording.dropped.total == 1
    assert recording.time is not None
    assert 0.06 not in recording.time


def test_remedies_fit_the_text(write, schema, numbered, lines):
    semicolons = [line.replace(",", ";") for line in lines]
    semicolons[1] = semicolons[1].replace(".", ",")
    with pytest.raises(LogError, match=r'it has a decimal comma: set decimal = "," in'):
        read_log(write(semicolons), schema(log={"separator": ";"}))
    with pytest.raises(
        LogError, match="write time stamps as numbers of time_unit, or in every row as a date"
    ):
        read_log(write(replaced(lines, 4, 0, "2024-05-01 10:00:00")), schema())
    with pytest.raises(LogError, match="if line 2 is of the header, set header_lines = 2"):
        read_log(write(["# made by a robot", *lines]), numbered(log={"header_lines": None}))


@pytest.mark.parametrize("text", ["", "nan", "NaN", "-nan", "NA", "null", "inf", "-Infinity"])
@pytest.mark.parametrize("column", [0, 2, 13])
def test_numbers_that_are_not_finite_are_dropped_and_counted(
    write, schema, lines, text, column, way
):
    recording = read_log(write(replaced(lines, 7, column, text)), schema())
    assert (len(recording), recording.rows) == (19, 20)
    assert recording.dropped.not_finite == recording.dropped.total == 1


def test_too_many_rows_that_are_not_finite(write, schema, lines, way):
    for i in range(2, 6):
        lines = replaced(lines, i, 9, "nan")
    for i in range(6, 8):
        lines = replaced(lines, i, 1, "nan")
    message = (
        r"6 of 20 rows are unusable, more than 10%: 6 with NaN.*column 'fy' of log.csv is the "
        r"worst; drop_bad_rows = true in \[log\] admits up to 50%"
    )
    with pytest.raises(LogError, match=message) as caught:
        read_log(write(lines), schema())
    assert caught.value.exit_code == 2
    assert read_log(write(lines), schema(log={"drop_bad_rows": True})).dropped.total == 6
    for i in range(8, 16):
        lines = replaced(lines, i, 9, "")
    with pytest.raises(LogError, match=r"14 of 20 rows are unusable, more than 50%.*fix the file"):
        read_log(write(lines), schema(log={"drop_bad_rows": True}))
    with pytest.raises(LogError, match=r"14 of 20 rows .*is the worst; fix the file"):
        read_log(write(lines), schema())


@pytest.mark.parametrize("keep", [1, 20, 60, 150])
def test_a_last_row_cut_short_is_dropped_and_counted(write, schema, lines, keep, way):
    text = "\n".join([*lines[:-1], lines[-1][:keep]])
    for end in ("", "\n"):
        recording = read_log(write(text + end), schema())
        assert (len(recording), recording.rows) == (19, 20)
        assert recording.dropped.cut_short == recording.dropped.total == 1


@pytest.mark.parametrize("rest", ["", "-", "1.5e", "1.5e-", "n", "."])
def test_truncated_last_number_is_dropped_and_counted(write, schema, lines, rest, way):
    text = "\n".join(lines).rpartition(",")[0] + "," + rest
    assert read_log(write(text), schema()).dropped.cut_short == 1
    if rest:
        with pytest.raises(LogError, match=f"line 21, column 'tz': .*got '{rest}'"):
            read_log(write(text + "\n"), schema())


def test_rows_of_another_length_are_not_guessed_at(write, schema, lines, way):
    short = [*lines[:5], lines[5].rpartition(",")[0], *lines[6:]]
    with pytest.raises(LogError, match="line 6: expected 14 fields as in the other rows, got 13"):
        read_log(write(short), schema())
    recording = read_log(write(short), schema(log={"drop_bad_rows": True}))
    assert recording.dropped.not_numbers == recording.dropped.total == 1
    with pytest.raises(LogError, match="line 8: expected 14 fields as in the other rows, got 15"):
        read_log(write([*lines[:7], lines[7] + ",1", *lines[8:]]), schema())
    with pytest.raises(LogError, match=r"line 4: .* got 2; a comment begins at '#'"):
        read_log(write([*lines[:3], "0.1,2#3," + lines[3], *lines[4:]]), schema())


def test_unterminated_quote_does_not_swallow_rows(write, schema, lines, way):
    lines = [line + ",ok" for line in lines]
    lines[4] = lines[4].removesuffix("ok") + '"a'
    lines[9] = lines[9].removesuffix("ok") + 'b"'
    recording = read_log(write(lines), schema())
    assert (recording.rows, recording.dropped.total) == (20, 0)


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "  \n"])
def test_an_empty_file(write, schema, text):
    with pytest.raises(LogError, match=r"log.csv: is empty; expected a log") as caught:
        read_log(write(text), schema())
    assert caught.value.exit_code == 2


def test_a_header_alone(write, schema, lines):
    with pytest.raises(LogError, match=r"has no data rows after its header \(1 line\)"):
        read_log(write(lines[:1]), schema())
    with pytest.raises(LogError, match=r"has no data rows after its header"):
        read_log(write([*lines[:1], "# nothing", ""]), schema())


def test_files_that_are_not_text(write, schema, lines):
    with pytest.raises(LogError, match="is not text but a binary file"):
        read_log(write(bytes(range(256)) * 9, "log.dat"), schema())
    for text in (
        '{"t": [0.0, 0.1]}',
        '[\n {"t": 0.0},\n {"t": 0.1}\n]',
        '{"t": 0.0}\n{"t": 0.1}\n',
    ):
        with pytest.raises(LogError, match="is JSON; expected delimited text, or a file whose"):
            read_log(write(text.encode(), "log.txt"), schema())
    packed = gzip.compress("\n".join(lines).encode())
    with pytest.raises(LogError, match="cannot be read as a gzip file"):
        read_log(write(packed[:-20], "log.csv.gz"), schema())
    with pytest.raises(LogError, match="cannot be read as a gzip file"):
        read_log(write(b"\n".join([b"t,x"]), "log.csv.gz"), schema())


def test_gzip_decompression_bomb_is_rejected(write, schema, lines, monkeypatch):
    monkeypatch.setattr("identify.files._ACCEPTED_EXPANDED_BYTES", 1000)
    bomb = gzip.compress("\n".join([*lines, *([lines[-1]] * 100_000)]).encode())
    with pytest.raises(LogError, match=r"compressed bytes expand to \d+ or more; expected at most"):
        read_log(write(bomb, "log.csv.gz"), schema())


@pytest.mark.parametrize("end", ["\n", "\r", ""])
@pytest.mark.parametrize("fill", ["1", "1,"])
def test_a_line_without_end_is_rejected(write, schema, lines, fill, end):
    lines[3] = fill * (2**20 // len(fill)) + fill
    path = write("\n".join(lines[:4]) + end)
    with pytest.raises(LogError, match="line 4 is longer than 1048576 characters") as caught:
        read_log(path, schema())
    assert caught.value.row == 4


def test_log_of_single_truncated_row_is_rejected(write, schema, lines):
    with pytest.raises(LogError, match=r"no row can be used; of 1, .* 1 cut short"):
        read_log(write([lines[0], "0,1,2"]), schema())


def test_a_header_longer_than_the_file(write, schema, lines):
    with pytest.raises(LogError, match=r"header_lines = 40 in \[log\], but it has only 21 lines"):
        read_log(write(lines), schema(log={"header_lines": 40}))


def test_a_log_whose_first_stamp_has_no_point_is_parsed_once(
    write, schema, lines, rows, monkeypatch
):
    parsed = []
    parse = reader.pacsv.read_csv

    def count(*options):
        parsed.append(parse(*options))
        return parsed[-1]

    monkeypatch.setattr(reader, "pacsv", SimpleNamespace(**{**vars(pacsv), "read_csv": count}))
    lines[1] = "0" + lines[1][lines[1].index(",") :]
    assert_is_small_log(read_log(write(lines), schema()), rows)
    assert len(parsed) == 1
