import ast
import io
import itertools
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typeguard

import identify
from identify.commands import main as entry
from identify.commands.command import Command, Outcome, parse_command
from identify.commands.doctor import package_version
from identify.errors import LogError, ProblemError, SolveError


@pytest.fixture
def failing(monkeypatch):
    """Registers a command `fail` that raises what it is given."""

    def register(error: BaseException) -> None:
        @dataclass(frozen=True)
        class Fail(Command):
            """Fail."""

            def run(self, invocation: str) -> Outcome:
                raise error

        monkeypatch.setattr(entry, "COMMANDS", {**entry.COMMANDS, "fail": Fail})

    return register


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_help_names_every_command(cli, word):
    out = cli.done(word)
    assert out.startswith("usage: identify ")
    assert "  fit " in out
    assert "  doctor " in out


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_version(cli, word):
    assert cli(word) == (0, f"identify {package_version()}\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no command given; commands: {known}; see identify --help"),
        (("fitt",), "unknown command 'fitt'; did you mean 'fit'?"),
        (("Doctor",), "unknown command 'Doctor'; did you mean 'doctor'?"),
        (("photo.jpg",), "unknown command 'photo.jpg'; commands: {known}"),
        (("--verison",), "unknown option '--verison'; did you mean '--version'?"),
        (("--quux",), "unknown option '--quux'; commands: {known}"),
    ],
)
def test_a_wrong_command_is_bad_use(cli, words, message):
    outcome = cli(*words)
    known = ", ".join(dict.fromkeys(name.split()[0] for name in entry.COMMANDS))
    assert (outcome.status, outcome.message) == (2, message.format(known=known))


@pytest.fixture
def group(monkeypatch):
    """Registers the commands `pair one` and `pair two`."""

    @dataclass(frozen=True)
    class One(Command):
        """Do the first."""

        def run(self, invocation: str) -> Outcome:
            return Outcome(lines=[invocation])

    monkeypatch.setattr(entry, "COMMANDS", {**entry.COMMANDS, "pair one": One, "pair two": One})


def test_a_command_of_two_words(cli, group):
    assert cli("pair", "one") == (0, "identify pair one\n", "")
    assert "pair one: unexpected x" in cli("pair", "one", "x").message
    assert "pair: unknown command 'on'; did you mean 'one'?" in cli("pair", "on").message
    assert "did you mean 'pair'" in cli("pairs").message
    assert "usage: identify pair one" in cli("pair", "one", "--help").out


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_shell_completion_lists_commands_and_options(cli, shell):
    text = cli.done("--completion", shell)
    for word in ("doctor", "compare", "--shared-bias", "--retry-failed"):
        assert word in text


def test_completion_is_of_a_shell_that_is_known(cli):
    for words in ((), ("sh",), ("bash", "zsh")):
        message = cli("--completion", *words).message
        assert message == "--completion: expected one of bash, fish, zsh"


@pytest.mark.parametrize("words", [("pair",), ("pair", "--help")])
def test_a_group_lists_its_commands(cli, group, words):
    out = cli.done(*words)
    assert out.startswith("usage: identify pair COMMAND ...")
    assert "  pair one  Do the first" in out
    assert "doctor" not in out


@pytest.mark.parametrize(
    ("error", "status"),
    [(LogError("of a log"), 2), (ProblemError("of a problem"), 3), (SolveError("of a solver"), 3)],
)
def test_an_error_raised_on_purpose_is_a_message_and_its_status(cli, failing, error, status):
    failing(error)
    outcome = cli("fail")
    assert (outcome.status, outcome.message) == (status, str(error))


def test_an_interrupt_is_130(cli, failing):
    failing(KeyboardInterrupt())
    assert cli("fail") == (130, "", "identify: interrupted\n")


def test_unexpected_error_shows_traceback_as_bug(cli, failing):
    failing(ZeroDivisionError("oh"))
    status, out, err = cli("fail")
    assert (status, out) == (1, "")
    assert "Traceback (most recent call last)" in err
    assert "ZeroDivisionError: oh" in err
    assert "identify: error: this is a bug (ZeroDivisionError); please report it" in err


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed there")
def test_deleted_working_directory_is_reported(cli, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for words in (("doctor",), ("fit", "log.csv", "--schema", "s.toml"), ("shape", "box", "1")):
        status, out, err = cli(*words)
        assert (status, out) == (2, "")
        assert err.startswith("identify: error: the working directory was removed")


def test_a_broken_pipe_is_quiet():
    program = [sys.executable, "-m", "identify", "datasets", "list"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # long before anything is printed
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_command_line_starts_without_slow_imports():
    slow = ["numpy", "scipy", "pandas", "pyarrow", "cvxpy", "matplotlib", "pydantic", "jinja2"]
    program = (
        "import sys; from identify.commands.main import main; "
        "assert main(['--help']) == 0; assert main(['fit', '--help']) == 0; "
        f"print('imported', [name for name in {slow} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("imported []\n")


ARM = "datasets/arms/six_axes"
ARM_OPTIONS = f"--unloaded {ARM}/empty.parquet --robot {ARM}/arm.urdf --frame tool0".split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "options", "also_unused"),
    [
        ("payload_arm/payload_arm", [], ["clarabel", "scipy.sparse"]),
        ("arms/six_axes/loaded", ARM_OPTIONS, ["scipy.stats"]),
    ],
)
def test_a_fit_loads_no_package_that_it_does_not_use(tmp_path, log, options, also_unused):
    folder = f"datasets/{log.rpartition('/')[0]}/"
    words = [f"datasets/{log}.parquet", "--schema", folder + "schema.toml", *options]
    unused = ["pandas", "cvxpy", "matplotlib", *also_unused]
    unused += ["scipy.interpolate", "scipy.optimize", "pyarrow.compute", "numpy.f2py.crackfortran"]
    program = (
        "import sys; from identify.commands.main import main; "
        f"assert main(['fit', *{words}, '-o', {str(tmp_path)!r}, '--quiet']) == 0; "
        f"print('imported', [name for name in {unused} if name in sys.modules]); "
        "import numpy; numpy.f2py.crackfortran, numpy.testing.assert_equal"
    )
    root = Path(identify.__path__[0]).parent
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root)
    assert (done.returncode, done.stdout, done.stderr) == (0, "imported []\n", "")
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", entry.COMMANDS)
def test_every_default_is_of_its_type(name):
    """With typeguard loaded tyro warns of one that is not; a warning is an error here."""
    assert typeguard.check_type(1, int) == 1
    with pytest.raises(SystemExit):
        parse_command(entry.COMMANDS[name], ["--help"], name)


def test_text_that_the_output_cannot_encode_is_escaped(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(written, encoding="ascii"))
    assert entry.main(["fit", "x", "--schema", "s\udcff\xe9.toml", "-o", "out"]) == 2
    sys.stderr.flush()
    assert written.getvalue().startswith(b"identify: error: s\\udcff\\xe9.toml: no such file")


def test_control_characters_in_messages_are_escaped(cli):
    outcome = cli("fit\x1b[2J\r\udcff")
    assert outcome.message.startswith("unknown command 'fit\\x1b[2J\\r\\udcff'")
    outcome = cli("fit", "x", "--schema", "red\x1b[31m.toml", "-o", "out")
    assert outcome.message.startswith("red\\x1b[31m.toml: no such file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "identify", "--help"], stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 2
    assert done.stderr == b"identify: error: No space left on device\n"


def test_os_errors_are_not_reported_as_bugs(cli, failing):
    failing(PermissionError(13, "Permission denied", "/somewhere"))
    outcome = cli("fail")
    assert (outcome.status, outcome.message) == (2, "/somewhere: Permission denied")


def test_empty_argument_is_not_a_folder(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = cli("shape", "rod", "1", "--mass", "1", "-o", "")
    assert (status, out) == (2, "")
    assert "perhaps an unset shell variable" in err
    assert list(tmp_path.iterdir()) == []


def test_option_docstrings_are_single_line():
    """The parser breaks the line of the help where a docstring does; longer texts are `help`."""
    folder = Path(entry.__file__).parent
    nodes = [node for path in folder.glob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    bodies = [node.body for node in nodes if isinstance(node, ast.ClassDef)]
    meanings = [
        text.value.value
        for body in bodies
        for field, text in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    ]
    assert len(meanings) > 50
    assert [text for text in meanings if "\n" in text] == []


def test_the_help_of_a_fit_is_in_groups(cli):
    out = cli.done("fit", "--help")
    groups = ("input", "known-body", "signals", "intervals", "output", "many-logs")
    places = [out.index(f"{group} options") for group in groups]
    assert places == sorted(places)
    assert places[1] < out.index("--shape-error") < places[2] < out.index("--no-bias") < places[3]
