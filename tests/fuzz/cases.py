"""Inputs of every kind that the commands read, damaged at random in ways that files are."""

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from identify.inertia import InertialParameters
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording
from identify.studies import parse_study, run_study

Files = dict[str, bytes]

_ABSURD = (
    *("0", "-1", "1e300", "-1e300", "1e308", "1e-300", "5e-324", "nan", "inf", "-inf", "1e999"),
    *("9" * 400, "0x" + "f" * 4000, "1_0", "٣", "1,5", "", " ", '"', "true", "[]", "{}"),
    *("[[[[]]]]", "\0", "\udcff", "\x1b[31m", "𝔘", "a" * 5000, "2020-01-01", "'''", "-", "--"),
    *("%s", "${x}", "~"),
)
_BODY = InertialParameters.from_com(
    1.3, np.array([0.02, -0.015, 0.06]), np.diag([31e-4, 26e-4, 17e-4])
)
_INERTIAL = (
    '<inertial><origin xyz="0.1 0 0" rpy="0.1 0 0"/><mass value="1.5"/><inertia ixx="0.1" '
    'ixy="0.01" ixz="0" iyy="0.12" iyz="0" izz="0.15"/></inertial>'
)
_MODELS = {
    "model.urdf": f'<?xml version="1.0"?>\n<robot name="r"><link name="a">{_INERTIAL}</link>'
    f'<link name="b">{_INERTIAL}</link><joint name="j" type="fixed"><parent link="a"/>'
    '<child link="b"/></joint></robot>',
    "model.sdf": '<sdf version="1.9"><model name="m"><link name="a"><inertial><pose>0 0 1 0 0 0'
    "</pose><mass>1.5</mass><inertia><ixx>0.1</ixx><ixy>0</ixy><ixz>0</ixz><iyy>0.12</iyy>"
    "<iyz>0</iyz><izz>0.15</izz></inertia></inertial></link></model></sdf>",
    "model.xml": '<mujoco><compiler angle="radian"/><worldbody><body name="a"><inertial mass="1.5" '
    'pos="0 0 0.1" fullinertia="0.1 0.12 0.15 0.01 0 0"/><geom type="box" size=".1 .1 .1"/>'
    '<body name="b"><geom type="sphere" size=".1" density="500"/></body></body>'
    "</worldbody></mujoco>",
}
_SIMULATION = """
[body]
mass = 1.5
com = [0.0, 0.1, 0.0]
inertia_about_com = {xx = 0.1, xy = 0.0, xz = 0.01, yy = 0.12, yz = 0.0, zz = 0.15}
[state]
position = [0.0, 0.0, 1.0]
quaternion = [0.0, 0.0, 0.0, 1.0]
linear = [1.0, 0.0, 0.0]
angular = [0.0, 5.0, 0.1]
frame = "body"
[world]
gravity = [0.0, 0.0, -9.81]
[[loads]]
file = "load.csv"
interpolation = "hold"
frame = "body"
[[loads]]
force = [0.0, 0.0, 1.0]
point = [0.1, 0.0, 0.0]
frame = "world"
from = 0.0
to = 0.02
[[impulses]]
time = 0.03
linear = [0.0, 0.1, 0.0]
frame = "world"
"""
_LOAD = "time,fx,fy,fz,tx,ty,tz\n0,1,0,0,0,0,0.1\n0.1,1,0,0,0,0,0.1\n"
_STUDY = """
name = "small"
seed = 1
seeds = 2
metrics = ["mass_error", "consistent"]
timeout = 60.0
[[logs]]
kind = "synthetic"
number = 1
duration = 3.0
rate_hz = 50.0
mass = {from = 0.1, to = 2.0}
[[perturbations]]
kind = "noise"
force = [0.01, 0.02]
[[perturbations]]
label = "two"
steps = [{kind = "delay", wrench = 0.01}, {kind = "dropped_rows", share = 0.1, burst = 3}]
[[estimators]]
kind = "ols"
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A call of the program in a folder of its own.

    Attributes:
        kind: of the input that is damaged.
        files: of the folder.
        words: of the command line.
        check: what else has to hold in the folder, after a call that ended with status 0.
    """

    kind: str
    files: Files
    words: tuple[str, ...]
    check: Callable[[], None] | None = None


@cache
def originals() -> Mapping[str, bytes]:
    """Undamaged inputs by name."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        recording = synthetic_recording(
            _BODY.phi,
            rng=np.random.default_rng(1),
            duration=4.0,
            rate_hz=50.0,
            noise=Noise(force=0.02, torque=0.002),
            include="all",
        )
        for log in ("log.csv", "log.parquet"):
            write_log(recording, folder / log, folder / f"{log}.toml")
        table = np.genfromtxt(folder / "log.csv", delimiter=",", names=True)
        assert table.dtype.names is not None
        np.savez(folder / "log.npz", **{column: table[column] for column in table.dtype.names})
        found = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        study = {"name": "s", "seed": 1, "seeds": 3, "metrics": ["mass_error", "consistent"]}
        study |= {"logs": [{"kind": "synthetic", "number": 1, "duration": 3.0, "rate_hz": 50.0}]}
        study |= {"perturbations": [{"kind": "noise", "force": 0.05}], "estimators": ["ols", "wls"]}
        run_study(parse_study(study), folder / "study", workers=0)
        for path in sorted((folder / "study").iterdir()):
            found[f"study/{path.name}"] = path.read_bytes()
    phi = {"phi": _BODY.phi.tolist()}
    central = {
        "mass": 1.5,
        "com": [0.0, 0.1, 0.0],
        "inertia_about_com": [[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]],
    }
    thin = central | {"mass": 0.5, "inertia_about_com": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]]}
    found["thin.json"] = json.dumps(thin).encode()
    found |= {"phi.json": json.dumps(phi).encode(), "central.json": json.dumps(central).encode()}
    found |= {name: text.encode() for name, text in _MODELS.items()}
    found |= {"simulation.toml": _SIMULATION.encode(), "load.csv": _LOAD.encode()}
    return found | {"study.toml": _STUDY.encode()}


def good_cases() -> Iterator[Case]:
    """One of each kind that is as it should be."""
    files = {name: content for name, content in originals().items() if "/" not in name}
    for log, schema_file in _SCHEMAS.items():
        yield _kind(_fit(log, schema=files[schema_file]), log)
    for name in _MODELS:
        yield Case(name, files, ("inspect", name))
    yield Case("phi.json", files, ("subtract", "central.json", "thin.json"))
    yield Case("central.json", files, ("export", "central.json", "--to", "urdf"))
    words = ("--duration", "0.1", "--dt", "0.01", "-o", "out", "--quiet")
    for name in ("simulation.toml", "phi.json"):
        yield Case(name, files, ("simulate", name, *words))
    yield Case("study.toml", files, ("study", "check", "study.toml"))
    yield Case("shape", files, ("shape", "box", "1", "2", "3", "--mass", "1"))
    folder = {name: content for name, content in originals().items() if "/" in name}
    yield Case("study", folder, ("study", "table", "study"))


def cases(seed: int) -> Iterator[Case]:
    """Cases without end, every kind as often; a seed and a number name one."""
    number = 0
    while True:
        for kind in _KINDS:
            chance = random.Random(f"{seed} {kind.__name__} {number}")
            yield kind(chance)
        number += 1


def _flipped(content: bytes, chance: random.Random) -> bytes:
    """Cut off, or some bytes changed, put in, taken out or doubled."""
    data = bytearray(content)
    way = chance.choice(["cut", "flip", "bit", "insert", "delete", "double"])
    if way == "cut":
        return bytes(data[: chance.randrange(len(data) + 1)])
    for _ in range(chance.choice([1, 1, 2, 20])):
        i = chance.randrange(len(data) or 1)
        match way:
            case "flip":
                data[i : i + 1] = bytes([chance.randrange(256)])
            case "bit":
                data[i : i + 1] = bytes([data[i] ^ 1 << chance.randrange(8)]) if data else b""
            case "insert":
                junk = chance.choice(_ABSURD).encode("utf-8", "surrogateescape")
                data[i:i] = chance.choice([junk, b"\0", b"\n", b"\r", b'"', b"\xff\xfe", b"#"])
            case "delete":
                del data[i : i + chance.randrange(1, 40)]
            case _:
                data[i:i] = data[i : i + chance.randrange(1, 4000)]
    return bytes(data)


def _renumbered(text: str, chance: random.Random) -> str:
    """Some numbers, words or lines replaced by absurd ones, dropped or doubled."""
    for _ in range(chance.choice([1, 1, 2, 5])):
        pattern = chance.choice([r"-?\d+\.?\d*(e-?\d+)?", r"\"[^\"]*\"", r"\w+", r"[^\n]*\n?"])
        places = [match.span() for match in re.finditer(pattern, text) if match[0]]
        if not places:
            continue
        start, stop = chance.choice(places)
        new = chance.choice([chance.choice(_ABSURD), "", text[start:stop] * 2])
        if pattern.startswith("-?") and chance.random() < 0.5:  # as a slip of the pen or of units
            factor = chance.choice([-1.0, 0.0, 1.1, 1e3, 1e-3, 1e9, 1e-9, 1e100, 1e-100])
            new = repr(float(text[start:stop]) * factor)
        text = text[:start] + new + text[stop:]
    return text


def _damaged(name: str, chance: random.Random) -> bytes:
    content = originals()[name]
    if chance.random() < 0.5:
        return _flipped(content, chance)
    return _renumbered(content.decode("utf-8"), chance).encode("utf-8", "surrogateescape")


def _fit(log: str, *, log_bytes: bytes | None = None, schema: bytes | None = None) -> Case:
    source = log.removesuffix(".gz")
    files = {
        log: originals()[source] if log_bytes is None else log_bytes,
        "schema.toml": originals()[_SCHEMAS[source]] if schema is None else schema,
    }
    return Case("", files, ("fit", log, "--schema", "schema.toml", "-o", "out", "--quiet"))


_SCHEMAS = {"log.csv": "log.csv.toml", "log.parquet": "log.parquet.toml", "log.npz": "log.csv.toml"}


def _kind(case: Case, kind: str) -> Case:
    return Case(kind, case.files, case.words, case.check)


def text_log(chance: random.Random) -> Case:
    """A CSV log: damaged bytes or numbers, rows shuffled, columns doubled, other encodings."""
    content = originals()["log.csv"]
    lines = content.decode().splitlines(keepends=True)
    match chance.choice(["damage", "damage", "shuffle", "columns", "encoding", "short", "gzip"]):
        case "shuffle":
            body = lines[1:]
            chance.shuffle(body)
            content = "".join((lines[0], *body)).encode()
        case "columns":
            i = chance.randrange(20)
            rows = [line.rstrip("\n").split(",") for line in lines]
            content = "".join(",".join((*row, row[i])) + "\n" for row in rows).encode()
        case "encoding":
            way = chance.choice(["utf-16", "utf-32", "utf-8-sig", "utf-7", "cp037"])
            content = content.decode().encode(way)
        case "short":
            content = "".join(lines[: chance.randrange(30)]).encode()
        case "gzip":
            packed = _flipped(gzip.compress(content), chance)
            return _kind(_fit("log.csv.gz", log_bytes=packed), "CSV log")
        case _:
            content = _damaged("log.csv", chance)
    return _kind(_fit("log.csv", log_bytes=content), "CSV log")


def binary_log(chance: random.Random) -> Case:
    """A Parquet or NPZ log, flipped or cut short."""
    name = chance.choice(["log.parquet", "log.npz"])
    damaged = _flipped(originals()[name], chance)
    return _kind(_fit(name, log_bytes=damaged), "Parquet and NPZ log")


def schema(chance: random.Random) -> Case:
    """A schema: keys dropped, wrong types, absurd values, hostile TOML."""
    hostile = [b"a = " + b"[" * 5000, b"a.b" * 2000 + b" = 1", b"[a" * 500, b"x = 1\n" * 20_000]
    content = _damaged("log.csv.toml", chance)
    if chance.random() < 0.1:
        content = chance.choice(hostile)
    elif chance.random() < 0.1:
        table, key = chance.choice(
            [(b"pose", b"angle"), (b"wrench", b"force"), (b"twist", b"linear")]
        )
        noise = chance.choice(["1e300", "1e155", "-1", "1e-300", "0", "9e29"]).encode()
        content = originals()["log.csv.toml"].replace(
            b"[%s]\n" % table, b"[%s]\n%s_noise = %s\n" % (table, key, noise)
        )
    return _kind(_fit("log.csv", schema=content), "schema")


def model(chance: random.Random) -> Case:
    """A URDF, SDF or MJCF file; bombs, deep nesting, absurd numbers among them."""
    name = chance.choice(list(_MODELS))
    content = _damaged(name, chance)
    if chance.random() < 0.1:
        bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
        deep = b"<robot>" + b"<link>" * chance.choice([10, 1000, 100_000])
        wide = b"<robot name='r'>" + b"<link name='a'/>" * 2000 + b"</robot>"
        content = chance.choice([bomb + content, deep, wide])
    repair = ("--repair", "-o", f"fixed{Path(name).suffix}") if chance.random() < 0.4 else ()
    return Case("robot model", {name: content}, ("inspect", name, *repair))


def estimate(chance: random.Random) -> Case:
    """An estimate.json, or the short form of it."""
    name = chance.choice(["phi.json", "central.json"])
    words = chance.choice(
        [
            ("inspect", name),
            ("export", name, "--to", chance.choice(["urdf", "sdf", "mjcf", "drake", "ur", "kuka"])),
            ("subtract", name, "whole.json", "-o", "out.json"),
            ("simulate", name, "--duration", "0.1", "--dt", "0.05", "-o", "out", "--quiet"),
        ]
    )
    files = {name: _damaged(name, chance), "whole.json": originals()["phi.json"]}
    return Case("estimate.json", files, words)


def simulation(chance: random.Random) -> Case:
    """The file of a simulation, or the samples of its load."""
    files = {name: originals()[name] for name in ("simulation.toml", "load.csv")}
    name = chance.choice(["simulation.toml", "simulation.toml", "load.csv"])
    files[name] = _damaged(name, chance)
    words = ("simulate", "simulation.toml", "--duration", "0.1", "--dt", "0.01", "-o", "out")
    return Case("simulation", files, words)


def study_file(chance: random.Random) -> Case:
    """A study file."""
    files = {"study.toml": _damaged("study.toml", chance)}
    words = ("study", "check", "study.toml")
    return Case("study file", files, words)


def options(chance: random.Random) -> Case:
    """Good files, and absurd words on the command line."""
    names = ("log.csv", "log.csv.toml", "phi.json", "simulation.toml", "load.csv", "model.urdf")
    files = {name: originals()[name] for name in names}

    def word() -> str:
        return chance.choice(_ABSURD).replace("\0", "" if chance.random() < 0.5 else "\0")

    fit = ("fit", "log.csv", "--schema", "log.csv.toml", "-o", "out", "--quiet")
    fitted = [("--mass", 1), ("--mass-between", 2), ("--com-box", 6), ("--cutoff", 1)]
    fitted += [("--gravity", 3), ("--truth", 1)]
    simulate = ("simulate", "phi.json", "--duration", "0.1", "--dt", "0.05", "-o", "out")
    simulated = [("--duration", 1), ("--dt", 1), ("--every", 1), ("--linear", 3), ("--angular", 3)]
    simulated += [("--integrator", 1)]
    shape = ("shape", chance.choice(["box", "tube", "sphere", "rod", "cone"]))
    base, chosen = chance.choice(
        [
            (fit, fitted),
            (simulate, simulated),
            (("export", "phi.json"), [("--to", 1), ("--frame", 7), ("--largest-mass", 1)]),
            (shape, [("--mass", 1), ("--density", 1), ("--scale", 1), ("--", 3)]),
            (("study", "check"), [("--only", 1), ("--workers", 1)]),
            (("inspect",), [("model.urdf", 0), ("", 1), ("-o", 1), ("--repair", 0)]),
        ]
    )
    option, count = chance.choice(chosen)
    few = ["0", "1", "0.5", "2", "-1"]
    values = [word() if chance.random() < 0.6 else chance.choice(few) for _ in range(count)]
    return Case("options", files, (*base, *filter(None, [option]), *values))


def bomb(chance: random.Random) -> Case:
    """A small file that asks for much memory: a Parquet log, a model, a mesh."""
    match chance.choice(["log", "model", "mesh"]):
        case "log":
            clock, groups = chance.choice([(b"rate_hz = 1000.0", 2), (b"still = true", 150)])
            packed = _zeros(groups, dictionary=chance.random() < 0.5)
            document = originals()["log.parquet.toml"].replace(b'time = "t"', clock)
            case = _fit("log.parquet", log_bytes=packed, schema=document)
            return _kind(case, "bomb")
        case "model":
            number = str(chance.choice([1, 100, 5000, 30_000, 2**31 - 1, 10**12, -1]))
            asset = chance.choice(_ASSETS).replace("N", number)
            text = f"<mujoco>{asset}<worldbody><body name='a'><geom size='.1'/></body></worldbody>"
            files = {"model.xml": f"{text}</mujoco>".encode()}
            return Case("bomb", files, ("inspect", "model.xml"))
        case _:
            count = chance.choice([0, 1, 10**6, 2**32 - 1])
            files = {
                "a.stl": bytes(80) + count.to_bytes(4, "little") + bytes(50 * chance.choice([0, 4]))
            }
            return Case("bomb", files, ("shape", "mesh", "a.stl", "--mass", "1"))


_ASSETS = (
    '<asset><hfield name="h" nrow="N" ncol="N" size="1 1 1 1"/></asset>',
    '<asset><texture name="t" type="2d" builtin="flat" width="N" height="N"/></asset>',
    '<asset><texture type="skybox" builtin="flat" width="N" height="N"/></asset>',
    '<size nkey="N"/>',
)


@cache
def _zeros(groups: int, *, dictionary: bool) -> bytes:
    """A Parquet log of constant columns, with 131 072 rows in each of its groups."""
    header = originals()["log.csv"].split(b"\n", 1)[0].decode().replace('"', "").split(",")
    table = pa.table({name: np.full(2**17, float(name == "qw")) for name in header})
    content = pa.BufferOutputStream()
    with pq.ParquetWriter(
        content, table.schema, compression="zstd", use_dictionary=dictionary
    ) as writer:
        for _ in range(groups):
            writer.write_table(table)
    return content.getvalue().to_pybytes()


def hostile_name(chance: random.Random) -> Case:
    """Good logs whose names a terminal, a spreadsheet or a page would take for more."""
    marks = [
        "\x1b[31m",
        "\u202e",
        "\n",
        "\r",
        "=1+1",
        "+1",
        "-x",
        "@A1",
        "[red]",
        "<b>",
        "\t",
        "\udcff",
    ]
    names = {"".join(chance.sample(marks, chance.choice([1, 2, 3]))) for _ in range(2)}
    files = {f"{name}.csv": originals()["log.csv"] for name in names}
    files["schema.toml"] = originals()["log.csv.toml"]
    words = ("fit", "--each", "*.csv", "--schema", "schema.toml", "-o", "out", "--quiet")
    words += ("--no-report", "--workers", "0")

    def check() -> None:
        for name in ("table.csv", "comparison.html"):
            said = Path("out", name).read_text(encoding="utf-8")
            assert not {"\x1b", "\u202e"} & set(said), f"control characters in {name}"

    return Case("hostile name", files, words, check)


_KINDS = (
    *(text_log, binary_log, schema, model, estimate),
    *(simulation, study_file, options),
    *(bomb, hostile_name),
)
