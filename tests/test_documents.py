import math
import re
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field

from identify.documents import Number, lookup, read_toml, short_repr, validate
from identify.errors import MissingFile, ModelError, SchemaError, StudyError


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Two(Table):
    a: Number = 0.0


class Pose(Table):
    order: str = "xyzw"
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Streams(Table):
    pose: Pose | None = None


class Load(Table):
    kind: Annotated[str, Field(alias="type")]
    force: float = 0.0


class Document(Table):
    name: str = ""
    streams: Streams = Streams()
    loads: tuple[Load, ...] = ()
    wrench: Pose


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, r"f: the table \[wrench\] is missing"),
        ({"wrench": {}, "nam": 1}, "f: unknown key 'nam'; did you mean 'name'?"),
        ({"wrench": {}, "name": 1}, "f: name: input should be a valid string, got 1"),
        ({"wrench": 3}, r"f: \[wrench\] expected a table, got 3"),
        ({"wrench": {"type": 1}}, r"\[wrench\] unknown key 'type'; it belongs in \[loads\]"),
        ({"wrench": {"zz": 1}}, r"\[wrench\] unknown key 'zz'; known keys are order, at"),
        ({"wrench": {"name": ""}}, r"\[wrench\] unknown key 'name'; it belongs on top"),
        ({"wrench": {"at": [0, "x", 0]}}, r"\[wrench\] at: .*valid number.*, got 'x'"),
        ({"wrench": {}, "streams": {"pose": {"ordr": 1}}}, r"\[streams.pose\] unknown key 'ordr';"),
        ({"wrench": {}, "loads": [{"type": "a"}, {}]}, r"\[\[loads\]\] 2: the key 'type' is missi"),
        ({"wrench": {}, "loads": [{"type": 1}]}, r"\[\[loads\]\] 1: type: .*string, got 1"),
        ({"wrench": {}, "loads": {}}, r"expected tables \[\[loads\]\], got \{\}"),
    ],
)
def test_invalid_document_reports_location(content: dict, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        validate(Document, content, "f", StudyError)


def test_each_problem_is_reported_once() -> None:
    with pytest.raises(SchemaError) as caught:
        validate(Document, {"nam": 1, "wrench": {"odr": 1}}, "f")
    assert str(caught.value).count("unknown key") == 2


def test_invalid_or_missing_toml_is_rejected(tmp_path) -> None:
    path = tmp_path / "schema.toml"
    with pytest.raises(MissingFile, match="no such file"):
        read_toml(path)
    path.write_bytes("[log]\nname = 'é'".encode("latin-1"))
    with pytest.raises(SchemaError, match="save it as UTF-8"):
        read_toml(path)
    path.write_text("[log\n")
    with pytest.raises(StudyError, match=r"schema\.toml: not a TOML file"):
        read_toml(path, StudyError)
    path.write_bytes(b"\xef\xbb\xbfname = 'a'")
    assert read_toml(path) == {"name": "a"}


def test_a_mistyped_name_gets_the_nearest() -> None:
    shapes = {"box": 1, "sphere": 2}
    assert lookup(shapes, "box", "shape") == 1
    with pytest.raises(ModelError, match=r"no shape 'sfere' among box, .* mean 'sphere'\?"):
        lookup(shapes, "sfere", "shape", ModelError)


@pytest.mark.parametrize("number", [10**400, -(10**5000), 16**9999], ids=("400", "5000", "hex"))
def test_an_integer_of_any_length_is_named_by_its_length(number: int) -> None:
    spelled = short_repr(number)
    assert len(spelled) < 50
    digits = int(re.findall(r"integer of about (\d+) digits", spelled)[0])
    assert abs(digits - number.bit_length() * math.log10(2.0)) <= 1.0


def test_values_of_any_length_are_cut_in_messages() -> None:
    assert short_repr(12345) == "12345"
    assert short_repr([1.0] * 10) == repr([1.0] * 10)
    assert len(short_repr("x" * 10**6)) < 90
    assert len(short_repr([["y" * 1000] * 1000] * 1000)) < 310
    for model, content in ((Two, {"a": 10**400}), (Two, {"z" * 10**5: 1})):
        with pytest.raises(SchemaError) as caught:
            validate(model, content, "file")
        assert len(str(caught.value)) < 300


def test_many_problems_are_truncated() -> None:
    with pytest.raises(SchemaError, match=r"; and 980 more$") as caught:
        validate(Two, {f"wrong{k}": 1 for k in range(1000)}, "file")
    assert str(caught.value).count("unknown key") == 20


def test_oversized_toml_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "big.toml"
    path.write_bytes(b"a = 1\n" * 3_000_000)
    with pytest.raises(
        SchemaError, match="not a TOML file: 18000000 bytes, expected at most 16777216"
    ):
        read_toml(path)
