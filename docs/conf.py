"""Sphinx configuration: MyST pages and API pages, built with warnings as errors by `make docs`."""

import importlib
import inspect
import re
import sys
import tomllib
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.pycode import ModuleAnalyzer

from identify.lazy import _read_stub

sys.path.insert(0, str(Path(__file__).parent))
import command_tables
import schema_tables
import study_tables

_project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]

project = "identify"
author = "the identify authors"
project_copyright = "2026, the identify authors"
release = version = _project["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinxcontrib.bibtex"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath"]
math_numfig = False
html_math_renderer = "mathml"
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"
nitpicky = True
# Types in signatures are plain text: NumPy's and pandas' inventories are unavailable in a build.
nitpick_ignore_regex = [("py:.*", ".*")]
myst_heading_anchors = 3

# Output of `docs/gallery.py`, if it was run.
html_extra_path = [name for name in ("_build/extra",) if (Path(__file__).parent / name).exists()]

html_theme = "furo"
html_title = f"identify {release}"

autodoc_member_order = "groupwise"
autodoc_typehints_format = "short"
autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "show-inheritance": True,
    "no-value": True,
}
# Names of `identify.arrays` are shown as they are, with the shapes that their docstrings say.
autodoc_type_aliases = {
    name: name
    for name in (
        *("Array", "Flags", "Indices", "Mat33", "Mat44", "Mat66", "Phi", "PhiLike"),
        *("Vec3", "Vec4", "Vec6", "ArrayLike", "PoseLike", "Place"),
    )
}
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

_CODE = re.compile(r"`+[^`\n]+`+")
_TABLES = {
    "commands": command_tables.fill_tables,
    "log-schema": schema_tables.fill_tables,
    "studies": study_tables.fill_tables,
}
_SPECIAL = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")


def _constant_docstring(name):
    """Return the docstring of a constant, from the module that its package's stub names."""
    package, _, constant = name.rpartition(".")
    stub = Path(importlib.import_module(package).__file__).with_suffix(".pyi")
    sources, public = _read_stub(stub) if stub.exists() else ({}, {})
    module, defined = sources.get(public.get(constant, ""), (package, constant))
    return ModuleAnalyzer.for_module(module).find_attr_docs().get(("", defined), [])


def _escape_docstring(app, what, name, obj, options, lines):
    """Escape docstrings, which are plain text with `code`, as reST."""
    if what == "data":
        lines[:] = _constant_docstring(name)
    said, in_section, shown = [], False, False
    for before, line in zip(["", *lines], lines, strict=False):
        in_section = in_section or bool(re.fullmatch(r"[A-Z]\w+:", line))
        shown = line.startswith("    ") and not in_section and (shown or not before)
        if shown and not before:
            said += ["::", ""]  # a formula or a piece of code, as it stands
        said.append(line if shown else _escaped(line))
    if what in ("attribute", "data", "property"):  # else a colon would be that after a type
        said[:0] = ["..", ""]
    lines[:] = said


def _escaped(line):
    """Return a line of plain text as reST, with its `code` as literals."""
    parts, end = [], 0
    for match in _CODE.finditer(line):
        parts.append(_SPECIAL.sub(r"\\\1", line[end : match.start()]))
        parts.append(f"``{match[0].strip('`')}``")
        end = match.end()
    return "".join([*parts, _SPECIAL.sub(r"\\\1", line[end:])])


def _add_reexports(app, docname, source):
    """Add the re-exported names of a module to its API page, which autodoc does not find.

    To the page of a package its constants, to that of `identify` all names and where they are.
    Errors come last on a page, in place of first.
    """
    match = re.search(r"automodule:: (\S+)", source[0]) if docname.startswith("api/") else None
    if match is None:
        return
    package = importlib.import_module(match[1])
    stub = Path(package.__file__).with_suffix(".pyi")
    sources, public = _read_stub(stub) if stub.exists() else ({}, {})
    values = {name: getattr(package, name) for name in public}
    if package.__name__ == "identify":
        lines = [
            _reexport_line(name, *sources[public[name]], values[name]) for name in sorted(values)
        ]
    else:
        lines = [
            f".. autodata:: {package.__name__}.{name}\n   :no-value:\n"
            for name, value in values.items()
            if not (hasattr(value, "__module__") or inspect.ismodule(value))
        ]
        errors = [name for name in getattr(package, "__all__", ()) if _is_error(package, name)]
        if errors:
            listed = f"automodule:: {match[1]}\n"
            source[0] = source[0].replace(
                listed, f"{listed}   :exclude-members: {', '.join(errors)}\n"
            )
            lines += [f".. autoexception:: {match[1]}.{name}\n" for name in errors]
    if lines:
        source[0] += "\n".join(["\n```{eval-rst}", *lines, "```\n"])


def _fill_tables(app, docname, source):
    """Put the generated tables into the pages that have them."""
    if docname in _TABLES:
        source[0] = _TABLES[docname](source[0])


def _is_error(package, name):
    value = getattr(package, name)
    return isinstance(value, type) and issubclass(value, Exception)


def _reexport_line(name, module, defined, value):
    """Return one line about a name of `identify`: its summary and a link to its description."""
    summary = _SPECIAL.sub(r"\\\1", inspect.getdoc(value).splitlines()[0].replace("`", ""))
    return f"- ``identify.{name}``: {summary.rstrip('.')} (:py:obj:`{module}.{defined}`)."


def _formula(self, node):
    """Write a formula as MathML, which browsers render without third-party scripts."""
    block = node.tagname == "math_block"
    written = convert(node.astext(), display="block" if block else "inline")
    space = "margin: 1em 0; overflow-x: auto"
    self.body.append(f'<div class="math" style="{space}">{written}</div>' if block else written)
    raise nodes.SkipNode


def _short_types(app, what, name, obj, options, signature, returned):
    """Return the types of a signature by their short names."""
    return tuple(
        part and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", part)
        for part in (signature, returned)
    )


def setup(app):
    """Register the hooks; docstrings are escaped before their Google sections are parsed."""
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))
    app.connect("source-read", _add_reexports)
    app.connect("source-read", _fill_tables)
    app.connect("autodoc-process-signature", _short_types)
    app.connect("autodoc-process-docstring", _escape_docstring, priority=1)
