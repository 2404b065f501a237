import importlib
import pkgutil
import re
from pathlib import Path

import identify

ROOT = Path(__file__).parent.parent
API = ROOT / "docs" / "api"
PAGES = {
    page.stem: module
    for page in sorted(API.glob("*.md"))
    for module in re.findall(r"automodule:: (\S+)", page.read_text(encoding="utf-8"))
}
INSIDE = {"reporting.study", "simulation.integrators"}
"""Packages with names that the toolkit alone uses, or that another page shows."""


def test_every_package_with_public_names_has_a_page_and_every_page_is_listed():
    found = [
        info.name for info in pkgutil.walk_packages(identify.__path__, "identify.") if info.ispkg
    ]
    public = {name for name in found if hasattr(importlib.import_module(name), "__all__")}
    missing = {name.removeprefix("identify.") for name in public - set(PAGES.values())}
    assert missing == INSIDE
    listed = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8").splitlines()
    assert set(PAGES) <= set(listed)
