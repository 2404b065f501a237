import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import MissingFile, ModelError
from identify.exchange import SavedEstimate, read_estimate, read_parameters, write_estimate
from identify.exchange.estimate_json import estimate_text
from identify.inertia import PHI
from tests.close import assert_same_body
from tests.exchange.estimates import BODY, FULL, change, content, seal, write


@pytest.fixture
def path(tmp_path) -> Path:
    return write_estimate(FULL, tmp_path / "estimate.json")


def codes(saved: SavedEstimate) -> list[str]:
    return [finding.code for finding in saved.findings]


TEN = {"phi": BODY.phi.tolist()}
COM = {"mass": 1.2, "com": [0.01, -0.02, 0.1]}
NAMED = dict(sorted(zip(PHI, TEN["phi"], strict=True), reverse=True))
TWICE = {
    "phi": [2.0, 0.2, 0.0, 0.0, 0.01, 0.0, 0.0, 0.05, 0.0, 0.05],
    "mass": 2.0,
    "com": [0.1, 0.0, 0.0],
    "inertia_about_com": [[0.01, 0, 0], [0, 0.03, 0], [0, 0, 0.03]],
    "inertia_about_origin": [[0.01, 0, 0], [0, 0.05, 0], [0, 0, 0.05]],
}


@pytest.mark.parametrize(
    "document",
    [
        TEN,
        TEN | dict.fromkeys(("frame", "intervals", "bias", "samples")),  # null is as good as none
        {"phi": NAMED | {"comment": "extra"}},
        TEN | {"mass": BODY.mass, "com": BODY.com.tolist()},
        COM | {"inertia_about_com": [[0.01, 1e-3, 0], [1e-3, 0.02, 0], [0, 0, 0.015]]},
        COM | {"inertia_about_origin": BODY.inertia_about_origin.tolist()},
    ],
)
def test_a_body_may_be_given_in_several_ways(tmp_path, document):
    saved = read_estimate(write(tmp_path / "e.json", document))
    assert_same_body(saved.parameters.phi, BODY.phi, 1e-15)
    if "phi" in document:
        assert np.array_equal(saved.parameters.phi, BODY.phi)
    assert estimate_text(saved) == estimate_text(SavedEstimate(saved.parameters))


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"mass": 1.0},
        {"mass": 1.0, "com": [0, 0, 0]},
        [1, 2, 3],
        "phi",
        None,
    ],
)
def test_a_document_without_a_body_is_rejected(tmp_path, document):
    path = write(tmp_path / "e.json", document)
    with pytest.raises(ModelError, match=r"no body|expected a JSON object") as caught:
        read_estimate(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert caught.value.exit_code == 2


def test_a_body_given_twice_must_agree_to_the_digits_that_others_print(tmp_path):
    path = tmp_path / "e.json"
    assert read_estimate(write(path, TWICE)).parameters.mass == 2.0
    near = TWICE | {"mass": 2.0000005, "com": [0.1, 0.0, 5e-8]}
    assert read_estimate(write(path, near)).parameters.mass == 2.0
    for key, value in {
        "mass": 2.00001,
        "com": [0.1, 0.0, 1e-5],
        "inertia_about_com": np.diag([0.02, 0.03, 0.03]).tolist(),
        "inertia_about_origin": np.eye(3).tolist(),
    }.items():
        with pytest.raises(ModelError, match=f"{key} is .*, but .* by phi; the two must agree"):
            read_estimate(write(path, TWICE | {key: value}))


NAN, INF = float("nan"), float("inf")
BAD_BODIES = {
    "phi": [
        *([1.0] * 9, [1.0] * 9 + [None], [NAN] * 10, [INF] * 10, ["2.0"] * 10, [True] * 10),
        *([[1.0]] * 10, "m", {"m": 1.0}, [10**400] + [1] * 9),
    ],
    "mass": ["heavy", [1, 2], True],
    "com": [[0, 0], ["0.1", 0, 0]],
    "inertia_about_com": [[1, 2, 3], [[1, 2, 0], [0, 1, 0], [0, 0, 1]]],
    "schema_version": [0, "3", 1, 2, 3.0, None, True, 4, int("9" * 400)],
}
WRENCH = {"wrench": [0.0] * 6}
BAD_VALUES = {
    "phi": [None],
    "mass": [1.3],
    "covariance": [[[1.0]]],
    "residual_rms": [[1.0], [], [[1.0] * 6]],
    "intervals": [[1, 2]],
    "intervals.m": [3, [3], ["a", "b"]],
    "decided_by": [3],
    "certified_bounds": [[1, 2, 3]],
    "certified_bounds.m": [3, [1, 2], [1, 2, None], ["a", 1, 0]],
    "variance_shares.m.wrench": [True],
    "bias": [3, {"sha256": ""}],
    "bias.0": [
        *("x", [1, 2], {"sha256": "", "half_width": None}),
        *(WRENCH | {"half_width": None}, WRENCH | {"sha256": ""}),
    ],
    "bias.0.wrench": [[1], [], ["1"] * 6],
    "bias.0.half_width": [[1]],
    "bias.1.wrench": [[1], [1] * 7],
    "bias.0.torque": [1],
    "samples": ["many", 1.5, True],
    "effective_samples": [[1]],
    "dropped_rows": [{}],
    "certificate": [[], {"gap": NAN}],
    "provenance": [{"seconds": INF}],
    "findings": [{}],
    "findings.0": [
        {"code": "delay"},
        {"code": "delay", "severity": "error", "text": "", "evidence": {"delay": NAN}},
    ],
    "findings.0.severity": ["fatal"],
    "findings.0.text": [3],
    "findings.0.note": [1],
    "r_squared": [[1.0], [1.0] * 7, []],
    "verdict": [{"usable": "yes"}],
    "frames": [3],
    "verdict.usable": ["maybe"],
    "verdict.usabel": [1],
    "verdict.possible": ["yes", 1],
    "verdict.needs.m 1%": ["yes"],
    "principal_axes.0.x": [1],
    "frames.base": [1],
    "frames.name": [3],
    "frames.tcp": ["here"],
    "frames.flange.translation": [[0, 0]],
    "frames.flange": [[0] * 7, {"translation": [0, 0, 0]}],
    "frames.flange.euler": [1],
    "frames.flange.quaternion": [[0, 0, 0, 2.0], [0, 0, 0, 0]],
}


def pairs(table: dict[str, list]) -> list[tuple[str, object]]:
    return [(key, value) for key, values in table.items() for value in values]


@pytest.mark.parametrize(("key", "value"), pairs(BAD_BODIES))
def test_a_bad_body_or_version_is_rejected_with_the_file_and_the_key(tmp_path, key, value):
    others = TEN if key in ("phi", "schema_version") else COM
    path = write(tmp_path / "e.json", others | {key: value})
    with pytest.raises(ModelError, match=r"expected|no 'hx'|update") as caught:
        read_estimate(path)
    assert str(caught.value).startswith(f"{path}: {key}")


@pytest.mark.parametrize(("place", "value"), pairs(BAD_VALUES))
def test_invalid_value_with_valid_digest_reports_file_and_key(path, place, value):
    with pytest.raises(ModelError, match=re.escape(place)) as caught:
        read_estimate(seal(change(path, place, to=value)))
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b'{"phi": [1, 2', b"\xff\xfe\x00", b"[" * 100_000, b"phi = 1", b"\x00" * 10],
)
def test_invalid_json_is_rejected(tmp_path, content):
    path = tmp_path / "e.json"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="not a JSON file"):
        read_estimate(path)


def test_missing_file_or_folder_raises_missing_file(tmp_path):
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


@given(st.sampled_from(sorted(FULL.to_dict())), JUNK)
def test_junk_under_any_key_is_read_or_refused_but_never_crashes(tmp_path_factory, key, junk):
    path = write(tmp_path_factory.mktemp("junk") / "e.json", TEN | {key: junk})
    try:
        saved = read_estimate(path)
    except ModelError:
        return
    write_estimate(saved, path)  # what was read can be written again


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
        lambda document: json.dumps(document).replace('"rows": 1000', '"rows": 1e3'),
        lambda document: json.dumps(document).replace('"rows": 1000', '"rows": 1000.0'),
    ],
)
def test_formatting_changes_are_not_edits(path, rewrite):
    text = rewrite(content(path))
    assert text != path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert codes(read_estimate(path)) == ["delay"]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("covariance.0.0", 0.3333333333333334),
        ("intervals.m", [1.1, 1.4]),
        ("decided_by.m", "dat!"),
        ("frames.flange.translation", [0.1, 0.0, 0.21]),
        ("frames.name", None),
        ("verdict.usable", "yes"),
        ("verdict.needs", {}),
        ("findings", []),
        ("certificate.seed", 2**60),
        ("certificate.zero", 0.0),
        ("certificate.rank", True),
        ("provenance.command", "e"),
        ("provenance.another", 1),
        ("samples", None),
        ("digest", "0" * 64),
    ],
)
def test_a_changed_value_is_an_error_among_the_findings(path, place, value):
    saved = read_estimate(change(path, place, to=value))
    assert codes(saved)[0] == "edited"
    assert saved.findings[0].severity == "error"
    assert saved.verdict is not None
    assert (saved.verdict.usable, saved.verdict.reasons[0]) == ("no", "edited")
    # Written again it says so still, once.
    again = read_estimate(write_estimate(saved, path))
    assert codes(again) == codes(saved)
    assert codes(read_estimate(change(path, "samples", to=7))).count("edited") == 1


def test_edited_estimate_without_verdict_is_judged(path):
    write_estimate(SavedEstimate(BODY), path)
    assert read_estimate(path).verdict is None
    saved = read_estimate(change(path, "frame", to="flange"))
    assert saved.verdict is not None
    assert (saved.verdict.usable, saved.verdict.possible) == ("no", True)


def test_read_parameters_rejects_edited_file(path):
    assert np.array_equal(read_parameters(path).phi, BODY.phi)
    with pytest.raises(ModelError, match=r"estimate\.json: The file was changed after it was wri"):
        read_parameters(change(path, "samples", to=7))


@pytest.mark.parametrize("key", FULL.to_dict())
def test_a_key_that_is_missing_or_misspelt_is_rejected(path, key):
    document = content(path)
    value = document.pop(key)
    with pytest.raises(ModelError, match=f"'{key}'|there is no schema_version"):
        read_estimate(write(path, document))
    with pytest.raises(ModelError, match=f"did you mean '{key}'|there is no schema_version"):
        read_estimate(write(path, document | {f"{key}4": value}))


def test_the_folder_of_a_fit_has_its_estimate(path):
    folder = path.parent
    assert read_estimate(folder).parameters == read_estimate(path).parameters
    path.unlink()
    with pytest.raises(MissingFile, match="is a folder; expected a file"):
        read_estimate(folder)
