"""Texts of CAD programs, printed from sums over points in three units and either sign."""

import json
import re

import numpy as np
import pytest

from identify.errors import ModelError
from identify.exchange.body_files import read_body
from identify.exchange.body_formats.answers import BodyAnswers, UnstatedProperty
from tests.close import assert_close
from tests.exchange.body_formats.printing import (
    UNITS,
    body_of_points,
    bracket,
    fusion_text,
    onshape_body,
    onshape_json,
    solidworks_text,
)

BODY = bracket()
SYMMETRIC = body_of_points(
    np.array([[s, 0, 0] for s in (-0.1, 0.1)] + [[0, s, 0] for s in (-0.05, 0.05)] + [[0, 0, 0.0]]),
    np.full(5, 0.1),
)
"""A body whose axes are those of the frame, with its centre of mass at the origin."""


@pytest.fixture
def read(tmp_path):
    def read_text(text, *, name="part.txt", wanted="", **answers):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        file = f"{path}#{wanted}" if wanted else path
        return read_body(type(path)(file), BodyAnswers(**answers))

    return read_text


def notes_of(saved):
    return "; ".join(saved.provenance["notes"])


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("units", UNITS)
def test_solidworks_in_each_unit_and_sign(read, units, positive):
    """The sign is found by both other parts of the text, without a word on it."""
    saved = read(solidworks_text(BODY, units, positive=positive, decimals=15))
    assert_close(saved.parameters.phi, BODY.phi, 1e-12)
    assert "the inertia about both points, the principal axes" in notes_of(saved)
    assert saved.frame.startswith("SolidWorks, coordinate system tool0: bracket of ")


@pytest.mark.parametrize("part", [{"principal": False}, {"origin": False}])
def test_one_other_part_tells_the_sign(read, part):
    for positive in (False, True):
        saved = read(solidworks_text(BODY, positive=positive, **part))
        assert_close(saved.parameters.phi, BODY.phi, 1e-12)


def test_the_heading_tells_the_sign(read):
    for notation in ("positive", "negative"):
        text = solidworks_text(
            BODY, positive=notation == "positive", notation=notation, principal=False, origin=False
        )
        saved = read(text)
        assert_close(saved.parameters.phi, BODY.phi, 1e-12)
        assert notes_of(saved).endswith("by the heading")


def test_a_sign_that_nothing_tells_is_asked_for(read):
    text = solidworks_text(BODY, principal=False, origin=False)
    with pytest.raises(UnstatedProperty, match=r"--products negative\|positive"):
        read(text)
    assert_close(read(text, products="positive").parameters.phi, BODY.phi, 1e-12)
    turned = read(text, products="negative").parameters
    assert_close(turned.mass, BODY.mass, 1e-12)
    assert np.abs(turned.inertia_about_com - BODY.about_com).max() > 0.1 * BODY.about_com.max()


def test_a_heading_that_contradicts_the_numbers(read):
    text = solidworks_text(BODY, positive=True, notation="negative")
    with pytest.raises(ModelError, match="contradictory: negative by the heading, positive by"):
        read(text)


def test_a_body_without_products_needs_no_sign(read):
    saved = read(solidworks_text(SYMMETRIC, principal=False, origin=False))
    assert_close(saved.parameters.phi, SYMMETRIC.phi, 1e-12)
    assert "products of inertia are zero" in notes_of(saved)


@pytest.mark.parametrize("decimals", [2, 3])
def test_two_decimals_still_tell_the_sign(read, decimals):
    """Of SolidWorks' default digits the body is within what they leave open."""
    for positive in (False, True):
        saved = read(solidworks_text(BODY, "mm", positive=positive, decimals=decimals))
        assert_close(saved.parameters.inertia_about_com, BODY.about_com, 1e-4)


def test_digits_that_are_missing_are_named(read):
    """0.00 kg m² is no inertia, and 0.02 has an error of a quarter."""
    small = solidworks_text(SYMMETRIC, "m", decimals=2)
    with pytest.raises(ModelError, match=r"printed as 0, 0, 0 kg m²: let the program print more"):
        read(small)
    coarse = read(solidworks_text(SYMMETRIC, "m", decimals=3, principal=False, origin=False))
    assert "up to 17 % of the largest moment open" in notes_of(coarse)


def test_the_inertia_about_the_origin_alone(read):
    text = solidworks_text(BODY, notation="positive")
    start = text.index("\nMoments of inertia")
    origin = text[:start] + text[text.index("\nMoments of inertia", start + 1) :]
    saved = read(origin)
    assert_close(saved.parameters.phi, BODY.phi, 1e-11)
    assert "about the origin, by its heading" in notes_of(saved)


def test_a_point_that_the_heading_lacks_is_asked_for(read):
    """A matrix alone without its line "Taken at …": its letters do not tell."""
    text = solidworks_text(BODY, principal=False, origin=False, notation="positive")
    bare = re.sub(r"Taken at .*output coordinate system\.", "", text)
    with pytest.raises(UnstatedProperty, match=r"Taken at .* is missing\n.*--about com\|origin"):
        read(bare)
    assert_close(read(bare, point="com").parameters.phi, BODY.phi, 1e-9)
    about_origin = read(bare, point="origin").parameters
    assert_close(about_origin.phi[4:], BODY.about_com[np.triu_indices(3)], 1e-9)
    with pytest.raises(ModelError, match="--about origin contradicts the heading"):
        read(text, point="origin")


def test_a_point_that_other_parts_tell_is_not_asked_for(read):
    """Principal moments, or the inertia about both points, with mass and centre of mass."""
    for parts in ({"principal": True, "origin": False}, {"principal": False, "origin": True}):
        bare = re.sub(r"Taken at .*system\.", "", solidworks_text(BODY, **parts))
        assert_close(read(bare).parameters.phi, BODY.phi, 1e-9)


@pytest.mark.parametrize("prefix", ["# ", "% ", "// ", "> ", "| ", " * "])
def test_a_text_in_a_comment(read, prefix):
    text = "".join(prefix + line for line in solidworks_text(BODY).splitlines(keepends=True))
    assert_close(read(text).parameters.phi, BODY.phi, 1e-12)


def test_windows_encodings(tmp_path):
    text = solidworks_text(BODY).replace("\n", "\r\n")
    for encoding in ("utf-16", "utf-8-sig", "cp1252"):
        path = tmp_path / f"{encoding}.txt"
        path.write_bytes(text.replace("bracket", "Bügel").encode(encoding))
        saved = read_body(path)
        assert_close(saved.parameters.phi, BODY.phi, 1e-12)
        assert "Bügel" in saved.frame


@pytest.mark.parametrize("units", UNITS)
def test_fusion_in_each_unit(read, units):
    """It prints entries of the matrix, as its two points show."""
    saved = read(fusion_text(BODY, units))
    assert_close(saved.parameters.phi, BODY.phi, 1e-8)
    assert "entries of the matrix, by the inertia about both points" in notes_of(saved)
    assert saved.frame.startswith("Fusion, its origin: bracket v3 of ")


def test_fusion_about_one_point_asks_for_the_sign(read):
    with pytest.raises(UnstatedProperty, match="texts of Fusion that were seen have entries"):
        read(fusion_text(BODY, origin=False))
    saved = read(fusion_text(BODY, origin=False), products="negative")
    assert_close(saved.parameters.phi, BODY.phi, 1e-8)


def test_a_tab_of_fusion_without_signs_of_equality(read):
    text = fusion_text(BODY).replace(" = ", "\t").replace("bracket v3", "Part Name\tbracket v3")
    saved = read(text)
    assert_close(saved.parameters.phi, BODY.phi, 1e-8)
    assert "bracket v3 of" in saved.frame


@pytest.mark.parametrize("positive", [False, True])
def test_onshape(read, positive):
    """A part, a part studio with one, and an assembly, which has no parts."""
    body = onshape_body(BODY, positive=positive)
    for text in (onshape_json(JHD=body), onshape_json(JHD=body, **{"-all-": body})):
        saved = read(text, name="mass.json")
        assert_close(saved.parameters.phi, BODY.phi, 1e-12)
        assert "by the principal axes" in notes_of(saved)
    assert_close(read(json.dumps(body)).parameters.phi, BODY.phi, 1e-12)


def test_parts_of_onshape(read):
    first, second = onshape_body(BODY), onshape_body(SYMMETRIC)
    text = onshape_json(JHD=first, JHK=second, **{"-all-": first})
    with pytest.raises(
        ModelError, match=r"2 parts: JHD, JHK; choose one as .*#ID, or all together"
    ):
        read(text)
    assert_close(read(text, wanted="JHK").parameters.phi, SYMMETRIC.phi, 1e-12)
    assert_close(read(text, wanted="-all-").parameters.phi, BODY.phi, 1e-12)
    with pytest.raises(ModelError, match="no part 'JHX'"):
        read(text, wanted="JHX")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("massMissingCount", 2, "has 2 parts without a material"),
        ("hasMass", False, "without a material"),
        ("mass", [], "mass: expected a list of 1 numbers"),
        ("inertia", [1.0, 2.0], "inertia: expected a list of 9 numbers"),
        ("centroid", ["0", 0, 0], "centroid: expected a finite number, got '0'"),
        ("principalAxes", [1, 2, 3], "principalAxes: expected three of x, y, z"),
        ("principalInertia", [1.0, 2.0, 3.0], "the inertia contradicts the principal axes"),
    ],
)
def test_an_onshape_part_that_is_damaged(read, key, value, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        read(json.dumps({**onshape_body(BODY), key: value}))


def test_two_bodies_in_one_text(read):
    both = solidworks_text(BODY) + solidworks_text(SYMMETRIC, name="shaft")
    with pytest.raises(ModelError, match=r"2 bodies: 1 \(bracket, line 1\), 2 \(shaft, line 29\)"):
        read(both)
    for wanted in ("2", "shaft"):
        assert_close(read(both, wanted=wanted).parameters.phi, SYMMETRIC.phi, 1e-12)
    with pytest.raises(ModelError, match="no body 'shafts'"):
        read(both, wanted="shafts")
    with pytest.raises(ModelError, match="2 bodies"):
        read(fusion_text(BODY) + fusion_text(SYMMETRIC))


def test_decimal_commas_and_thousands(read):
    text = solidworks_text(BODY, decimals=12, comma=True)
    assert_close(read(text).parameters.phi, BODY.phi, 1e-12)
    grouped = re.sub(r"\d{4,}(?=,\d)", lambda whole: f"{int(whole[0]):,}".replace(",", "."), text)
    assert "2.424.021," in grouped
    assert_close(read(grouped).parameters.phi, BODY.phi, 1e-12)


def test_numbers_that_read_as_either_are_asked_about(read):
    """Whole thousands, or three decimals: nothing in the text tells."""
    text = re.sub(r"\d+\.(\d{3})\d*", r"1,\1", solidworks_text(BODY, principal=False))
    with pytest.raises(UnstatedProperty, match=r"(?s)1,\d{3} may be .*--decimal point\|comma"):
        read(text)
    mixed = re.sub(r"Mass = (\d+)\.", r"Mass = \1,", solidworks_text(BODY))
    with pytest.raises(UnstatedProperty, match="some numbers have a decimal point and others"):
        read(mixed)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r"Mass = .*", "", r"line 1: no mass below this line: copy the whole text"),
        (r"Center of mass.*", "", r"line 1: no centre of mass"),
        (r"Mass = (\S+) grams", r"Mass = \1", r"line 5: the mass has no unit\n.*--mass-unit kg"),
        (r"\( millimeters \)", "", r"line 7: the centre of mass has no unit\n.*--length-unit mm"),
        (r"\( grams \*.*\)", "", r"the inertia has no unit\n.*--inertia-unit 'kg m\^2'"),
        (r"grams \*  square millim.*\)", "stones )", "unknown unit of inertia 'stones'"),
        (r"Mass = \S+ grams", "Mass = 0.00 grams", "a mass of 0; .*assign a material"),
        (r"(?s)\n\tLzx.*", "", r"line 20: no zx, zy, zz below this line: the text is cut off"),
        (r"(?s)\nMoments of inertia.*", "", "no moments of inertia: copy the whole text"),
        (r"Lyx = \S+", "Lyx = 1.0", "line 20: the matrix below is not symmetric"),
        (r"Mass = \S+ grams", "Mass = 1.0 grams", "times m .* is a number or a unit of"),
        (r"Mass = (\S+) grams", r"Mass = \1 kilograms", "changes by 0.001 times m"),
    ],
)
def test_a_text_that_is_incomplete_or_changed(read, old, new, message):
    text = re.sub(old, new, solidworks_text(BODY))
    with pytest.raises(ModelError, match=message):
        read(text)


def test_answers_give_the_missing_units(read):
    bare = re.sub(r" grams\n|\( \w+.*\)(?=\n)", "\n", solidworks_text(BODY))
    assert "grams" not in bare
    units = {"mass_unit": "g", "length_unit": "mm", "inertia_unit": "g mm^2"}
    assert_close(read(bare, **units).parameters.phi, BODY.phi, 1e-12)


def test_any_other_text_is_refused(read):
    with pytest.raises(ModelError, match=r"no body: the text is none of: .*SolidWorks.*TOML file"):
        read("time,fx,fy\n0.0,1.0,2.0\n", name="log.csv")


def test_solidworks_with_units_that_differ_and_principal_axes_left_out(read):
    """Grams, inches and grams × square inches, with the bare heading of the principal axes."""
    text = """Mass properties of bracket
     Coordinate system: -- default --
Mass = 1500.00 grams
Center of mass: ( inches )
\tX = 6.77
\tY = 2.68
\tZ = 0.94
Principal axes of inertia and principal moments of inertia: ( grams * square inches )
Taken at the center of mass.
Moments of inertia: ( grams * square inches )
Taken at the center of mass. (Using positive tensor notation.)
\tLxx = 26000.00\tLxy = 15000.00\tLxz = -9000.00
\tLyx = 15000.00\tLyy = 31000.00\tLyz = -4000.00
\tLzx = -9000.00\tLzy = -4000.00\tLzz = 40000.00
"""
    body = read(text).parameters
    inch = 0.0254
    assert body.mass == pytest.approx(1.5, rel=1e-12)
    np.testing.assert_allclose(body.com, np.array([6.77, 2.68, 0.94]) * inch, rtol=1e-12)
    expected = [[26.0, -15.0, 9.0], [-15.0, 31.0, 4.0], [9.0, 4.0, 40.0]]
    np.testing.assert_allclose(body.inertia_about_com, np.array(expected) * inch**2, rtol=1e-9)
