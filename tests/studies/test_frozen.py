"""The comparison of `make frozen`."""

import numpy as np
import pytest

from experiments.frozen.cases import CASES
from experiments.frozen.compare import MISSING, differences

RESULT = {
    "steps": {"fit": {"status": 0, "stdout": "m 1.30\ncx 0.01\nusable: yes\n"}},
    "files": {"estimate.json": {"phi": [1.3, 0.02, float("nan")], "usable": True, "zero": 0.0}},
}


def found(before, after) -> list[tuple[str, str, str]]:
    return [("/".join(d.path), d.before, d.after) for d in differences(before, after)]


def changed(key: str, value: object) -> dict:
    return {**RESULT, "files": {"estimate.json": {**RESULT["files"]["estimate.json"], key: value}}}


def test_equal_results_do_not_differ():
    assert not found(RESULT, changed("usable", True))


@pytest.mark.parametrize(
    ("key", "value", "path", "before", "after"),
    [
        ("phi", [np.nextafter(1.3, 2.0).item(), 0.02, float("nan")], "phi/0", "1.3", None),
        ("phi", [1.3, 0.02], "phi/2", "nan", repr(MISSING)),
        ("usable", 1, "usable", "True", "1"),
        ("zero", -0.0, "zero", "0.0", "-0.0"),
        ("zero", 0, "zero", "0.0", "0"),
        ("new", None, "new", repr(MISSING), "None"),
    ],
)
def test_smallest_change_of_a_document_is_named_with_its_path(key, value, path, before, after):
    ((where, old, new),) = found(RESULT, changed(key, value))
    assert where == f"files/estimate.json/{path}"
    assert old == before
    assert new == (after or repr(value[0]))


def test_text_is_compared_by_line():
    text = "m 1.30\nread: log\ncx 0.01\nusable: no\n"
    steps = {"fit": {"status": 0, "stdout": text}}
    assert found(RESULT, {**RESULT, "steps": steps}) == [
        ("steps/fit/stdout/line 2", "''", "'read: log'"),
        ("steps/fit/stdout/line 3", "'usable: yes'", "'usable: no'"),
    ]


def test_long_values_are_shown_from_where_they_differ():
    before, after = "a" * 1000 + "b" + "c" * 1000, "a" * 1000 + "d" + "c" * 1000
    (difference,) = differences({"text": before}, {"text": after})
    path, old, new = str(difference).split("\n    ")
    assert path == "text"
    assert old.replace("b", "d") == new != old
    assert len(new) < 110


def test_each_case_has_steps_and_each_file_is_of_a_known_folder():
    for name, steps in CASES.items():
        assert steps, name
        assert all(step.count("$") == step.count("$made") + step.count("$shared") for step in steps)
