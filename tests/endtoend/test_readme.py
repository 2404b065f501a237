import re
import shlex
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from identify.commands.main import COMMANDS
from identify.logs.wrench_sensors import wrench_sensors
from tests.close import assert_close
from tests.endtoend.conftest import BODY, ROOT, load_script
from tests.endtoend.estimates import KEYS, load


@pytest.mark.parametrize("page", ["README.md", "docs/getting-started.md"])
def test_page_activates_the_environment_of_make_before_the_first_command(page):
    """It is not on the PATH, so that a first command without it is not found."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (environment,) = re.findall(r"^VENV := (\S+)$", makefile, flags=re.MULTILINE)
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    commands = [line.partition("#")[0].strip() for line in lines]
    first = next(k for k, command in enumerate(commands) if command.startswith("identify "))
    assert f". {environment}/bin/activate" in commands[:first]


@pytest.fixture(scope="module")
def command_tables() -> ModuleType:
    return load_script("docs/command_tables.py")


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_quick_start_of_the_readme_runs(cli, log, monkeypatch):
    """On a log whose body frame is that of the flange."""
    monkeypatch.chdir(log.path.parent)
    log.path.rename("run.csv")
    (block,) = re.findall(
        r"^```console\n(\. \.venv.*?)^```",
        (ROOT / "README.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    schema = Path("run.toml")
    for line in block.splitlines()[1:]:
        _, *words = shlex.split(line, comments=True)
        if words[0] == "compare":
            shutil.copytree("out", "other")
        outcome = cli(*words)
        assert outcome.status == 0, outcome
        if words[0] == "init":
            schema.write_text(f"{schema.read_text()}\n[body.flange]\n")
    assert load(Path("out"))["verdict"]["usable"] != "no"
    mass = re.search(r"set_target_payload\(([\d.]+)", outcome.out)
    assert mass is not None
    assert_close(float(mass[1]), BODY.mass, 0.01)


OF_ALL = {"--help", "--json"}
"""Options of all commands, which the page describes once."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_the_help_is_in_the_table_of_its_command(cli, command_tables, name):
    help_text = cli(*name.split(), "--help").out
    options = set(re.findall(r"(?<=[\s\[])--[a-z][a-z-]+", help_text)) - OF_ALL
    rows = [row for _, group in command_tables.option_groups(name) for row in group.items()]
    words = " ".join(invocation for invocation, _ in rows).split()
    assert {word for word in words if word.startswith("--")} == options
    assert all(meaning for _, meaning in rows)


def test_the_page_of_commands_has_every_command_and_its_table(command_tables):
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    filled = command_tables.fill_tables(page)
    assert "<!--" not in filled
    for name in COMMANDS:
        assert f"identify {name}" in page
        assert not command_tables.option_groups(name) or f"<!-- options: {name} -->" in page
    assert "| `--unloaded LOG` |" in filled
    assert "| `sphere` | radius |" in filled
    assert "| `mujoco` | 1e-15 or more |" in filled
    for name, sensor in wrench_sensors().items():
        assert f"| `{name}` | {sensor.title} |" in filled


def test_the_page_of_studies_has_every_kind_with_the_meaning_of_its_options():
    tables = load_script("docs/study_tables.py")
    filled = tables.fill_tables((ROOT / "docs" / "studies.md").read_text(encoding="utf-8"))
    assert "<!--" not in filled
    for kinds in tables.KINDS.values():
        for kind in kinds:
            assert f"| `{kind}` | " in filled
    assert "; `rate_hz = 100.0`: samples a second; " in filled
    without_meaning = re.findall(r"`(\w+) = [^`]*`(?=;| \|)", filled)
    assert {name.partition("_")[2] or name for name in without_meaning} == {
        *("position", "orientation", "velocity", "acceleration", "force", "torque")
    }  # standard deviations of `noise`


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
