import importlib.util
import re
from pathlib import Path

import pytest

from identify.logs.units import ACCELERATION_UNITS, FORCE_UNITS, TORQUE_UNITS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "log-schema.md").read_text(encoding="utf-8")


def load_schema_tables():
    spec = importlib.util.spec_from_file_location("schema_tables", ROOT / "docs/schema_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = load_schema_tables()


def test_every_table_of_the_schema_has_a_block():
    """Tables of streams have the keys of `[log]` and a file, which the page says."""
    listed = [name for name, _ in TABLES.BLOCK.findall(PAGE)]
    known = [name for name in TABLES.TABLES if not name.startswith("streams")]
    assert sorted(listed) == sorted(known)
    assert set(TABLES.TABLES["streams.pose"].model_fields) == {*TABLES.keys_of("log"), "file"}


def test_every_key_is_in_its_table_with_type_default_and_meaning():
    page = TABLES.fill_tables(PAGE)
    assert "{schema-table}" not in page
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.*?) ?\| (.+) \|$", page, re.MULTILINE)
    of_key = {(key, default): (kind, meaning) for key, kind, default, meaning in rows}
    assert of_key["maps", '`"body_to_world"`'][0] == '`"body_to_world"`, `"world_to_body"`'
    assert of_key["gravity", "`[0, 0, -9.80665]`"][0] == "3 numbers"
    assert of_key["names", "required"] == (
        "n texts",
        "Names of the n joints, as the robot's URDF has them; all lists have this order.",
    )
    assert of_key["still", "`false`"][0] == "`true`, `false`"
    assert "| `point_m` [m] | 0.003 | 0.15 | " in page


def test_block_with_other_keys_than_the_schema_is_refused():
    with pytest.raises(ValueError, match=r"schema-table world: lists \['gravity'\], expected"):
        TABLES.fill_tables("```{schema-table} world\ngravity\n```")


def test_units_on_the_page_are_those_that_are_checked():
    page = TABLES.fill_tables(PAGE)
    for units in (ACCELERATION_UNITS, FORCE_UNITS, TORQUE_UNITS):
        assert ", ".join(f'`"{unit}"`' for unit in units) in page
