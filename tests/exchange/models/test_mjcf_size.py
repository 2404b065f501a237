import struct
import zlib

import pytest

from identify.exchange import mjcf_compiling
from identify.exchange.mjcf_size import why_too_large
from identify.exchange.models import read_model
from identify.exchange.xml_document import read_xml

BODY = '<worldbody><body name="a"><geom size="0.1"/></body></worldbody>'

LARGE = {
    "a height field": '<asset><hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/></asset>',
    "a texture": (
        '<asset><texture name="t" type="2d" builtin="flat" width="30000" height="30000"/></asset>'
    ),
    "a sky": '<asset><texture type="skybox" builtin="flat" width="5000" height="5000"/></asset>',
    "a mesh": '<asset><mesh name="m" builtin="plate" params="3000 3000"/></asset>',
    "keyframes": '<size nkey="100000000"/>',
    "user data": '<size nuser_body="100000000"/>',
}


def png(width: int, height: int) -> bytes:
    """The beginning of a grey picture."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + head
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )


@pytest.fixture
def write(tmp_path):
    def write(text, name="m.xml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<mujoco>{text}</mujoco>")
        return path

    return write


@pytest.mark.parametrize("asset", LARGE.values(), ids=LARGE)
def test_what_takes_gigabytes_is_not_compiled(write, mujoco, monkeypatch, asset):
    monkeypatch.setattr(mjcf_compiling, "_compile", lambda *_: pytest.fail("was compiled"))
    (link,) = read_model(write(asset + BODY)).links
    assert link.verdict is None
    assert " in line 1 of m.xml takes " in link.note
    assert "MB of memory, which is over 537 MB and not compiled here" in link.note


@pytest.mark.parametrize("tag", ["include", "model"])
def test_a_file_that_another_one_brings_in_counts(write, tag):
    write(LARGE["a texture"], "parts/large.xml")
    brought = f'<{tag} name="x" file="parts/large.xml"/>'
    inside = f"<asset>{brought}</asset>" if tag == "model" else brought
    said = why_too_large(read_xml(write(inside + BODY)))
    assert said.startswith("its <texture> in line 1 of large.xml takes 5400 MB")


@pytest.mark.parametrize(
    "compiler", ["", '<compiler assetdir="parts"/>', '<compiler strippath="1"/>']
)
def test_the_pixels_of_a_picture_and_the_size_of_a_file_count(write, tmp_path, compiler):
    folder = tmp_path / "parts" if "assetdir" in compiler else tmp_path
    folder.mkdir(exist_ok=True)
    name = "elsewhere/large" if "strippath" in compiler else "large"
    asset = f'<asset><hfield name="h" file="{name}.png" size="1 1 1 1"/></asset>'
    path = write(compiler + asset + BODY)
    assert why_too_large(read_xml(path)) == ""  # MuJoCo says that it is not there
    (folder / "large.png").write_bytes(png(30_000, 30_000))
    assert "its <hfield> in line 1 of m.xml takes 5400 MB" in why_too_large(read_xml(path))
    (folder / "large.png").write_bytes(png(100, 100))
    assert why_too_large(read_xml(path)) == ""
    mesh = write(f'{compiler}<asset><mesh name="m" file="{name}.stl"/></asset>{BODY}', "mesh.xml")
    with (folder / "large.stl").open("wb") as file:
        file.truncate(5_000_000_000)
    said = why_too_large(read_xml(mesh))
    assert "large.stl has 5000 MB, of which at the most 134 MB are read" in said


def test_what_models_have_is_compiled(write, mujoco):
    usual = (
        '<size nkey="10" nuser_body="3"/><asset>'
        '<texture name="t" type="2d" builtin="flat" width="4096" height="4096"/>'
        '<hfield name="h" nrow="200" ncol="200" size="1 1 1 1"/></asset>'
    )
    path = write(usual + BODY)
    assert why_too_large(read_xml(path)) == ""
    (link,) = read_model(path).links
    assert link.phi is not None
