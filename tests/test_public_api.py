"""A snapshot of what is public (docs/api-stability.md): names, options, keys and exit statuses.

python -m tests.test_public_api    # writes tests/public_api.json anew
"""

import inspect
import json
import pkgutil
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import identify
from identify.commands.command import UsageError
from identify.commands.main import COMMANDS
from identify.errors import IdentifyError
from identify.findings import FINDING_CODES
from identify.lazy import attach
from identify.logs import Schema
from identify.studies.document import StudyDocument

SNAPSHOT = Path(__file__).with_name("public_api.json")


def public_api() -> dict[str, Any]:
    """What is public now."""
    names = {}
    infos = pkgutil.walk_packages(identify.__path__, "identify.")
    for name in ("identify", *(info.name for info in infos if info.ispkg)):
        module = import_module(name)
        if Path(module.__path__[0], "__init__.pyi").exists():
            _, _, public = attach(name, f"{module.__path__[0]}/__init__.py")
            shown = name == "identify"  # elsewhere parameters may still move before 1.0
            names[name] = {
                each: parameters(getattr(module, each)) if shown else [] for each in sorted(public)
            }
    errors = [IdentifyError, UsageError, *subclasses(IdentifyError)]
    return {
        "names": names,
        "commands": {name: options(kind) for name, kind in COMMANDS.items()},
        "schema": model_keys(Schema),
        "study": sorted(StudyDocument.model_fields),
        "findings": sorted(FINDING_CODES),
        "exit_statuses": {error.__name__: error.exit_code for error in errors},
    }


def parameters(thing: object) -> list[str]:
    if not callable(thing):
        return []
    try:
        return list(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return []


def options(kind: Any) -> list[str]:
    if isinstance(kind, str):
        module, _, name = kind.partition(":")
        kind = getattr(import_module(f"identify.commands.{module}"), name)
    return sorted(field.name for field in fields(kind))


def model_keys(model: Any) -> dict[str, Any]:
    schema = model.model_json_schema()
    tables = {"": schema, **schema.get("$defs", {})}
    return {name: sorted(table.get("properties", {})) for name, table in sorted(tables.items())}


def subclasses(kind: type[IdentifyError]) -> list[type[IdentifyError]]:
    return [each for sub in kind.__subclasses__() for each in (sub, *subclasses(sub))]


def lacking(before: Any, now: Any, place: str = "") -> list[str]:
    """Names of what a snapshot has and the code has no more, or that has another value."""
    if isinstance(before, dict):
        return [
            one
            for key, value in before.items()
            for one in (
                lacking(value, now[key], f"{place}/{key}") if key in now else [f"{place}/{key}"]
            )
        ]
    if isinstance(before, list):
        return [f"{place}/{each}" for each in before if each not in now]
    return [] if before == now else [f"{place}: {before} is {now}"]


def test_nothing_public_is_gone():
    before = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    gone = lacking(before, public_api())
    assert not gone, f"{gone}: see docs/api-stability.md; python -m tests.test_public_api"


def test_the_comparison_sees_what_is_gone():
    before = {"names": {"fit": ["log", "schema"]}, "status": 2}
    assert lacking(before, {"names": {"fit": ["log"]}, "status": 3}) == [
        "/names/fit/schema",
        "/status: 2 is 3",
    ]
    assert lacking(before, {"names": {}, "status": 2}) == ["/names/fit"]


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(public_api(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
