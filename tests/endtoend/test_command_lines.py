"""The command lines of README and docs, of which examples with all their files run elsewhere."""

import re
import shlex
from itertools import pairwise

import pytest

from identify.commands.command import parse_command
from identify.commands.main import COMMANDS
from identify.exchange import EXPORT_FORMATS
from identify.pipeline.required_precision import parse_required_precision
from tests.endtoend.conftest import ROOT, load_script

PAGES = ["README.md", *(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^(?:\$ )?identify (?!:)([^|>\n]+)", re.MULTILINE)
RUN_WITHOUT_FILES = ("doctor", "datasets", "shape box", "design --wrist", "benchmark --quick")


def command_lines(text: str) -> list[str]:
    """Command lines in the blocks of a page, without the program's name."""
    blocks = BLOCK.findall(text.replace("\\\n", " "))
    return [line for block in blocks for line in LINE.findall(block)]


LINES = [
    pytest.param(line, id=f"{name}-{number}")
    for name in PAGES
    for number, line in enumerate(command_lines((ROOT / name).read_text(encoding="utf-8")), 1)
]


@pytest.fixture(scope="module")
def options() -> dict[str, set[str]]:
    """Options by command, as the help lists them."""
    tables = load_script("docs/command_tables.py")
    return {
        name: {"--help", "--json"}
        | {
            word
            for _, group in tables.option_groups(name)
            for invocation in group
            for word in invocation.split()
            if word.startswith("--")
        }
        for name in COMMANDS
    }


def command_of(words: list[str]) -> str:
    return next(name for name in (" ".join(words[:2]), words[0]) if name in COMMANDS)


@pytest.mark.parametrize("line", LINES)
def test_command_line_of_a_page_is_valid(cli, line, tmp_path, monkeypatch):
    """In an empty folder it is refused for its files alone."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line.replace("$D", "D"), comments=True)
    name = command_of(words)
    parse_command(COMMANDS[name], words[len(name.split()) :], name)
    for option, value in pairwise(words):
        if option == "--need":
            assert parse_required_precision(value)
        if option == "--to":
            assert value in EXPORT_FORMATS
    if not line.startswith(RUN_WITHOUT_FILES):
        words = [word for word in words if word != "--json"]
        assert re.search("no such file|no log|no results", cli.refused(*words))


@pytest.mark.parametrize("page", PAGES)
def test_options_in_the_text_of_a_page_exist(options, page):
    known = set.union(*options.values(), {"--version"})
    for code in re.findall(r"`([^`]+)`", (ROOT / page).read_text(encoding="utf-8")):
        used = {word.partition("=")[0] for word in re.findall(r"(?<!\S)--[a-z]\S*", code)}
        if re.match("identify [a-z]", code):
            words = code.split()[1:]
            assert words == ["study"] or used <= options[command_of(words)], code
        elif code.startswith("--"):
            assert used <= known, code
