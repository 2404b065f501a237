"""Every way a log, a schema or a call is known to be wrong: its message, its exit status."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.endtoend.estimates import load

pytestmark = pytest.mark.usefixtures("no_report")


@pytest.fixture
def fit(cli, log, tmp_path):
    """Fit the log as it is now."""
    return lambda *words: cli(
        "fit", log.path, "--schema", log.schema, "-o", tmp_path / "out", *words
    )


@pytest.fixture
def estimate(tmp_path):
    return lambda: json.loads((tmp_path / "out" / "estimate.json").read_text())


@pytest.fixture
def edit_schema(log):
    """Replace a line of the schema."""

    def edit(old: str, new: str) -> None:
        text = log.schema.read_text()
        assert old in text
        log.schema.write_text(text.replace(old, new))

    return edit


def column(rows: list[list[str]], name: str) -> int:
    return rows[0].index(name)


def put(rows: list[list[str]], line: int, name: str, value: str) -> list[list[str]]:
    """A value into a line of the file, counted from one as editors do."""
    rows[line - 1][column(rows, name)] = value
    return rows


def refused(outcome, tmp_path, status: int) -> str:
    """The message of a call that failed, and left nothing behind."""
    assert outcome.status == status
    assert not (tmp_path / "out").exists()
    return outcome.message


# --- files ---------------------------------------------------------------------------------------


def test_the_log_is_good_as_it_is(fit, estimate):
    outcome = fit()
    assert (outcome.status, outcome.err) == (0, "")
    assert estimate()["dropped_rows"] == 0


def test_missing_log(cli, log, tmp_path):
    near = tmp_path / "lgo.csv"
    message = refused(cli("fit", near, "--schema", log.schema, "-o", tmp_path / "out"), tmp_path, 2)
    assert message == f"{near}: no such file; did you mean 'log.csv'?"


def test_missing_schema(cli, log, tmp_path):
    outcome = cli("fit", log.path, "--schema", tmp_path / "s.toml", "-o", tmp_path / "out")
    assert refused(outcome, tmp_path, 2).startswith(f"{tmp_path / 's.toml'}: no such file")


def test_missing_truth(fit, tmp_path):
    message = refused(fit("--truth", tmp_path / "truth.json"), tmp_path, 2)
    assert message.startswith(f"{tmp_path / 'truth.json'}: no such file")


def test_truth_without_a_body(fit, tmp_path):
    (tmp_path / "truth.json").write_text('{"weight": 3}')
    message = refused(fit("--truth", tmp_path / "truth.json"), tmp_path, 2)
    assert "truth.json: no body: neither phi nor mass" in message


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"mass": -1.0, "com": [0, 0, 0], "inertia_about_com": [[1, 0, 0]] * 3}, "symmetric|mass"),
        ({"phi": [1, 0, 0, 0, 1, 0, 0, 1, 0, 9]}, "impossible: triangle inequality"),
        ({"phi": [0] * 10}, "a massless frame"),
    ],
)
def test_a_truth_that_cannot_be(fit, tmp_path, body, reason):
    (tmp_path / "truth.json").write_text(json.dumps(body))
    message = refused(fit("--truth", tmp_path / "truth.json"), tmp_path, 2)
    assert "truth.json: " in message
    assert re.search(reason, message)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("--gravity 0 0 1e300", "gravity = [0.0, 0.0, 1e+300] m/s²; expected three numbers within"),
        ("--mass-between 1e300 1e301", "--mass-between LO HI: "),
        ("--mass-between 2 1", "--mass-between LO HI: "),
        ("--com-box 0 1e300 0 1e300 0 1e300", "--com-box X0 X1 Y0 Y1 Z0 Z1: "),
    ],
)
def test_absurd_numbers_of_an_option(fit, tmp_path, words, option):
    assert option in refused(fit(*words.split()), tmp_path, 2)


def test_absurd_gravity_of_a_schema(fit, log, tmp_path):
    text = re.sub(r"gravity = .*", "", log.schema.read_text()).replace("[world]", "")
    log.schema.write_text(f"{text}\n[world]\ngravity = [0, 0, 1e300]\n")
    assert "gravity = [0.0, 0.0, 1e+300]" in refused(fit(), tmp_path, 2)


def test_empty_file(fit, log, tmp_path):
    log.path.write_text("")
    assert "log.csv: " in (message := refused(fit(), tmp_path, 2))
    assert "empty" in message


def test_header_and_nothing_else(fit, spoil, tmp_path):
    spoil(lambda rows: rows[:1])
    assert "log.csv: " in (message := refused(fit(), tmp_path, 2))
    assert "no data rows" in message


def test_unknown_key_of_the_schema(fit, edit_schema, tmp_path):
    edit_schema("acts_on =", "act_on =")
    message = refused(fit(), tmp_path, 2)
    assert "log.toml" in message
    assert "'act_on'" in message
    assert "did you mean 'acts_on'?" in message


# --- rows ----------------------------------------------------------------------------------------


def test_missing_column(fit, edit_schema, tmp_path):
    edit_schema('"fx"', '"fxx"')
    message = refused(fit(), tmp_path, 2)
    assert "log.csv" in message
    assert "'fxx'" in message
    assert "did you mean 'fx'?" in message


def test_text_where_a_number_should_be(fit, spoil, estimate, edit_schema, tmp_path):
    spoil(lambda rows: put(rows, 12, "fx", "oops"))
    message = refused(fit(), tmp_path, 2)
    assert message.startswith(f"{tmp_path / 'log.csv'}: line 12, column 'fx': expected a number")
    assert "got 'oops'" in message
    assert "drop_bad_rows = true" in message

    edit_schema("[log]\n", "[log]\ndrop_bad_rows = true\n")
    outcome = fit()
    assert (outcome.status, outcome.err) == (0, "")
    assert estimate()["dropped_rows"] == 1
    assert "1 of 800 rows dropped" in outcome.out


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", ""])
def test_rows_that_are_not_finite_are_dropped_and_counted(fit, spoil, estimate, value):
    def change(rows):
        for line in (30, 31, 400):
            put(rows, line, "ty", value)
        return rows

    spoil(change)
    outcome = fit()
    assert (outcome.status, outcome.err) == (0, "")
    assert estimate()["dropped_rows"] == 3
    assert "3 of 800 rows dropped" in outcome.out


def test_too_many_rows_that_are_not_finite(fit, spoil, tmp_path):
    def change(rows):
        for line in range(2, 402):
            put(rows, line, "ty", "nan")
        return rows

    spoil(change)
    message = refused(fit(), tmp_path, 2)
    assert "400 of 800 rows are unusable" in message
    assert "'ty'" in message


def test_last_row_cut_short(fit, spoil, log, estimate):
    spoil(lambda rows: [*rows[:-1], rows[-1][:5]])
    outcome = fit()
    assert (outcome.status, outcome.err) == (0, "")
    assert estimate()["dropped_rows"] == 1
    assert "1 cut short" in outcome.out


def test_another_row_cut_short(fit, spoil, tmp_path):
    spoil(lambda rows: [*rows[:100], rows[100][:5], *rows[101:]])
    assert "log.csv: line 101: expected 14 fields" in refused(fit(), tmp_path, 2)


def test_time_going_backwards(fit, spoil, tmp_path):
    spoil(lambda rows: put(rows, 300, "t", "0.5"))
    message = refused(fit(), tmp_path, 2)
    assert "log.csv: line 300: time goes back from 2.97 to 0.5" in message


def test_one_sample(fit, spoil, tmp_path):
    spoil(lambda rows: rows[:2])
    message = refused(fit(), tmp_path, 2)
    assert "log.csv: has one sample only" in message
    assert "still = true" in message


def test_quaternion_of_zeros(fit, spoil, tmp_path):
    def change(rows):
        for name in ("qx", "qy", "qz", "qw"):
            put(rows, 20, name, "0")
        return rows

    spoil(change)
    message = refused(fit(), tmp_path, 2)
    assert "log.csv: line 20" in message
    assert "quaternion" in message


# --- content -------------------------------------------------------------------------------------


def test_a_dead_sensor(fit, spoil, tmp_path):
    def change(rows):
        for row in rows[1:]:
            row[column(rows, "fx") : column(rows, "tz") + 1] = ["0"] * 6
        return rows

    spoil(change)
    message = refused(fit(), tmp_path, 2)
    assert "the force is [0.0, 0.0, 0.0] in all 800 rows: the sensor was off" in message


def test_nothing_changes_but_noise(fit, spoil, tmp_path):
    """A body held still: one pose cannot tell its weight from the sensor's bias."""

    def change(rows):
        first = rows[1][1:8]
        for row in rows[1:]:
            row[1:8] = first
        return rows

    spoil(change)
    message = refused(fit(), tmp_path, 3)
    assert "does not identify m" in message


def test_every_signal_is_constant(fit, spoil, tmp_path):
    def change(rows):
        return [rows[0], *([row[0], *rows[1][1:]] for row in rows[1:])]

    spoil(change)
    assert "in all 800 rows: the sensor was off" in refused(fit(), tmp_path, 2)


def test_one_still_pose(fit, spoil, edit_schema, tmp_path):
    edit_schema('time = "t"', "still = true")
    spoil(lambda rows: rows[:2])
    message = refused(fit(), tmp_path, 3)
    assert "does not identify m" in message
    assert "poses" in message


def test_one_still_pose_without_bias_tells_the_mass_but_not_where_it_is(
    fit, spoil, edit_schema, tmp_path
):
    edit_schema('time = "t"', "still = true")
    spoil(lambda rows: rows[:2])
    assert "does not identify" in refused(fit("--no-bias"), tmp_path, 3)


def test_wrench_of_the_other_sign(fit, edit_schema, tmp_path):
    edit_schema('acts_on = "body"', 'acts_on = "sensor"')
    message = refused(fit(), tmp_path, 3)
    assert re.match(r"the unconstrained mass is -1\.3\d* kg, so a sign is wrong", message)
    assert '[wrench], change `acts_on = "sensor"` to `acts_on = "body"`' in message


def test_the_same_log_twice(cli, log, tmp_path):
    outcome = cli("fit", log.path, log.path, "--schema", log.schema, "-o", tmp_path / "out")
    assert "the same data as log" in refused(outcome, tmp_path, 2)


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--mass", "heavy"), "Error parsing --mass: expected numbers, got 'heavy'"),
        (("--mass", "-1"), "mass: expected a positive number of kg, got -1.0"),
        (("--mass", "nan"), "mass: expected a positive number of kg, got nan"),
        (("--mass", "inf"), "mass: expected a positive number of kg, got inf"),
        (("--mass", "0"), "mass: expected a positive number of kg, got 0.0"),
        (("--mass", "1e-300"), "mass: 1e-300 kg would weigh 9.81e-300 N, which no log can tell"),
        (("--mass", "1e300"), "mass: 1e+300 kg would weigh 9.81e+300 N, which no log can tell"),
        (("--cutoff", "0"), "cut-off: expected a positive number of Hz, got 0.0"),
        (("--gravity", "0", "0", "nan"), "gravity: expected three finite numbers"),
        (("--no-bias", "--shared-bias"), "fit: --no-bias and --shared-bias exclude each other"),
    ],
)
def test_nonsense(fit, tmp_path, words, message):
    assert message in refused(fit(*words), tmp_path, 2)


NO_TIMES = (
    ("1e-6", 'time = "t"', "a cut-off of 1e-06 Hz, which takes 1.7e+06 s (1.72917e+08 rows)"),
    ("1e-300", 'time = "t"', "a cut-off of 1e-300 Hz"),
    (None, 'time = "t"\ntime_unit = "ns"', 'time_unit = "ns": 800 rows would be 7.99e-09 s'),
    ("5", 'time = "t"\ntime_unit = "us"', "800 rows, which would be 8e-06 s"),
    (None, "rate_hz = 1e300", "rate_hz = 1e+300: 800 rows would be 7.99e-298 s"),
    (None, "rate_hz = 1e-300", "rate_hz = 1e-300: 800 rows would be 7.99e+302 s"),
    (None, "rate_hz = 5e-324", "800 rows would be inf s"),
)
"""A cut-off, lines of the schema's clock, and what is said of them."""

_ONE_AFTER_THE_OTHER = """
import json, sys, time
from identify.commands.main import main

for words in json.loads(sys.argv[1]):
    before = time.process_time()
    status = main(words)
    print(status, time.process_time() - before, flush=True)
    print("next", file=sys.stderr, flush=True)
"""

_MEASURED = (  # by a process between: a child of this one would count its memory too
    "import resource, subprocess, sys; status = subprocess.call(sys.argv[1:]); "
    "unit = 2**20 if sys.platform == 'darwin' else 1024; "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit); sys.exit(status)"
)


def test_a_time_no_log_takes_is_refused_before_anything_is_as_long(log, tmp_path):
    """In one process, which then has the memory of the largest."""
    text, calls = log.schema.read_text(), []
    for number, (cutoff, clock, _) in enumerate(NO_TIMES):
        schema = tmp_path / f"{number}.toml"
        assert 'time = "t"' in text
        schema.write_text(text.replace('time = "t"', clock))
        words = ["fit", log.path, "--schema", schema, "-o", tmp_path / "out"]
        calls.append([*map(str, words), *([] if cutoff is None else ["--cutoff", cutoff])])
    each = (sys.executable, "-c", _ONE_AFTER_THE_OTHER, json.dumps(calls))
    run = subprocess.run(
        [sys.executable, "-c", _MEASURED, *each], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    *ends, megabytes = run.stdout.splitlines()
    said = run.stderr.split("next\n")[:-1]
    for end, error, (*_, message) in zip(ends, said, NO_TIMES, strict=True):
        status, seconds = end.split()
        assert (status, message in error) == ("2", True), error
        assert "Warning" not in error
        assert float(seconds) <= 3
    assert float(megabytes) <= 500


def test_a_cut_off_the_log_is_too_slow_for(fit, tmp_path):
    assert "cut-off" in refused(fit("--cutoff", "60"), tmp_path, 2)


def test_a_mass_the_log_contradicts_is_a_possible_body_that_is_not_to_be_used(fit, estimate):
    """What is given is believed, and both files are written; the verdict and the status say no."""
    outcome = fit("--mass", "2.6", "--quiet")
    assert (outcome.status, outcome.out) == (4, "")
    first, second, *_ = outcome.err.splitlines()
    codes = "choice_contradicted, unexplained"
    assert first == f"identify: error: this estimate is not to be used ({codes})"
    assert second.startswith("error: fitted with the mass given as 2.6 kg, ")
    assert "Check the mass that was given" in second
    found = estimate()
    assert found["mass"] == 2.6
    assert found["decided_by"]["m"] == "given"
    assert found["verdict"]["usable"] == "no"
    assert set(found["verdict"]["reasons"]) == {"unexplained", "choice_contradicted"}


@pytest.mark.usefixtures("no_report")
@pytest.mark.parametrize(
    ("key", "wrong", "code"),
    [
        ('"xyzw"', '"wxyz"', "quaternion_order"),
        ("frame = ", 'frame = "world" #', "wrench_frame"),
    ],
)
def test_two_wrong_keys_of_a_schema_end_with_4_and_are_not_exported(
    cli, shipped, tmp_path, key, wrong, code
):
    """The order of the quaternion or the wrench's frame, and its sign: both lines are named."""
    schema = (shipped / "schema.toml").read_text()
    for right, other in ((key, wrong), ('acts_on = "sensor"', 'acts_on = "body"')):
        assert right in schema
        schema = schema.replace(right, other)
    (tmp_path / "wrong.toml").write_text(schema)
    words = ("--schema", tmp_path / "wrong.toml", "-o", tmp_path / "out")
    outcome = cli("fit", shipped / "payload_arm.parquet", *words)
    assert outcome.status == 4
    assert load(tmp_path / "out")["r_squared"][0] < 0.5
    assert f"Usable: no ({code.replace('_', ' ')}; unexplained" in outcome.out
    assert 'change `acts_on = "body"` to `acts_on = "sensor"`' in outcome.out
    assert "Possible: yes" in outcome.out
    assert "Explains the data: no" in outcome.out
    assert "Certified" not in outcome.out
    refused = cli("export", tmp_path / "out" / "estimate.json", "--to", "ur")
    assert (refused.status, refused.out) == (4, "")
    assert "not to be used" in refused.err


def test_a_need_that_is_none_is_refused_with_the_grammar(fit, tmp_path):
    said = refused(fit("--need", "mass one"), tmp_path, 2)
    assert "'mass one' is not a need; expected such as \"mass 1%, com 2mm, inertia 10%\"" in said


@pytest.mark.usefixtures("no_report")
def test_needs_are_answered_one_by_one(fit, estimate):
    outcome = fit("--need", "mass 5%, com 0.001 mm")
    assert outcome.status == 0
    assert re.search(r"^Need mass 5%: met, ± [\d.e-]+ %\.$", outcome.out, re.MULTILINE)
    assert re.search(r"^Need com 0.001 mm: not met, ± [\d.e-]+ mm\.$", outcome.out, re.MULTILINE)
    assert "Usable: with care (com 0.001 mm is not met)." in outcome.out
    assert estimate()["verdict"]["needs"] == {"mass 5%": True, "com 0.001 mm": False}


def test_a_tool_point_in_millimetres_is_refused_before_anything_is_written(fit, log, tmp_path):
    text = log.schema.read_text()
    log.schema.write_text(f"{text}\n[body.tcp]\npose = [0, 0, 65, 0, 0, 0]\n")
    said = refused(fit(), tmp_path, 2)
    assert f"{log.schema.name}: [body] tcp: the tool point is 65 m from the flange" in said
    assert 'set unit = "mm"' in said
