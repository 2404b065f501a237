"""What was read of an estimate.json is what was written: keys, versions, the digest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from identify.errors import ModelError
from identify.exchange import (
    PrincipalAxis,
    SavedBias,
    SavedEstimate,
    read_estimate,
    read_parameters,
    write_estimate,
)
from identify.exchange.estimate_json import contents_digest, estimate_text
from identify.findings import Finding, verdict_of
from identify.inertia import InertialParameters
from identify.spatial import BodyFrame, Pose

BODY = InertialParameters.from_com(1.2, [0.01, -0.02, 0.1], np.diag([0.01, 0.02, 0.015]))
LATE = Finding("delay", "error", "late", "shift it", {"delay": [0.01, 0.02]}, "a\udcff.csv")
FULL = SavedEstimate(
    BODY,
    frames=BodyFrame("wrist", flange=Pose.from_quaternion([0.0, 0.0, 0.6, 0.8], [0.1, 0.0, 0.2])),
    covariance=np.eye(10) / 3.0,
    intervals={"m": (1.1, 1.3), "Ixx": None},
    variance_shares={"m": {"wrench": 1.0}},
    principal_axes=(PrincipalAxis(0.3, np.array([0.6, 0.0, 0.8]), None),),
    decided_by={"m": "data"},
    bias=(SavedBias("ab" * 32, np.arange(6) / 7.0),),
    samples=1000,
    certificate={"gap": 1e-05, "rank": 10, "seed": 2**60 + 1, "zero": -0.0},
    provenance={"logs": [{"name": "log", "rows": 1000}], "command": "é"},
    findings=(LATE,),
    r_squared=(0.5, None, 1.0, 0.0, -1.0, 0.25),
    verdict=verdict_of(
        [LATE], possible=True, optimal=True, identifiable=["m"], needs={"m 1%": True}
    ),
)


@pytest.fixture
def path(tmp_path) -> Path:
    return write_estimate(FULL, tmp_path / "estimate.json")


def change(path: Path, *place: str | int, to: object) -> Path:
    """Set a value of the file by its place, the digest left as it was."""
    document = json.loads(path.read_text(encoding="utf-8"))
    inner: Any = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = to
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def seal(path: Path) -> Path:
    """Put the digest of the contents into a file, as one who wants it to be read would."""
    return change(path, "digest", to=contents_digest(path.read_text(encoding="utf-8")))


def codes(saved: SavedEstimate) -> list[str]:
    return [finding.code for finding in saved.findings]


# The digest --------------------------------------------------------------------------------------


def test_what_was_written_is_read_without_a_word(path):
    saved = read_estimate(path)
    assert saved.findings == FULL.findings
    assert saved.verdict == FULL.verdict
    assert saved.certificate == FULL.certificate


def test_the_digest_is_the_sha256_that_the_docs_say(path):
    contents = json.loads(path.read_text(encoding="utf-8"), parse_int=float)
    contents["certificate"]["seed"] = 2**60 + 1
    said = contents.pop("digest")
    plain = json.dumps(contents, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(plain.encode()).hexdigest() == said


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda document: json.dumps(document),
        lambda document: json.dumps(document, indent=7, sort_keys=True),
        lambda document: json.dumps(dict(reversed(document.items())), ensure_ascii=True),
        lambda document: json.dumps(document).replace("1e-05", "0.00001"),
        lambda document: json.dumps(document).replace("1000", "1e3").replace("1e3,", "1000,", 1),
        lambda document: json.dumps(document).replace('"rows": 1000', '"rows": 1000.0'),
    ],
)
def test_layout_and_spelling_are_no_edit(path, rewrite):
    text = rewrite(json.loads(path.read_text(encoding="utf-8")))
    assert text != path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert codes(read_estimate(path)) == ["delay"]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("covariance", 0, 0), 0.3333333333333334),
        (("intervals", "m"), [1.1, 1.4]),
        (("decided_by", "m"), "dat!"),
        (("frames", "flange", "translation"), [0.1, 0.0, 0.21]),
        (("frames", "name"), None),
        (("verdict", "usable"), "yes"),
        (("verdict", "needs"), {}),
        (("findings",), []),
        (("certificate", "seed"), 2**60),
        (("certificate", "zero"), 0.0),
        (("certificate", "rank"), True),
        (("provenance", "command"), "e"),
        (("provenance", "another"), 1),
        (("samples",), None),
        (("digest",), "0" * 64),
    ],
)
def test_a_changed_value_is_an_error_among_the_findings(path, place, value):
    saved = read_estimate(change(path, *place, to=value))
    assert codes(saved)[0] == "edited"
    assert saved.findings[0].severity == "error"
    assert saved.verdict is not None
    assert (saved.verdict.usable, saved.verdict.reasons[0]) == ("no", "edited")
    # Written again it says so still, once.
    again = read_estimate(write_estimate(saved, path))
    assert codes(again) == codes(saved)
    again = read_estimate(change(path, "samples", to=7))
    assert codes(again).count("edited") == 1


def test_an_edited_body_without_a_verdict_gets_one(tmp_path):
    path = write_estimate(SavedEstimate(BODY), tmp_path / "e.json")
    assert read_estimate(path).verdict is None
    saved = read_estimate(change(path, "frame", to="flange"))
    assert saved.verdict is not None
    assert (saved.verdict.usable, saved.verdict.possible) == ("no", True)


def test_where_only_the_body_is_wanted_an_edited_file_is_refused(path):
    assert np.array_equal(read_parameters(path).phi, BODY.phi)
    with pytest.raises(ModelError, match=r"estimate\.json: The file was changed after it was wri"):
        read_parameters(change(path, "samples", to=7))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_json_has_not_are_refused(path, number):
    path.write_text(path.read_text(encoding="utf-8").replace("1e-05", number), encoding="utf-8")
    with pytest.raises(ModelError, match=r"estimate\.json: certificate: .*JSON"):
        read_estimate(path)


@pytest.mark.parametrize("share", [1.0, 1e-9, 0.0])
def test_poses_of_frames_are_written_again_as_they_were_read(tmp_path, share):
    """Also those of half a turn, and near one about an axis."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        vector = rng.integers(-1, 2, 4) + share * rng.normal(size=4) + [0, 0, 0, 1e-12]
        pose = Pose.from_quaternion(
            vector if vector[:3].any() else [0, 0, 0, 1], rng.normal(size=3)
        )
        first = estimate_text(SavedEstimate(BODY, frames=BodyFrame(flange=pose, tcp=pose)))
        (tmp_path / "e.json").write_text(first)
        read = read_estimate(tmp_path / "e.json")
        assert estimate_text(read) == first
        assert np.array_equal(read.frames.flange.position, pose.position)
        assert np.abs(read.frames.flange.rotation - pose.rotation).max() < 5e-15


# Keys --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", json.loads(estimate_text(FULL)))
def test_a_key_that_is_missing_or_misspelt_is_refused(path, key):
    document = json.loads(path.read_text(encoding="utf-8"))
    value = document.pop(key)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelError, match=f"'{key}'|there is no schema_version"):
        read_estimate(path)
    path.write_text(json.dumps(document | {f"{key}4": value}), encoding="utf-8")
    with pytest.raises(ModelError, match=f"did you mean '{key}'|there is no schema_version"):
        read_estimate(path)


def test_a_misspelt_verdict_is_named(path):
    text = path.read_text(encoding="utf-8").replace('"verdict"', '"verdic4"')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="unknown key 'verdic4'; did you mean 'verdict'"):
        read_estimate(path)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (("frames", "flange", "euler"), "unknown key 'frames.flange.euler'"),
        (("frames", "base"), "unknown key 'frames.base'"),
        (("bias", 0, "torque"), "unknown key 'bias.0.torque'"),
        (("findings", 0, "note"), "unknown key 'findings.0.note'"),
        (("verdict", "usabel"), "unknown key 'verdict.usabel'"),
        (("principal_axes", 0, "x"), "unknown key 'principal_axes.0.x'"),
    ],
)
def test_an_unknown_key_further_in_is_refused_though_the_digest_holds(path, place, message):
    with pytest.raises(ModelError, match=message):
        read_estimate(seal(change(path, *place, to=1)))


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("frames",), 3, "frames: expected an object, got 3"),
        (("frames", "flange"), [0] * 7, "frames.flange: expected an object"),
        (("frames", "flange"), {"translation": [0, 0, 0]}, "'frames.flange.quaternion' is missing"),
        (("frames", "flange", "translation"), [0, 0], "translation: expected a list of 3 numbers"),
        (("frames", "flange", "quaternion"), [0, 0, 0, 2.0], "expected a unit quaternion"),
        (("frames", "flange", "quaternion"), [0, 0, 0, 0], "expected a unit quaternion"),
        (("frames", "tcp"), "here", "frames.tcp: expected an object, got 'here'"),
        (("frames", "name"), 3, "frames.name: .*string, got 3"),
        (("bias",), [{"sha256": "", "wrench": [0.0] * 6}], "'bias.0.half_width' is missing"),
        (("verdict", "possible"), 1, "verdict.possible: .*boolean, got 1"),
        (("verdict", "needs", "m 1%"), "yes", "verdict.needs.m 1%: .*boolean, got 'yes'"),
        (("samples",), 1.5, "samples: .*integer"),
        (("r_squared",), [1.0] * 7, "r_squared: expected 6 values, got 7"),
        (("variance_shares", "m", "wrench"), True, "variance_shares.m.wrench: expected a finite"),
        (("phi",), None, "phi: expected a list of 10 numbers, got None"),
        (("mass",), 1.3, "mass is 1.3, but phi says 1.2"),
    ],
)
def test_a_damaged_value_is_refused_with_its_place_though_the_digest_holds(
    path, place, value, message
):
    with pytest.raises(ModelError, match=message) as caught:
        read_estimate(seal(change(path, *place, to=value)))
    assert str(caught.value).startswith(f"{path}: ")


# Versions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2])
def test_older_files_are_read_with_the_flange_unknown(path, version):
    document = json.loads(path.read_text(encoding="utf-8")) | {"schema_version": version}
    del document["frames"], document["digest"], document["bias"][0]["half_width"]
    path.write_text(json.dumps(document | {"comment": "mine"}), encoding="utf-8")
    saved = read_estimate(path)
    assert saved.frames == BodyFrame()
    assert saved.bias[0].half_width is None
    assert (saved.findings, saved.verdict) == (FULL.findings, FULL.verdict)
    expected = replace(FULL, frames=BodyFrame())
    assert estimate_text(saved) == estimate_text(expected)


@pytest.mark.parametrize("key", ["frames", "digest"])
@pytest.mark.parametrize("version", [None, 1, 2])
def test_an_older_file_with_a_key_of_version_3_is_refused(path, version, key):
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["schema_version"], document[{"frames": "digest", "digest": "frames"}[key]]
    said = "there is no schema_version"
    if version is not None:
        document, said = {"schema_version": version} | document, f"schema_version is {version}"
    for value in (document[key], None):
        path.write_text(json.dumps(document | {key: value}), encoding="utf-8")
        with pytest.raises(ModelError, match=f"{said}, and '{key}' is a key of version 3"):
            read_estimate(path)


def test_a_later_version_is_refused(path):
    with pytest.raises(
        ModelError, match="schema_version is 4; this version of the toolkit reads 3"
    ):
        read_estimate(change(path, "schema_version", to=4))
