from pathlib import Path

import pytest

from identify.commands.command import UsageError, _number_parsers, parse_command
from identify.commands.export import ExportCommand
from identify.commands.fit import Fit
from identify.commands.fit_options import (
    Input,
    Intervals,
    KnownBody,
    ManyLogs,
    Output,
    Signals,
)
from identify.commands.main import COMMANDS
from identify.commands.shape import ShapeCommand
from identify.commands.study import StudyCompare
from identify.estimation.terms import ComInBox, KnownCom, MassBetween, MassInBox

NEEDED = ("--schema", "s.toml", "-o", "out")


def parse(*words: str) -> Fit:
    return parse_command(Fit, words, "fit")


def test_every_option():
    words = "--truth t.json --mass 1.5 --no-bias --shared-bias --cutoff 4 --gravity 0 -1e-3 -9.81"
    assert parse("a.csv", "b.csv", *NEEDED, *words.split(), "--quiet") == Fit(
        input=Input((Path("a.csv"), Path("b.csv")), Path("s.toml")),
        known_body=KnownBody(mass=1.5),
        signals=Signals(no_bias=True, shared_bias=True, cutoff=4.0, gravity=(0.0, -1e-3, -9.81)),
        intervals=Intervals(),
        output=Output(Path("out"), truth=Path("t.json"), quiet=True),
        many_logs=ManyLogs(),
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
    assert fit.input.logs == (Path("a.csv"), Path("b.csv"))
    assert (fit.input.schema, fit.output.output) == (Path("s.toml"), Path("out"))
    assert fit.signals.gravity == (0.0, 0.0, -9.81)


@pytest.mark.parametrize(
    ("kind", "words", "message"),
    [
        (
            ExportCommand,
            "b.json --at 0 0 0",
            r"--at: expected 6 numbers, as in --at .* \[m, rad\]; got 3: 0 0 0",
        ),
        (ExportCommand, "b.json --frame 0 0 0 0 0 1 --link L", r"expected 7 .*quaternion.*got 6"),
        (Fit, "a.csv --com 1 2 3 4", r"--com 0 0 0.05 \[m\]; got 4: 1 2 3 4"),
        (Fit, "a.csv --gravity 0 0 down", r"\[m/s²\]; got 2: 0 0 down"),
        (Fit, "a.csv --mass-between -o out", r"1.2 1.4 \[kg\]; got 0: nothing"),
    ],
)
def test_too_few_or_too_many_numbers_are_named_with_unit_and_example(kind, words, message):
    with pytest.raises(UsageError, match=message):
        parse_command(kind, words.split(), "command")


def test_every_option_of_several_numbers_has_an_example():
    parsers = [pair for kind in COMMANDS.values() for pair in _number_parsers(kind).items()]
    assert {"--at", "--com", "--gravity", "--offset", "--noise", "--shape-at"} <= dict(
        parsers
    ).keys()
    for name, parser in parsers:
        numbers, unit = parser.example.removesuffix("]").split(" [")
        assert len(numbers.split()) == parser.count, name
        assert unit


def test_known_body_options_become_terms():
    words = "--mass-between 1 2 --com-box -1 1 -2 2 -3 3 --com 0 .1 .2 --bounding-box -1 1 -2 2 0 3"
    assert parse("a.csv", *NEEDED, *words.split()).known_body.terms() == (
        MassBetween(1.0, 2.0),
        ComInBox((-1.0, -2.0, -3.0), (1.0, 2.0, 3.0)),
        KnownCom((0.0, 0.1, 0.2)),
        MassInBox((-1.0, -2.0, 0.0), (1.0, 2.0, 3.0)),
    )
    fit = parse("a.csv", *NEEDED, *["--bounding-box", "0", "0", "0", "1", "0", "1"])
    with pytest.raises(UsageError, match=r"fit: --bounding-box X0 .* each low must be below"):
        fit.known_body.terms()


def test_last_value_of_repeated_option_is_used():
    assert parse("a.csv", *NEEDED, "--mass", "1", "--mass", "2").known_body.mass == 2.0


def test_other_words_may_stand_between_options():
    shape = parse_command(
        ShapeCommand, ["--mass", "3", "box", "1", "--density", "2", "3", "4"], "shape"
    )
    assert shape == ShapeCommand("box", ("1", "3", "4"), mass=(3.0,), density=("2",))
    words = "--frame 0 0 -1 0 0 0 1 e.json --to ur"
    export = parse_command(ExportCommand, words.split(), "export")
    assert (export.frame, export.to) == ((0, 0, -1, 0, 0, 0, 1), "ur")
    words = "--metric error out A --metric mass_error B"
    compared = parse_command(StudyCompare, words.split(), "study compare")
    assert (compared.first, compared.second) == ("A", "B")
    assert compared.metric == ("error", "mass_error")


def test_names_that_look_like_options():
    fit = parse("--schema=-s.toml", "-o=--out", "--", "--mass", "-o")
    assert (fit.input.schema, fit.output.output) == (Path("-s.toml"), Path("--out"))
    assert fit.input.logs == (Path("--mass"), Path("-o"))
    assert parse("a.csv", *NEEDED, "--", "--mass").input.logs == (Path("a.csv"), Path("--mass"))


def test_repeated_schema_option_is_rejected():
    with pytest.raises(
        UsageError, match=r"fit: --schema is given more than once, .* use Python: identify"
    ):
        parse("a.csv", *NEEDED, "b.csv", "--schema=t.toml")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("--masss", "; did you mean '--mass'?"),
        ("--masss=3", "; did you mean '--mass'?"),
        ("--Quiet", "; did you mean '--quiet'?"),
        ("--no-quiet", "; did you mean '--quiet'?"),
        ("-m", "; see identify fit --help"),
    ],
)
def test_the_nearest_of_an_unknown_option_is_named(word, hint):
    option = word.partition("=")[0]
    with pytest.raises(UsageError) as caught:
        parse("a.csv", *NEEDED, word, "3")
    assert str(caught.value) == f"fit: unknown option {option!r}{hint}"
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a.csv --schema s -o o --mass", ["Missing value", "--mass"]),
        ("a.csv --schema s -o o --mass --quiet", ["Missing value", "--mass"]),
        ("a.csv --schema s -o o --mass 1,5", ["--mass", "expected numbers, got '1,5'"]),
        ("a.csv --schema s -o o --mass None", ["--mass", "expected numbers, got 'None'"]),
        ("a.csv --schema s -o o --cutoff= ", ["--cutoff", "expected numbers, got ''"]),
        ("a.csv --schema s -o o --gravity 0 0", ["--gravity: expected 3 numbers"]),
        ("a.csv --schema s -o o --com-box 0 1 2", ["--com-box: expected 6 numbers"]),
        ("a.csv --schema s -o o --mass-between 1", ["--mass-between: expected 2 numbers"]),
        ("a.csv --schema s -o o --gravity=9", ["--gravity", "Expected 3 values"]),
        ("a.csv --schema s -o o --gravity 0 0 down", ["--gravity", "got 2: 0 0 down"]),
        ("", ["Missing", "-o OUT, --output OUT"]),
        ("a.csv --schema s -o o --friction bad", ["expected own or shared, got 'bad'"]),
        ("a.csv --schema s -o o --friction sharde", ["did you mean", "'shared'?"]),
        ("a.csv --schema s -o o --interval None", ["expected formula or bootstrap, got 'None'"]),
        ("--schema s -o o", ["fit: missing LOG [LOG ...]; see identify fit --help"]),
    ],
)
def test_a_mistake_is_named_and_bad_use(cli, words, said):
    status, out, err = cli("fit", *words.split())
    assert (status, out) == (2, "")
    for part in (*said, "identify fit --help"):
        assert part in err
