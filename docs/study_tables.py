"""Tables of studies.md, from the docstrings of the registered kinds.

The page has a comment, such as <!-- kinds: logs -->, in the place of each table.
"""

import inspect
import json
import re

from identify.studies.estimators import ESTIMATORS
from identify.studies.perturbations import PERTURBATIONS
from identify.studies.sources import SOURCES

KINDS = {"logs": SOURCES, "perturbations": PERTURBATIONS, "estimators": ESTIMATORS}
"""Registries of kinds by the name of their tables in a study file."""

_MARK = re.compile(r"^<!-- kinds: (\w+) -->$", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


def fill_tables(page):
    """Return the page with a table in the place of each comment."""
    return _MARK.sub(lambda mark: kinds_table(mark[1]), page)


def kinds_table(name):
    """Return the kinds of a table of a study file, with their options, as Markdown."""
    rows = [
        f"| `{kind}` | {_description(of)} | {_options(of)} |" for kind, of in KINDS[name].items()
    ]
    return "\n".join(["| kind | what | options |", "|---|---|---|", *rows])


def _description(kind):
    """Return the docstring of a kind without its options, on one line."""
    return " ".join(inspect.getdoc(kind).partition("Attributes:\n")[0].split())


def _options(kind):
    """Return the options of a kind, each with its meaning and its default."""
    meanings = {}
    for of in reversed(kind.__mro__):
        attributes = inspect.cleandoc(of.__doc__ or "").partition("Attributes:\n")[2]
        meanings |= dict(_ATTRIBUTE.findall(attributes))
    parts = []
    for name, field in kind.model_fields.items():
        meaning = " ".join(meanings.get(name, "").split()).rstrip(".").replace("|", r"\|")
        default = (
            ""
            if field.is_required() or field.default is None
            else f" = {json.dumps(field.default)}"
        )
        parts.append(f"`{field.alias or name}{default}`" + (f": {meaning}" if meaning else ""))
    return "; ".join(parts)
