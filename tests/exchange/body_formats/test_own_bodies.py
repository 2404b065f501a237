"""Files that a person writes, with units and without."""

import json
import re
import tomllib

import numpy as np
import pytest

from identify.errors import ModelError
from identify.exchange.body_files import read_body
from identify.exchange.body_formats.answers import BodyAnswers, UnstatedProperty
from tests.close import assert_close
from tests.exchange.body_formats.printing import UNITS, bracket, with_sign

BODY = bracket()
SHORT = {"mm": ("g", "mm", "g mm^2"), "m": ("kg", "m", "kg m^2"), "in": ("lb", "in", "lb in^2")}


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="body.toml", **answers):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return read_body(path, BodyAnswers(**answers))

    return read_text


def own_body(units, key="inertia_about_com", positive=False):
    _, _, kg, metre = UNITS[units]
    matrix = BODY.about_com if key == "inertia_about_com" else BODY.about_origin
    return {
        "mass": BODY.mass / kg,
        "com": (BODY.com / metre).tolist(),
        key: (with_sign(matrix, positive) / (kg * metre**2)).tolist(),
    }


def as_toml(keys):
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())


@pytest.mark.parametrize("key", ["inertia_about_com", "inertia_about_origin"])
@pytest.mark.parametrize("units", UNITS)
def test_a_body_in_units_and_with_signs(read, units, key):
    words = dict(zip(("mass", "length", "inertia"), SHORT[units], strict=True))
    for positive in (False, True):
        keys = {**own_body(units, key, positive), "products": ("negative", "positive")[positive]}
        table = "\n[units]\n" + as_toml(words)
        assert_close(read(as_toml(keys) + table).parameters.phi, BODY.phi, 1e-11)
        saved = read(json.dumps({**keys, "units": words}), "body.json")
        assert_close(saved.parameters.phi, BODY.phi, 1e-11)


def test_without_units_it_is_in_si(read):
    for name, text in (("b.toml", as_toml(own_body("m"))), ("b.json", json.dumps(own_body("m")))):
        assert_close(read(text, name).parameters.phi, BODY.phi, 1e-12)
    table = {
        f"I{a}{b}": BODY.about_com[i, j] for i, a in enumerate("xyz") for j, b in enumerate("xyz")
    }
    text = as_toml({"mass": BODY.mass, "com": BODY.com.tolist()}) + "\n[inertia_about_com]\n"
    assert_close(read(text + as_toml(table)).parameters.phi, BODY.phi, 1e-12)


def test_an_inertia_without_its_point_is_asked_about(read):
    keys = own_body("m")
    keys["inertia"] = keys.pop("inertia_about_com")
    for name, text in (("b.toml", as_toml(keys)), ("b.json", json.dumps(keys))):
        with pytest.raises(UnstatedProperty, match=r"(?s)about which point.*--about com\|origin"):
            read(text, name)
        assert_close(read(text, name, point="com").parameters.phi, BODY.phi, 1e-12)
    keys["inertia"] = BODY.about_origin.tolist()
    assert_close(read(as_toml(keys), point="origin").parameters.phi, BODY.phi, 1e-11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"units": {"mass": "g"}},
            r"no unit of length and of inertia; give all three, or none for SI",
        ),
        ({"units": {"mas": "g"}}, "no quantity with a unit 'mas' among"),
        (
            {"units": {"mass": "g", "length": "mm", "inertia": "mm g"}},
            "unknown unit of inertia 'mm g'",
        ),
        ({"units": "mm"}, "units: expected a table of mass, length, inertia"),
        ({"products": "plus"}, "no sign of products 'plus' among"),
        ({"com": [0.0, 0.1]}, "com: expected a list of 3 numbers"),
        ({"mass": "2,5"}, "mass: expected a finite number, got '2,5'"),
        ({"inertia_about_com": {"Ixx": 1.0, "Iyy": 1.0, "Izz": 1.0}}, "no Ixy, Ixz, Iyz"),
        (
            {"inertia_about_com": [[1, 2], [3, 4]]},
            "inertia_about_com: expected 3 rows of 3 numbers",
        ),
    ],
)
def test_a_file_with_a_mistake(read, change, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        read(json.dumps({**own_body("m"), **change}), "body.json")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("mass = 2,5\n", "body.toml", "line 1.*write a decimal point, not a comma"),
        ('{"mass": 2,5, "com": [0, 0, 0]}', "body.json", "line 1.*write decimal points"),
        ("mass = 2\nmass = 3\n", "body.toml", "line 2.*write one body to a file"),
        ("mass = 2\ncom = [0, 0", "body.toml", "is the file cut off"),
    ],
)
def test_a_text_that_is_no_toml_or_json(read, text, name, message):
    with pytest.raises(ModelError, match=message):
        read(text, name)


def test_the_example_of_the_module():
    from identify.exchange.body_formats import own_bodies

    assert own_bodies.__doc__ is not None
    example = re.findall(r"(?m)^    (.*)$", own_bodies.__doc__)
    keys = own_bodies.body_keys_in_si(tomllib.loads("\n".join(example)), BodyAnswers())
    assert keys["mass"] == pytest.approx(0.3)
    np.testing.assert_allclose(np.diag(keys["inertia_about_com"]), [250e-6, 250e-6, 120e-6])


def test_no_estimate_is_hidden_by_the_other_forms(tmp_path):
    path = tmp_path / "out" / "estimate.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"phi": BODY.phi.tolist()}))
    assert_close(read_body(path).parameters.phi, BODY.phi, 0.0)
    assert_close(read_body(path.parent).parameters.phi, BODY.phi, 0.0)
    path.write_text("{")
    with pytest.raises(ModelError, match="not a JSON file"):
        read_body(path)


@pytest.mark.parametrize(("key", "meant"), [("unit", "units"), ("product", "products")])
def test_a_misspelt_key_is_asked_about(read, key, meant):
    text = f'mass = 300\ncom = [0, 0, 40]\n{key} = "g"\n'
    with pytest.raises(ModelError, match=rf"unknown key '{key}'; do you mean '{meant}'"):
        read(text)
