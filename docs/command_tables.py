"""Tables of commands.md: options from `--help`, shapes, sensors, simulators from their registries.

The page has a comment, such as <!-- options: study run -->, in the place of each table.
"""

import contextlib
import io
import os
import re
from unittest import mock

from identify.commands.command import parse_command
from identify.commands.main import COMMANDS
from identify.exchange.simulators import SIMULATORS
from identify.inertia.shapes.registry import SHAPES, shape_sizes
from identify.logs.wrench_sensors import wrench_sensors

_MARK = re.compile(r"^<!-- (?P<table>\w+)(: (?P<command>[a-z -]+))? -->$", re.MULTILINE)
_BOX = re.compile(r"^╭─ (?P<title>.*?) ─+╮\n(?P<rows>.*?)^╰", re.MULTILINE | re.DOTALL)
_OF_ALL_COMMANDS = ("-h", "--json")


def fill_tables(page):
    """Return the page with a table in the place of each comment."""
    tables = {
        "options": options_table,
        "shapes": shapes_table,
        "limits": limits_table,
        "sensors": sensors_table,
    }
    return _MARK.sub(lambda mark: tables[mark["table"]](*filter(None, [mark["command"]])), page)


def sensors_table():
    """Return the types of force-torque sensors and the accuracy of their scale as Markdown."""
    rows = []
    for name, sensor in wrench_sensors().items():
        accuracy = sensor.gain_accuracy
        shown = "not stated" if accuracy is None else f"`{accuracy}`"
        rows.append(
            f"| `{name}` | {sensor.title} | {shown} | {sensor.stated} "
            f"| [{sensor.source}]({sensor.address}) |"
        )
    head = ["| sensor | type | `gain_accuracy` | stated | source |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def options_table(command):
    """Return the options of a command as Markdown, a table for each group of its help."""
    groups = option_groups(command)
    tables = []
    for description, options in groups:
        rows = [
            f"| `{invocation}` | {meaning} |".replace(" | box", r" \| box")
            for invocation, meaning in options.items()
        ]
        lead = [f"{description}", ""] if description and len(groups) > 1 else []
        tables.append("\n".join([*lead, "| option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(tables)


def option_groups(command):
    """Return the groups of `--help`: the description, and the meaning of each option."""
    shown = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # boxes are drawn in UTF-8
    with (
        mock.patch.dict(os.environ, COLUMNS="100"),
        contextlib.redirect_stdout(shown),
        contextlib.suppress(SystemExit),
    ):
        parse_command(COMMANDS[command], ["--help"], command)
    shown.seek(0)
    groups = []
    for box in _BOX.finditer(shown.read()):
        if box["title"] == "positional arguments":
            continue
        lines = [line.strip("│")[1:].rstrip() for line in box["rows"].splitlines()]
        description, options = "", {}
        for line in filter(None, lines):
            invocation, _, meaning = line.partition("  ")
            if line.startswith("-"):
                options[invocation] = meaning.strip()
            elif line.startswith(" "):
                last = next(reversed(options))
                options[last] = f"{options[last]} {line.strip()}".strip()
            elif not line.startswith("─"):
                description = line
        options = {k: v for k, v in options.items() if not k.startswith(_OF_ALL_COMMANDS)}
        if options:
            groups.append((description, options))
    return groups


def shapes_table():
    """Return the shapes that `identify shape` knows as a Markdown table."""
    rows = [
        f"| `{name}` | {', '.join(size.name for size in shape_sizes(name))} | {what} | {origin} |"
        for name, (_, what, origin) in SHAPES.items()
    ]
    head = ["| shape | sizes [m] | what it is | origin |", "|---|---|---|---|"]
    return "\n".join([*head, *rows])


def limits_table():
    """Return the limits of simulators on the inertia of a link as a Markdown table."""
    rows = [
        f"| `{name}` | {_mass_limit(it)} | {_moment_limit(it)} | {_excess_limit(it)} |"
        f" {it.refusal or 'loads any numbers'} |"
        for name, it in SIMULATORS.items()
    ]
    head = [
        "| `--for` | mass [kg] | moments [kg m²] | C beyond A + B [kg m²] | otherwise it |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows])


def _mass_limit(simulator):
    if simulator.max_triangle_excess is None:
        return "any"
    return f"{simulator.smallest_mass:g} or more" if simulator.smallest_mass else "above 0"


def _moment_limit(simulator):
    if not simulator.smallest_moment:
        return "any"
    computed = simulator.smallest_computed_moment
    return f"{simulator.smallest_moment:g} or more, {computed:g} if it computes them"


def _excess_limit(simulator):
    if simulator.max_triangle_excess is None:
        return "any"
    if simulator.max_relative_excess:
        return f"{simulator.max_relative_excess / 2:.1e} (A + B + C)"
    absolute = simulator.max_triangle_excess
    return f"{absolute:.1e}, of a C above 1 times C" if absolute else "none"
