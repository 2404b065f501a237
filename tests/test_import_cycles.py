"""Modules that import each other, directly or through others, wherever in the file."""

from pathlib import Path

import pytest

from scripts.size import import_cycles
from tests.slow import mostly_slow

ROOT = Path(__file__).parents[1]


FOLDERS = ["experiments", "identify", "scripts", "tests"]


@pytest.mark.parametrize("folder", mostly_slow(FOLDERS, {"experiments", "identify", "scripts"}))
def test_no_modules_import_each_other(folder):
    assert import_cycles(ROOT / folder) == []


def test_cycles_are_seen_inside_functions_and_of_one_module(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("from package.b import f\n", encoding="utf-8")
    (package / "b.py").write_text("def f():\n    import package.c\n", encoding="utf-8")
    (package / "c.py").write_text("from package import a\n", encoding="utf-8")
    (package / "d.py").write_text("from package.d import x\nimport package.a", encoding="utf-8")
    cycles = [["package.a", "package.b", "package.c"], ["package.d"]]
    assert import_cycles(package) == cycles
