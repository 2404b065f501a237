import json
import re
from collections.abc import Iterable

import pytest

from tests.endtoend.estimates import load

pytestmark = pytest.mark.usefixtures("no_report")


@pytest.fixture
def fit(cli, log, tmp_path):
    return lambda *words: cli(
        "fit", log.path, "--schema", log.schema, "-o", tmp_path / "out", "--verbose", *words
    )


@pytest.fixture
def estimate(tmp_path):
    return lambda: json.loads((tmp_path / "out" / "estimate.json").read_text())


@pytest.fixture
def edit_schema(log):

    def edit(old: str, new: str) -> None:
        text = log.schema.read_text()
        assert old in text
        log.schema.write_text(text.replace(old, new))

    return edit


def refused(outcome, tmp_path, status: int) -> str:
    """The message of a call that failed, and left nothing behind."""
    assert outcome.status == status
    assert not (tmp_path / "out").exists()
    return outcome.message


def cells(names: str, lines: Iterable[int], value: str):
    """Puts a value into columns of lines, counted from one as editors do."""

    def change(rows: list[list[str]]) -> list[list[str]]:
        for line in lines:
            for name in names.split():
                rows[line - 1][rows[0].index(name)] = value
        return rows

    return change


def test_bad_rows_are_dropped_where_that_is_allowed_and_a_last_row_cut_short_always(
    fit, spoil, estimate, edit_schema
):
    spoil(lambda rows: [*cells("fx", [12], "oops")(rows)[:-1], rows[-1][:5]])
    edit_schema("[log]\n", "[log]\ndrop_bad_rows = true\n")
    outcome = fit()
    assert (outcome.status, outcome.err) == (0, "")
    assert estimate()["dropped_rows"] == 2
    assert "1 cut short" in outcome.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--mass heavy", "Error parsing --mass: expected numbers, got 'heavy'"),
        ("--mass 1e300", "mass: 1e+300 kg would weigh 9.81e+300 N, which no sensor measures"),
        ("--cutoff 60", "cut-off"),
        ("--gravity 0 0 1e300", "gravity = [0.0, 0.0, 1e+300] m/s²; expected three numbers with"),
        ("--no-bias --shared-bias", "fit: --no-bias cannot be combined with --shared-bias"),
        ("--mass-between 2 1", "--mass-between LO HI: "),
        ("--com-box 0 1e300 0 1e300 0 1e300", "--com-box X0 X1 Y0 Y1 Z0 Z1: "),
    ],
)
def test_nonsense_input_is_rejected(fit, tmp_path, words, message):
    assert message in refused(fit(*words.split()), tmp_path, 2)


NO_TIMES = (
    ("1e-6", 'time = "t"', "a cut-off of 1e-06 Hz, which takes 1.7e+06 s (1.72917e+08 rows)"),
    ("1e-300", 'time = "t"', "a cut-off of 1e-300 Hz"),
    (None, 'time = "t"\ntime_unit = "ns"', 'time_unit = "ns": 800 rows would last 7.99e-09 s'),
    ("5", 'time = "t"\ntime_unit = "us"', "800 rows, which would be 8e-06 s"),
    (None, "rate_hz = 1e300", "rate_hz = 1e+300: 800 rows would last 7.99e-298 s"),
    (None, "rate_hz = 1e-300", "rate_hz = 1e-300: 800 rows would last 7.99e+302 s"),
    (None, "rate_hz = 5e-324", "800 rows would last inf s"),
)
"""A cut-off, lines of the schema's clock, and what is said of them."""


@pytest.mark.parametrize(("cutoff", "clock", "message"), NO_TIMES)
def test_implausible_clock_is_rejected(fit, edit_schema, tmp_path, cutoff, clock, message):
    edit_schema('time = "t"', clock)
    words = [] if cutoff is None else ["--cutoff", cutoff]
    assert message in refused(fit(*words), tmp_path, 2)


@pytest.mark.slow
def test_contradicted_mass_gives_consistent_but_unusable_estimate(fit, estimate):
    outcome = fit("--mass", "2.6", "--quiet")
    assert (outcome.status, outcome.out) == (4, "")
    first, second, *_ = outcome.err.splitlines()
    codes = "choice_contradicted, gain, kinematic_offset"
    assert first == f"identify: error: this estimate must not be used ({codes})"
    assert second.startswith("identify: error: the logs contradict the given values or options: ")
    assert "Check the given mass" in second
    found = estimate()
    assert found["mass"] == 2.6
    assert found["decided_by"]["m"] == "given"
    assert found["verdict"]["usable"] == "no"
    assert set(found["verdict"]["reasons"]) == {"choice_contradicted", "gain", "kinematic_offset"}


@pytest.mark.slow
def test_two_wrong_keys_of_a_schema_end_with_4_and_are_not_exported(cli, shipped, tmp_path):
    """The order of the quaternion, and the sign of the wrench: both lines are named."""
    schema = (shipped / "schema.toml").read_text()
    for right, other in (('"xyzw"', '"wxyz"'), ('acts_on = "sensor"', 'acts_on = "body"')):
        assert right in schema
        schema = schema.replace(right, other)
    (tmp_path / "wrong.toml").write_text(schema)
    words = ("--schema", tmp_path / "wrong.toml", "-o", tmp_path / "out", "--verbose")
    outcome = cli("fit", shipped / "payload_arm.parquet", *words)
    assert outcome.status == 4
    assert load(tmp_path / "out")["r_squared"][0] < 0.5
    assert "Usable: no (quaternion order; unexplained" in outcome.out
    assert 'change `acts_on = "body"` to `acts_on = "sensor"`' in outcome.out
    assert "Physically consistent: yes" in outcome.out
    assert "Explains the data: no" in outcome.out
    assert "Certified" not in outcome.out
    refused = cli("export", tmp_path / "out" / "estimate.json", "--to", "ur")
    assert (refused.status, refused.out) == (4, "")
    assert "must not be used" in refused.err


def test_each_need_is_answered(fit, estimate):
    outcome = fit("--need", "mass 5%, com 0.001 mm")
    assert outcome.status == 4
    (width,) = re.findall(r"^Mass: yes, (± [\d.e-]+ %.*)$", outcome.out, re.MULTILINE)
    assert f"\nNeed mass 5%: met, {width}\n" in outcome.out
    assert re.search(r"^Need com 0.001 mm: not met, ± [\d.e-]+ mm[;.]", outcome.out, re.MULTILINE)
    assert "Usable: no (com 0.001 mm is not met)." in outcome.out
    assert estimate()["verdict"]["needs"] == {"mass 5%": True, "com 0.001 mm": False}


def test_a_tool_point_in_millimetres_is_rejected_before_anything_is_written(fit, log, tmp_path):
    text = log.schema.read_text()
    log.schema.write_text(f"{text}\n[body.tcp]\npose = [0, 0, 65, 0, 0, 0]\n")
    said = refused(fit(), tmp_path, 2)
    assert f"{log.schema.name}: [body] tcp: the tool point is 65 m from the flange" in said
    assert 'set unit = "mm"' in said
