import re

import pytest

from identify.commands.main import COMMANDS
from tests.endtoend.conftest import ROOT
from tests.endtoend.estimates import KEYS, load

COMMANDS_PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def section_of(heading: str) -> str:
    """A section of the page of commands, by a pattern of its heading."""
    (found,) = re.findall(
        rf"^## {heading}.*?(?=^## |\Z)", COMMANDS_PAGE, flags=re.MULTILINE | re.DOTALL
    )
    return found


def options_described(heading: str) -> set[str]:
    """The options in the first cells of the table of a section."""
    lines = section_of(heading).splitlines()
    rows = [line.split(" | ")[0] for line in lines if line.startswith("| `-")]
    return set(re.findall(r"--[a-z][a-z-]+", " ".join(rows)))


@pytest.mark.parametrize("page", ["README.md", "docs/getting-started.md"])
def test_page_activates_the_environment_of_make_before_the_first_command(page):
    """It is not on the PATH, so that a first command without it is not found."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (environment,) = re.findall(r"^VENV := (\S+)$", makefile, flags=re.MULTILINE)
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    commands = [line.partition("#")[0].strip() for line in lines]
    first = next(k for k, command in enumerate(commands) if command.startswith("identify "))
    assert f". {environment}/bin/activate" in commands[:first]


OF_ALL = {"--help", "--json"}
"""Options of all commands, which have a section of their own."""


def test_every_option_is_documented(cli):
    options = set(re.findall(r"--[a-z][a-z-]+", cli("fit", "--help").out)) - OF_ALL
    assert options_described("fit: ") == options


@pytest.mark.parametrize("group", sorted({name.split()[0] for name in COMMANDS} - {"fit"}))
def test_every_option_of_the_other_commands_is_documented(cli, group):
    """In the table of the section of the page of commands whose title names the first word."""
    section = section_of(rf"(?:[a-z]+, )*{group}\b")
    members = [name for name in COMMANDS if name.split()[0] == group]
    helps = [cli(*name.split(), "--help").out for name in members]
    options = set(re.findall(r"(?<=[\s\[])--[a-z][a-z-]+", " ".join(helps))) - OF_ALL
    assert options_described(rf"(?:[a-z]+, )*{group}\b") - OF_ALL == options
    assert all(f"identify {name}" in section for name in members)


@pytest.mark.usefixtures("no_report")
def test_every_key_of_the_estimate_is_documented(cli, log, tmp_path):
    assert cli("fit", log.path, "--schema", log.schema, "-o", tmp_path / "out").status == 0
    estimate = load(tmp_path / "out")
    page = (ROOT / "docs" / "estimate-json.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (`[^|]+) \|(.+)\|$", page, flags=re.MULTILINE))
    first_cells = " ".join(rows)
    for key in KEYS:
        assert f"`{key}`" in first_cells, key
    for key in estimate["certificate"]:
        assert f"`{key}`" in rows["`certificate`"], key
    for key in estimate["provenance"].keys() - {"logs"}:
        assert f"`{key}`" in rows["`provenance`"], key
