import os
from io import StringIO
from pathlib import Path

import pytest
from rich.table import Table

from identify.commands import main as entry
from identify.commands.command import Command, Outcome
from identify.commands.output import (
    OutputError,
    error_lines,
    require_writable,
    require_writable_file,
    wrapped_lines,
)
from identify.errors import MissingFile, SchemaError
from identify.files import is_device_or_pipe, write_bytes
from identify.findings import Finding
from identify.pipeline.misread_error import MisreadLog

NAMES = ("estimate.json", "report.html")


def test_a_new_or_an_existing_folder_will_do(tmp_path):
    require_writable(tmp_path / "a" / "b", NAMES)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "estimate.json").write_text("of an earlier fit")
    require_writable(tmp_path, NAMES)
    assert [path.name for path in tmp_path.iterdir()] == ["estimate.json"]


def test_a_name_with_a_nul_in_it(tmp_path):
    with pytest.raises(OutputError, match="cannot contain NUL; choose another -o"):
        require_writable(tmp_path / "o\0ut", NAMES)
    with pytest.raises(OutputError, match="cannot contain NUL; choose another -o"):
        require_writable_file(tmp_path / "fixed\0.urdf")


def test_existing_file_in_place_of_output_folder_is_rejected(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(OutputError, match=r"file: is a file; give -o the name of a folder"):
        require_writable(file, NAMES)
    with pytest.raises(OutputError, match=r"file: is a file, so the folder .* cannot be created"):
        require_writable(file / "a" / "b", NAMES)
    (tmp_path / "report.html").mkdir()
    with pytest.raises(
        OutputError, match=r"report\.html: is a folder, but a result file has this name"
    ):
        require_writable(tmp_path, NAMES)
    assert file.read_text() == "mine"


@pytest.mark.skipif(os.name == "nt", reason="no pipes with names")
def test_output_to_a_pipe_is_rejected_and_pipe_is_kept(tmp_path, cli):
    pipe = tmp_path / "report.html"
    os.mkfifo(pipe)
    with pytest.raises(
        OutputError, match=r"report\.html: is not a regular file but a device or a pipe"
    ):
        require_writable(tmp_path, NAMES)
    with pytest.raises(MissingFile, match="is not a regular file but a device or a pipe"):
        write_bytes(pipe, b"page")
    outcome = cli("shape", "rod", 1, "--mass", 1, "-o", pipe)
    assert (outcome.status, pipe.is_fifo()) == (2, True)
    assert is_device_or_pipe(Path("/dev/stdout"))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_output_folder_is_rejected(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="cannot be written to: Permission denied") as caught:
            require_writable(tmp_path / "out", NAMES)
    finally:
        tmp_path.chmod(0o700)
    assert caught.value.exit_code == 2


def test_brackets_are_not_markup_and_tables_are_not_cut(cli, monkeypatch):
    table = Table(title="[red]x")
    table.add_column("a", no_wrap=True)
    table.add_row("[/b]" + 200 * "1")

    class Show(Command):
        """Show."""

        def run(self, invocation):
            return Outcome(lines=[table])

    monkeypatch.setattr(entry, "COMMANDS", {**entry.COMMANDS, "show": Show})
    out = cli.done("show")
    assert "[red]x" in out
    assert "[/b]" + 200 * "1" in out


def test_an_error_is_its_reason_with_a_line_for_each_remedy_and_the_override():
    remedy = "In the schema, [log], set `a = 1`. Or: In the schema, set `b`. Or fit with --apply x."
    finding = Finding("spikes", "error", "it is wrong.", remedy, where="run")
    assert error_lines(MisreadLog("no mass", finding)) == [
        "run: it is wrong.",
        "  as read: no mass",
        "  remedy: In the schema, [log], set `a = 1`.",
        "  or: In the schema, set `b`.",
        "  override: fit with --apply x.",
    ]
    assert error_lines(SchemaError("one line")) == ["one line"]


def test_lines_are_wrapped_for_a_terminal_only(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    lines = ["  remedy: " + "word " * 6, "short"]
    stream = StringIO()
    assert wrapped_lines(lines, stream) == lines
    monkeypatch.setattr(stream, "isatty", lambda: True)
    assert wrapped_lines(lines, stream) == [
        "  remedy: word word",
        "    word word word",
        "    word",
        "short",
    ]
