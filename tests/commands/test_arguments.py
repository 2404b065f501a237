"""Words into options: any order, exact names, one line for a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from identify.commands.arguments import parse_command
from identify.commands.doctor import Doctor
from identify.commands.errors import UsageError
from identify.commands.fit import Fit
from identify.commands.study_run import StudyRun

NEEDED = ("--schema", "s.toml", "-o", "out")


def parse(*words: str) -> Fit:
    return parse_command(Fit, words, "fit")


def test_defaults():
    assert parse("a.csv", *NEEDED) == Fit(
        logs=(Path("a.csv"),), schema=Path("s.toml"), output=Path("out")
    )


def test_every_option():
    words = "--truth t.json --mass 1.5 --no-bias --shared-bias --cutoff 4 --gravity 0 -1e-3 -9.81"
    assert parse("a.csv", "b.csv", *NEEDED, *words.split(), "--quiet") == Fit(
        logs=(Path("a.csv"), Path("b.csv")),
        schema=Path("s.toml"),
        output=Path("out"),
        truth=Path("t.json"),
        mass=1.5,
        no_bias=True,
        shared_bias=True,
        cutoff=4.0,
        gravity=(0.0, -1e-3, -9.81),
        quiet=True,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("a.csv", "b.csv", *NEEDED, "--gravity", "0", "0", "-9.81"),
        (*NEEDED, "--gravity", "0", "0", "-9.81", "a.csv", "b.csv"),
        ("a.csv", "--schema=s.toml", "--output=out", "b.csv", "--gravity", "0", "0", "-9.81"),
        ("a.csv", "-o=out", "--gravity", "0", "0", "-9.81", "--schema", "s.toml", "--", "b.csv"),
    ],
)
def test_logs_and_options_stand_in_any_order(words):
    fit = parse(*words)
    assert fit.logs == (Path("a.csv"), Path("b.csv"))
    assert (fit.schema, fit.output) == (Path("s.toml"), Path("out"))
    assert fit.gravity == (0.0, 0.0, -9.81)


def test_the_last_of_an_option_counts():
    assert parse("a.csv", *NEEDED, "--mass", "1", "--mass", "2").mass == 2.0


def test_names_that_look_like_options():
    """After `--`, or as the value of an option, a word that begins with a dash is a file's name."""
    fit = parse("--schema", "-s.toml", "-o=--out", "--", "--mass", "-o")
    assert (fit.schema, fit.output) == (Path("-s.toml"), Path("--out"))
    assert fit.logs == (Path("--mass"), Path("-o"))


@pytest.mark.parametrize(
    "name", ["[bold]x[/bold].csv", "a b.csv", "-", "é\n.csv", "%s{x}", "\udcff"]
)
def test_names_are_left_as_they_are(name):
    assert parse(name, *NEEDED).logs == (Path(name),)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a.csv --schema s --out o", "unknown option '--out'; did you mean '--output'?"),
        ("a.csv --sch s -o o", "unknown option '--sch'; did you mean '--schema'?"),
        ("a.csv --schema s -o o --masss 3", "unknown option '--masss'; did you mean '--mass'?"),
        (
            "a.csv --schema s -o o --no_bias",
            "unknown option '--no_bias'; did you mean '--no-bias'?",
        ),
        (
            "a.csv --schema s -o o --no-quiet",
            "unknown option '--no-quiet'; did you mean '--quiet'?",
        ),
        ("a.csv --schema s -o o -m 3", "unknown option '-m'; known: --schema, -o, --output, "),
        ("a.csv --schema s -o o --mass", "--mass takes one value: --mass KG; got none"),
        ("a.csv --schema s -o o --mass --quiet", "--mass takes one value: --mass KG; got none"),
        ("a.csv --schema s -o o --mass 1,5", "--mass KG: expected a number, got '1,5'"),
        ("a.csv --schema s -o o --mass None", "--mass KG: expected a number, got 'None'"),
        ("a.csv --schema s -o o --cutoff= ", "--cutoff HZ: expected a number, got ''"),
        (
            "a.csv --schema s -o o --gravity 0 0",
            "--gravity takes 3 values: --gravity X Y Z; got 0 0",
        ),
        (
            "a.csv --schema s -o o --gravity=9",
            "--gravity takes 3 values: --gravity X Y Z; got 9",
        ),
        (
            "a.csv --schema s -o o --gravity 0 0 down",
            "--gravity X Y Z: expected a number, got 'down'",
        ),
        ("a.csv --schema s -o o --quiet=yes", "--quiet takes no value; got yes"),
        ("", "missing LOG [LOG ...], --schema S.toml, --output OUT; see identify fit --help"),
        ("--schema s -o o", "missing LOG [LOG ...]; see identify fit --help"),
        ("a.csv -o o", "missing --schema S.toml; see identify fit --help"),
    ],
)
def test_a_mistake_is_named(words, message):
    with pytest.raises(UsageError) as caught:
        parse(*words.split())
    assert str(caught.value).startswith(f"fit: {message}")
    assert caught.value.exit_code == 2


def test_a_command_without_arguments_takes_none():
    assert parse_command(Doctor, [], "doctor") == Doctor()
    with pytest.raises(UsageError, match=r"^doctor: takes options only, got x y$"):
        parse_command(Doctor, ["x", "y"], "doctor")


def test_help_lists_every_option(cli):
    status, out, err = cli("fit", "a.csv", "--mass", "--help")
    assert (status, err) == (0, "")
    assert "usage: identify fit" in out
    for option in (
        "LOG [LOG ...]",
        "--schema S.toml",
        "-o OUT, --output OUT",
        "--truth FILE.json",
        "--mass KG",
        "--no-bias",
        "--shared-bias",
        "--cutoff HZ",
        "--gravity X Y Z",
        "--quiet",
    ):
        assert option in out
    assert "None" not in out


def test_an_option_that_may_be_repeated_keeps_every_value_in_order():
    words = ("a.toml", "--only", "log=x y", "-o", "out", "--only=estimator=psd", "--workers", "1")
    command = parse_command(StudyRun, words, "study run")
    assert command.only == ("log=x y", "estimator=psd")
    assert command.workers == 1
    assert parse_command(StudyRun, ("a.toml", "-o", "out"), "study run").only == ()
