import json
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from identify.findings import Finding, format_findings
from identify.reporting.content import load_template
from identify.texts import (
    escape_unprintable,
    json_text,
    plain_name,
    plain_text,
    sentence,
    to_json_value,
)

NAMES = {
    "\x1b[31mred\x1b[0m": r"\x1b[31mred\x1b[0m",
    "safe\u202efdp.exe": r"safe\u202efdp.exe",
    "two\nlines": r"two\nlines",
    "bell\x07": r"bell\x07",
    "\udcff": r"\udcff",
    "=1+1": "'=1+1",
    "+1": "'+1",
    "-deep": "'-deep",
    "@SUM(A1)": "'@SUM(A1)",
    "\t=1": r"\t=1",
    "grüße 1=2": "grüße 1=2",
}


@pytest.mark.parametrize(("name", "shown"), NAMES.items())
def test_a_name_is_shown_escaped_and_stays_so(name, shown):
    assert plain_name(name) == shown
    assert plain_name(shown) == shown


def test_messages_keep_their_lines_and_have_an_end():
    assert escape_unprintable("a\nb\r") == "a\nb\\r"
    assert plain_text("- a\n- b") == "- a\n- b"
    assert plain_text("x" * 20, 10) == "x" * 9 + "…"
    assert len(plain_name("\x1b" * 20, 10)) == 10


def test_reasons_and_pages_show_control_characters_escaped():
    found = Finding("drift", "warning", "of \x1b[31mlog")
    assert r"of \x1b[31mlog" in format_findings([found])[0]
    page = load_template("comparison.html").environment.from_string("{{ name }}, {{ number }}")
    said = page.render(name="<b>\u202e", number=1)
    assert said == r"&lt;b&gt;\u202e, 1"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, -2.5e-3, 3]}, '{\n  "a": [1, -0.0025, 3]\n}'),
        ({"a": ["x", "y  z [ 1 ]"]}, '{\n  "a": ["x", "y  z [ 1 ]"]\n}'),
        ([[1, 2], [3, 4]], "[\n  [1, 2],\n  [3, 4]\n]"),
        ([], "[]"),
        ("[\n 1 ]", '"[\\n 1 ]"'),
    ],
)
def test_lists_of_plain_values_are_on_a_line(value, expected):
    text = json_text(value)
    assert text == expected
    assert json.loads(text) == value


@dataclass
class Part:
    name: str
    place: object


def test_json_encodes_library_types_and_rejects_others():
    finding = Finding("delay", "info", "late")
    value = [Part("a", Path("b")), np.eye(2), np.float64(0.5), MappingProxyType({"f": finding})]
    assert json.loads(json.dumps(value, default=to_json_value)) == [
        {"name": "a", "place": "b"},
        [[1.0, 0.0], [0.0, 1.0]],
        0.5,
        {"f": finding.record()},
    ]
    with pytest.raises(TypeError, match="a object cannot be converted to JSON"):
        json.dumps(object(), default=to_json_value)


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("are the units kg m²?", "are the units kg m²?"),
        ("they remain so.", "they remain so."),
        ("cut off …", "cut off …"),
        ("it is 3 kg ", "it is 3 kg."),
    ],
)
def test_a_sentence_ends_once(text, ended):
    assert sentence(text) == ended
