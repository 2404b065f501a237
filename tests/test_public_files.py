"""Files that people and platforms look for: the paper, rules of conduct, forms, the workflow."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from scripts.paper_tables import with_tables

ROOT = Path(__file__).parents[1]


def test_numbers_of_the_paper_come_from_reports(tmp_path):
    (tmp_path / "report.md").write_text("# A\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\ntext\n| 3 |\n")
    text = "x\n<!-- from report.md -->\nold\n<!-- end -->\n<!-- from none.md -->\n<!-- end -->\n"
    made = with_tables(text, tmp_path)
    assert "| a | b |\n| - | - |\n| 1 | 2 |\n" in made
    assert "old" not in made
    assert "none.md is not written yet" in made
    assert with_tables(made, tmp_path) == made
    text = text.replace("from report.md", "from report.md: b")
    made = with_tables(text, tmp_path)
    assert "<!-- from report.md: b -->\n\n| b |\n| - |\n| 2 |\n\n<!-- end -->" in made
    assert with_tables(made, tmp_path) == made
    with pytest.raises(ValueError, match="'c' is not in list"):
        with_tables(text.replace("report.md: b", "report.md: b, c"), tmp_path)
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    assert with_tables(paper) == paper  # else: python scripts/paper_tables.py
    _, head, body = paper.split("---\n", 2)
    assert {"title", "tags", "authors", "affiliations", "bibliography"} <= yaml.safe_load(
        head
    ).keys()
    words = re.sub(r"<!-- from .*?<!-- end -->|@\w+", "", body, flags=re.DOTALL)
    assert re.findall(r"\d[\d.,]*", words) == ["95"]  # the level of intervals
    cited = set(re.findall(r"@(\w+)", body))
    known = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    assert cited == {key for key in cited if f"{{{key}," in known}


def test_forms_and_workflow_are_as_platforms_read_them():
    for path in (ROOT / ".github").rglob("*.yml"):
        assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict), path
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert "make test" in workflow
    assert "make package" in workflow
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["project"]["classifiers"]))
    assert all(f'"{version}"' in workflow for version in versions)


def test_findings_are_indexed_pinned_and_without_this_package():
    folder = ROOT / "findings"
    index = (folder / "README.md").read_text(encoding="utf-8")
    scripts = sorted(folder.glob("*.sh"))
    assert scripts
    assert sorted(re.findall(r"\]\((\w+\.sh)\)", index)) == [path.name for path in scripts]
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        packages = re.findall(r"[\w-]+==\S+", text)
        assert packages, path
        assert "# Versions: " in text, path
        assert "# Seen: " in text, path
        assert all(re.fullmatch(r"[\w-]+==[\d.]+(post\d+)?", package) for package in packages), path
        assert "identify" not in text, path
        assert "assert " in text, path
