"""Sphinx configuration: MyST pages, built with warnings as errors by `make docs`."""

import tomllib
from pathlib import Path

_project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]

project = "identify"
author = "the identify authors"
project_copyright = "2026, the identify authors"
release = version = _project["version"]

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
nitpicky = True
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"identify {release}"
