"""Documents that people write: every message says the place, the key, and the nearest known one."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field

from identify.documents import lookup, read_toml, validate
from identify.errors import MissingFile, ModelError, SchemaError, StudyError


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid")


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
        (
            {"wrench": {}, "streams": {"pose": {"ordr": 1}}},
            r"\[streams.pose\] unknown key 'ordr'; di",
        ),
        (
            {"wrench": {}, "loads": [{"type": "a"}, {}]},
            r"\[\[loads\]\] 2: the key 'type' is missing",
        ),
        ({"wrench": {}, "loads": [{"type": 1}]}, r"\[\[loads\]\] 1: type: .*string, got 1"),
        ({"wrench": {}, "loads": {}}, r"expected tables \[\[loads\]\], got \{\}"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(content: dict, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        validate(Document, content, "f", StudyError)


def test_every_problem_is_said_once() -> None:
    with pytest.raises(SchemaError) as caught:
        validate(Document, {"nam": 1, "wrench": {"odr": 1}}, "f")
    assert str(caught.value).count("unknown key") == 2


def test_toml_that_is_none_or_is_not_there(tmp_path) -> None:
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
