"""estimate.json: written to the last bit, read from any hand, refused in words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import MissingFile, ModelError
from identify.estimation import estimate_body
from identify.exchange import (
    SCHEMA_VERSION,
    PrincipalAxis,
    SavedBias,
    SavedEstimate,
    read_estimate,
    write_estimate,
)
from identify.exchange.estimate_json import estimate_text
from identify.findings import Finding, verdict_of
from identify.inertia import PHI, InertialParameters
from identify.spatial import BodyFrame, Pose
from tests.close import assert_close, assert_same_body
from tests.estimation.simulated import samples, wrench_noise
from tests.strategies import bodies, random_body

BODY = InertialParameters.from_com(
    1.2, [0.01, -0.02, 0.1], [[0.01, 1e-3, 0], [1e-3, 0.02, 0], [0, 0, 0.015]]
)
FULL = SavedEstimate(
    parameters=BODY,
    frame="tool flange",
    covariance=np.diag(np.arange(1.0, 11.0)) / 3.0,
    intervals={"m": (1.1, 1.3), "Ixx": None, "cx": (0.0, 0.1 + 0.2)},
    interval_kind="95 %, of a test",
    variance_shares={"m": {"wrench": 0.75, "motion": 0.25}},
    principal_axes=(
        PrincipalAxis(0.1 + 0.2, np.array([0.6, 0.0, 0.8]), 1e-3),
        PrincipalAxis(0.4, np.array([0.0, 1.0, 0.0]), None),
    ),
    decided_by=dict.fromkeys(PHI, "data") | {"Ixx": "default"},
    default_body="a ball",
    bias=(
        SavedBias("ab" * 32, np.arange(6) / 7.0, np.arange(6) / 13.0),
        SavedBias("", np.zeros(6)),
    ),
    residual_rms=np.arange(6) / 11.0,
    samples=1000,
    effective_samples=123.4,
    dropped_rows=3,
    certificate={"solver": "none", "gap": 1e-16, "eigenvalues": [0.1, 0.2, 0.3, 1.0]},
    provenance={"command": None, "logs": [{"name": "log", "rows": 1000}]},
)


NOT_TRUE = {
    "usable": "yes",
    "possible": "yes",
    "optimal": True,
    "explains_data": True,
    "identifiable": [],
    "reasons": [],
}


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def assert_same(a: SavedEstimate, b: SavedEstimate) -> None:
    assert np.array_equal(a.parameters.phi, b.parameters.phi)
    for name in ("covariance", "residual_rms"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None)
        assert one is None or np.array_equal(one, other)
    assert [bias.sha256 for bias in a.bias] == [bias.sha256 for bias in b.bias]
    for one, other in zip(a.bias, b.bias, strict=True):
        assert np.array_equal(one.wrench, other.wrench)
        assert (one.half_width is None) == (other.half_width is None)
        assert one.half_width is None or np.array_equal(one.half_width, other.half_width)
    for one, other in zip(a.principal_axes, b.principal_axes, strict=True):
        assert np.array_equal(one.direction, other.direction)
        assert (one.moment, one.half_angle) == (other.moment, other.half_angle)
    for name in [
        "frame",
        "intervals",
        "interval_kind",
        "variance_shares",
        "decided_by",
        "default_body",
        "samples",
        "effective_samples",
        "dropped_rows",
        "certificate",
        "provenance",
    ]:
        assert getattr(a, name) == getattr(b, name), name


# Round trips -------------------------------------------------------------------------------------


def test_everything_comes_back_to_the_last_bit(tmp_path):
    path = write_estimate(FULL, tmp_path / "new folder" / "estimate.json")
    assert path == tmp_path / "new folder" / "estimate.json"
    assert_same(read_estimate(path), FULL)
    assert_same(read_estimate(str(path)), FULL)


def test_a_body_alone_comes_back_too(tmp_path):
    bare = SavedEstimate(BODY)
    assert_same(read_estimate(write_estimate(bare, tmp_path / "e.json")), bare)


def test_the_name_of_the_body_frame_and_the_poses_in_it_come_back(tmp_path):
    flange = Pose.from_quaternion([0.0, 0.0, 0.6, 0.8], [0.01, 0.1 + 0.2, -0.03])
    saved = SavedEstimate(BODY, frames=BodyFrame("wrist sensor", flange=flange))
    path = write_estimate(saved, tmp_path / "e.json")
    found = json.loads(path.read_text(encoding="utf-8"))["frames"]
    assert found["name"] == "wrist sensor"
    assert found["flange"]["translation"] == [0.01, 0.1 + 0.2, -0.03]
    assert found["tcp"] is None
    assert_close(np.array(found["flange"]["quaternion"]), np.array([0.0, 0.0, 0.6, 0.8]), 1e-15)
    again = read_estimate(path).frames
    assert (again.name, again.tcp) == ("wrist sensor", None)
    assert np.array_equal(again.flange.position, flange.position)
    assert_close(again.flange.rotation, flange.rotation, 1e-15)
    assert read_estimate(write_estimate(FULL, path)).frames == BodyFrame()


@given(bodies())
def test_any_body_comes_back_to_the_last_bit(tmp_path_factory, phi):
    path = tmp_path_factory.mktemp("body") / "e.json"
    saved = SavedEstimate(InertialParameters(phi))
    assert np.array_equal(read_estimate(write_estimate(saved, path)).parameters.phi, phi)


def test_an_estimate_saves_itself_and_is_read_back(tmp_path):
    rng = np.random.default_rng(0)
    phi = random_body(rng)
    log = samples(phi, rng, 300, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6))
    estimate = replace(estimate_body([log.blocks()]), log_ids=("c0" * 32,), dropped_rows=2)
    assert_same(read_estimate(estimate.save(tmp_path / "estimate.json")), estimate.saved)
    document = json.loads((tmp_path / "estimate.json").read_text(encoding="utf-8"))
    assert document["schema_version"] == SCHEMA_VERSION
    assert document["mass"] == estimate.parameters.mass
    assert document["com"] == estimate.parameters.com.tolist()
    assert document["inertia_about_com"] == estimate.parameters.inertia_about_com.tolist()
    assert document["inertia_about_origin"] == estimate.parameters.inertia_about_origin.tolist()
    assert list(document) == [
        "schema_version",
        "frame",
        "frames",
        "phi",
        "mass",
        "com",
        "inertia_about_com",
        "inertia_about_origin",
        "covariance",
        "intervals",
        "interval_kind",
        "variance_shares",
        "principal_axes",
        "decided_by",
        "default_body",
        "bias",
        "residual_rms",
        "samples",
        "effective_samples",
        "dropped_rows",
        "certificate",
        "provenance",
        "findings",
        "r_squared",
        "verdict",
        "digest",
    ]
    assert document["verdict"]["usable"] == "yes"
    assert document["verdict"]["identifiable"] == list(PHI)
    assert document["r_squared"] is None

    assert document["bias"][0]["sha256"] == "c0" * 32


def test_findings_and_verdict_come_back_and_older_files_have_none(tmp_path):
    late = Finding("delay", "error", "late", "shift it", {"delay": [0.01, 0.02]}, "a.csv")
    verdict = verdict_of([late], possible=True, optimal=True, identifiable=["m"], needs={"a": True})
    saved = SavedEstimate(
        BODY,
        findings=(late,),
        r_squared=(0.5, None, 1.0, 0.0, -1.0, 0.25),
        verdict=verdict,
    )
    path = write_estimate(saved, tmp_path / "e.json")
    again = read_estimate(path)
    assert (again.findings, again.verdict) == ((late,), verdict)
    assert again.r_squared == (0.5, None, 1.0, 0.0, -1.0, 0.25)
    old = json.loads(path.read_text()) | {"schema_version": 1}
    for key in ("findings", "r_squared", "verdict", "frames", "digest"):
        del old[key]
    for document in (old, {"phi": old["phi"]}):
        path.write_text(json.dumps(document))
        bare = read_estimate(path)
        assert (bare.findings, bare.r_squared, bare.verdict) == ((), None, None)


def test_a_file_of_an_older_hand_without_a_version_is_read(tmp_path):
    saved = read_estimate(write(tmp_path / "e.json", {"phi": BODY.phi.tolist()}))
    assert_same(saved, SavedEstimate(BODY))


# Bodies in other words ---------------------------------------------------------------------------


def test_phi_by_name_in_any_order(tmp_path):
    named = dict(zip(PHI, BODY.phi.tolist(), strict=True))
    shuffled = dict(sorted(named.items(), reverse=True)) | {"comment": "extra"}
    assert_same(read_estimate(write(tmp_path / "e.json", {"phi": shuffled})), SavedEstimate(BODY))


def test_mass_centre_and_inertia_about_it(tmp_path):
    document = {
        "mass": 1.2,
        "com": [0.01, -0.02, 0.1],
        "inertia_about_com": [[0.01, 1e-3, 0], [1e-3, 0.02, 0], [0, 0, 0.015]],
    }
    body = read_estimate(write(tmp_path / "e.json", document)).parameters
    assert np.array_equal(body.phi, BODY.phi)


def test_mass_centre_and_inertia_about_the_origin(tmp_path):
    document = {
        "mass": 1.2,
        "com": [0.01, -0.02, 0.1],
        "inertia_about_origin": BODY.inertia_about_origin.tolist(),
    }
    body = read_estimate(write(tmp_path / "e.json", document)).parameters
    assert_same_body(body.phi, BODY.phi, 1e-15)


def test_phi_is_believed_before_what_is_derived_from_it(tmp_path):
    document = {"phi": BODY.phi.tolist(), "mass": BODY.mass, "com": BODY.com.tolist()}
    assert np.array_equal(
        read_estimate(write(tmp_path / "e.json", document)).parameters.phi, BODY.phi
    )


# Refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "no body: neither phi nor mass"),
        ({"mass": 1.0}, "no body: neither phi nor com"),
        ({"mass": 1.0, "com": [0, 0, 0]}, "neither phi nor inertia_about_com nor inertia_about_or"),
        ({"phi": [1.0] * 9}, "phi: expected a list of 10 numbers, got 9: "),
        ({"phi": [1.0] * 9 + [None]}, "phi: expected a finite number, got None"),
        ({"phi": [float("nan")] * 10}, "phi: expected a finite number, got nan"),
        ({"phi": [float("inf")] * 10}, "phi: expected a finite number, got inf"),
        ({"phi": ["one"] * 10}, "phi: expected a finite number, got 'one'"),
        ({"phi": [[1.0]] * 10}, r"phi: expected a finite number, got \[1.0\]"),
        ({"phi": "m"}, "phi: expected a list of 10 numbers, got 'm'"),
        ({"phi": None}, "phi: expected"),
        ({"phi": {"m": 1.0}}, "phi: no 'hx'; expected "),
        ({"phi": [10**400] + [1] * 9}, "phi"),
        ({"mass": "heavy", "com": [0, 0, 0]}, "mass: expected a finite number, got 'heavy'"),
        ({"mass": [1, 2], "com": [0, 0, 0]}, "mass: expected"),
        ({"mass": 1.0, "com": [0, 0]}, "com: expected a list of 3 numbers, got 2"),
        (
            {"mass": 1.0, "com": [0, 0, 0], "inertia_about_com": [1, 2, 3]},
            "inertia_about_com: expected a list of 3 numbers, got 1",
        ),
        (
            {"mass": 1.0, "com": [0, 0, 0], "inertia_about_com": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]},
            "expected a symmetric matrix",
        ),
        ({"phi": [1.0] * 10, "schema_version": 4}, "schema_version is 4.*Update the toolkit"),
        (
            {"phi": [1.0] * 10, "schema_version": 0},
            "schema_version: expected a whole number from 1, got 0",
        ),
        (
            {"phi": [1.0] * 10, "schema_version": "1"},
            "schema_version: expected a whole number from 1, got '1'",
        ),
        (
            {"phi": [1.0] * 10, "schema_version": 1.5},
            "schema_version: expected a whole number from 1, got 1.5",
        ),
        (
            {"phi": [1.0] * 10, "schema_version": None},
            "schema_version: expected a whole number from 1, got None",
        ),
        (
            {"phi": [1.0] * 10, "covariance": [[1.0]]},
            "covariance: expected 10 rows of 10 numbers, got 1",
        ),
        (
            {"phi": [1.0] * 10, "residual_rms": [1.0]},
            "residual_rms: expected a list of 6 numbers, got 1",
        ),
        ({"phi": [1.0] * 10, "intervals": [1, 2]}, r"intervals: expected an object, got \[1, 2\]"),
        (
            {"phi": [1.0] * 10, "intervals": {"m": 3}},
            r"intervals\.m: expected a list of 2 numbers, got 3",
        ),
        ({"phi": [1.0] * 10, "intervals": {"m": [3]}}, r"intervals\.m: expected a list of 2"),
        ({"phi": [1.0] * 10, "intervals": {"m": []}}, r"intervals\.m: expected a list of 2"),
        ({"phi": [1.0] * 10, "intervals": {"m": ["a", "b"]}}, r"intervals\.m: expected a fin"),
        ({"phi": [1.0] * 10, "intervals": {"m": [float("nan"), 1.0]}}, r"intervals\.m: expected"),
        ({"phi": [1.0] * 10, "intervals": {"m": [0.0, float("inf")]}}, r"intervals\.m: expected"),
        ({"phi": [1.0] * 10, "decided_by": 3}, "decided_by: expected an object, got 3"),
        ({"phi": [1.0] * 10, "bias": 3}, "bias: expected a list, got 3"),
        ({"phi": [1.0] * 10, "bias": [{"sha256": ""}]}, r"the key 'bias\.0\.wrench' is missing"),
        (
            {"phi": [1.0] * 10, "bias": [{"wrench": [0] * 6}]},
            r"the key 'bias\.0\.sha256' is missing",
        ),
        (
            {"phi": [1.0] * 10, "bias": [{"sha256": "", "wrench": [1]}]},
            r"bias\.0\.wrench: expected a list of 6 numbers",
        ),
        ({"phi": [1.0] * 10, "bias": ["x"]}, r"bias\.0: expected an object"),
        ({"phi": [1.0] * 10, "bias": {"sha256": ""}}, "bias: expected a list, got {"),
        ({"phi": [1.0] * 10, "samples": "many"}, "samples: .* integer, got 'many'"),
        ({"phi": [1.0] * 10, "samples": float("inf")}, "samples: .* got inf"),
        ({"phi": [1.0] * 10, "samples": float("nan")}, "samples: .* got nan"),
        (
            {"phi": [1.0] * 10, "effective_samples": float("nan")},
            "effective_samples: expected a fin",
        ),
        ({"phi": [1.0] * 10, "effective_samples": [1]}, "effective_samples: expected a finite"),
        ({"phi": [1.0] * 10, "dropped_rows": {}}, "dropped_rows: .* integer"),
        ({"phi": [1.0] * 10, "certificate": []}, r"certificate: expected an object, got \[\]"),
        ({"phi": [1.0] * 10, "findings": {}}, "findings: expected a list, got {}"),
        (
            {"phi": [1.0] * 10, "findings": [{"code": "dely"}]},
            r"key 'findings\.0\.text' is missing",
        ),
        (
            {"phi": [1.0] * 10, "findings": [{"code": "delay", "severity": "info", "text": 3}]},
            r"findings\.0\.text: .* string, got 3",
        ),
        ({"phi": [1.0] * 10, "r_squared": [1.0]}, "r_squared: expected 6 values, got 1"),
        (
            {"phi": [1.0] * 10, "verdict": {"usable": "maybe"}},
            r"verdict\.usable: expected one of .* got 'maybe'",
        ),
        ({"phi": [1.0] * 10, "verdict": {"usable": "yes"}}, r"key 'verdict\.possible' is missing"),
        ({"phi": [1.0] * 10, "verdict": NOT_TRUE}, r"verdict\.possible: .* boolean, got 'yes'"),
        ([1, 2, 3], "expected a JSON object, got list"),
        ("phi", "expected a JSON object, got str"),
        (None, "expected a JSON object, got NoneType"),
        ({"phi": [0.0] * 10, "bias": [[1, 2]]}, r"bias\.0: expected an object, got \[1, 2\]"),
        ({"phi": [0.0] * 10, "bias": 3}, "bias: expected a list, got 3"),
        (
            {"schema_version": int("9" * 400)},
            "schema_version is an integer of about 401 digits; this version",
        ),
    ],
)
def test_what_is_no_estimate_is_refused_with_the_file_and_the_key(tmp_path, document, message):
    path = write(tmp_path / "e.json", document)
    with pytest.raises(ModelError, match=message) as caught:
        read_estimate(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b'{"phi": [1, 2', b"\xff\xfe\x00", b"[" * 100_000, b"phi = 1", b"\x00" * 10],
)
def test_what_is_not_json_is_refused(tmp_path, content):
    path = tmp_path / "e.json"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="not a JSON file"):
        read_estimate(path)


def test_a_truncated_estimate_is_refused_wherever_it_ends(tmp_path):
    whole = write_estimate(FULL, tmp_path / "whole.json").read_bytes()
    path = tmp_path / "cut.json"
    for end in range(0, len(whole) - 2, 97):
        path.write_bytes(whole[:end])
        with pytest.raises(ModelError, match="not a JSON file"):
            read_estimate(path)


def test_a_file_too_large_for_an_estimate_is_not_even_read(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(60_000_000)
    with pytest.raises(ModelError, match="over 50 MB, which no estimate is"):
        read_estimate(path)


def test_a_file_that_is_not_there_or_is_a_folder_is_missing(tmp_path):
    with pytest.raises(MissingFile, match=r"none\.json: no such file") as caught:
        read_estimate(tmp_path / "none.json")
    assert caught.value.path == tmp_path / "none.json"
    assert isinstance(caught.value, FileNotFoundError)
    with pytest.raises(MissingFile):
        read_estimate(tmp_path)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            st.sampled_from(["m", "sha256", "wrench", "half_width", "moment", "x"]),
            children,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(
        [
            "schema_version",
            "findings",
            "r_squared",
            "verdict",
            "frame",
            "phi",
            "mass",
            "com",
            "inertia_about_com",
            "covariance",
            "intervals",
            "interval_kind",
            "variance_shares",
            "principal_axes",
            "decided_by",
            "default_body",
            "bias",
            "residual_rms",
            "samples",
            "effective_samples",
            "certificate",
        ]
    ),
    JUNK,
)
def test_junk_under_any_key_is_read_or_refused_but_never_crashes(tmp_path_factory, key, junk):
    document = {"phi": BODY.phi.tolist(), key: junk}
    path = write(tmp_path_factory.mktemp("junk") / "e.json", document)
    try:
        saved = read_estimate(path)
    except ModelError:
        return
    # What was read can be written again.
    write_estimate(saved, path)


# Written whole or not at all ---------------------------------------------------------------------


def test_numbers_that_are_none_are_not_written_and_the_old_file_stays(tmp_path):
    path = write_estimate(FULL, tmp_path / "e.json")
    before = path.read_bytes()
    with pytest.raises((ModelError, ValueError), match=r"nan|NaN|JSON|finite"):
        write_estimate(replace(FULL, certificate={"gap": float("nan")}), path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["e.json"]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_estimate(FULL, tmp_path / "e.json")
    before = path.read_bytes()

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_estimate(SavedEstimate(BODY), path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["e.json"]


def test_an_existing_file_is_replaced(tmp_path):
    path = write_estimate(FULL, tmp_path / "e.json")
    write_estimate(SavedEstimate(BODY), path)
    assert_same(read_estimate(path), SavedEstimate(BODY))


def test_a_written_file_has_the_permissions_of_any_other(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("x")
    path = write_estimate(FULL, tmp_path / "e.json")
    assert path.stat().st_mode == plain.stat().st_mode


def test_saved_numbers_are_plain_enough_to_compare(tmp_path):
    saved = read_estimate(write_estimate(FULL, tmp_path / "e.json"))
    assert_close(saved.covariance, FULL.covariance, 0.0)
    assert isinstance(saved.samples, int)
    assert saved.intervals["m"] == (1.1, 1.3)


TWICE = {
    "phi": [2.0, 0.2, 0.0, 0.0, 0.01, 0.0, 0.0, 0.05, 0.0, 0.05],
    "mass": 2.0,
    "com": [0.1, 0.0, 0.0],
    "inertia_about_com": [[0.01, 0, 0], [0, 0.03, 0], [0, 0, 0.03]],
    "inertia_about_origin": [[0.01, 0, 0], [0, 0.05, 0], [0, 0, 0.05]],
}


def test_a_body_said_twice_alike_is_read(tmp_path):
    assert read_estimate(write(tmp_path / "e.json", TWICE)).parameters.mass == 2.0
    near = TWICE | {"mass": 2.0000005, "com": [0.1, 0.0, 5e-8]}
    assert read_estimate(write(tmp_path / "e.json", near)).parameters.mass == 2.0


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("mass", 1.5, r"e\.json: mass is 1\.5, but phi says 2\.0; the two must agree"),
        ("mass", 2.00001, "mass is 2.00001, but phi says 2.0"),
        ("com", [0.1, 0.0, 1e-5], r"com is \[0\.1, 0\.0, 1e-05\], but phi says \[0\.1"),
        (
            "inertia_about_com",
            np.diag([0.02, 0.03, 0.03]).tolist(),
            "inertia_about_com is .*phi says",
        ),
        ("inertia_about_origin", np.eye(3).tolist(), "inertia_about_origin is .* but phi says"),
    ],
)
def test_a_body_said_twice_and_differently_is_refused(tmp_path, key, value, message):
    with pytest.raises(ModelError, match=message):
        read_estimate(write(tmp_path / "e.json", TWICE | {key: value}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": True}, "mass: expected a finite number, got True"),
        ({"com": ["0.1", 0, 0]}, "com: expected a finite number, got '0.1'"),
        ({"phi": ["2.0", *TWICE["phi"][1:]]}, "phi: expected a finite number, got '2.0'"),
        ({"phi": [True, *TWICE["phi"][1:]]}, "phi: expected .* got True"),
        ({"samples": True}, "samples: .* integer, got True"),
        ({"schema_version": True}, "schema_version: expected a whole number from 1, got True"),
    ],
)
def test_booleans_and_strings_are_no_numbers(tmp_path, changes, message):
    with pytest.raises(ModelError, match=message):
        read_estimate(write(tmp_path / "e.json", TWICE | changes))


def test_null_says_as_much_as_a_missing_key(tmp_path: Path) -> None:
    document = {"phi": BODY.phi.tolist()}
    for name, keys in (("without", ()), ("null", ("frame", "intervals", "bias", "samples"))):
        (tmp_path / name).write_text(json.dumps(document | dict.fromkeys(keys)))
    without, null = (read_estimate(tmp_path / name) for name in ("without", "null"))
    assert (null.frame, null.intervals, null.bias, null.samples) == ("body", {}, (), None)
    assert estimate_text(null) == estimate_text(without)


def test_a_file_is_not_written_over_a_folder(tmp_path):
    with pytest.raises(MissingFile, match="is a folder; expected the name of a file"):
        write_estimate(FULL, tmp_path)
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))
