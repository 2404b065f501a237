import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import identify

ROOT = Path(__file__).parent.parent
API = ROOT / "docs" / "api"
FOR_DEVELOPERS = {ROOT / "docs" / "extending.md"}
"""Pages for those who change the toolkit."""
PAGES = {
    page.stem: module
    for page in sorted(API.glob("*.md"))
    for module in re.findall(r"automodule:: (\S+)", page.read_text(encoding="utf-8"))
}
INSIDE = {"reporting.study", "simulation.integrators"}
"""Packages with names that the toolkit alone uses, or that another page shows."""


def shown(module: str) -> set[str]:
    """The names that the page of a module shows."""
    loaded = importlib.import_module(module)
    return set(getattr(loaded, "__all__", vars(loaded)))


def test_every_package_with_public_names_has_a_page_and_every_page_is_listed():
    found = [
        info.name for info in pkgutil.walk_packages(identify.__path__, "identify.") if info.ispkg
    ]
    public = {name for name in found if hasattr(importlib.import_module(name), "__all__")}
    missing = {name.removeprefix("identify.") for name in public - set(PAGES.values())}
    assert missing == INSIDE
    listed = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8").splitlines()
    assert set(PAGES) <= set(listed)


@pytest.mark.parametrize("page", sorted(API.glob("*.md")), ids=lambda page: page.stem)
def test_api_pages_open_with_an_example(page):
    text = page.read_text(encoding="utf-8")
    if "automodule::" in text:
        assert 0 < text.find("```python") < text.find("automodule::")


@pytest.mark.parametrize(
    "page",
    [
        ROOT / "README.md",
        *sorted({*(ROOT / "docs").glob("*.md")} - FOR_DEVELOPERS),
        *sorted(API.glob("*.md")),
    ],
    ids=lambda page: page.stem,
)
def test_examples_import_what_a_page_shows(page):
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(r"^from (identify[\w.]*) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
    for module, block, line in pattern.findall(text):
        assert module in PAGES.values(), module
        wanted = re.findall(r"\w+", block or line.partition("#")[0])
        assert set(wanted) <= shown(module), module
