import gzip
import random

import numpy as np
import pytest

from identify.errors import LogError
from identify.logs import Recording, read_log
from identify.logs.log_writing import schema_to_write, write_log
from identify.logs.synthetic import synthetic_recording
from tests.slow import few_or_many

PHI = [1.0, 0.1, 0.02, 0.05, 0.02, 0.0, 0.0, 0.03, 0.0, 0.03]
JUNK = [*(bytes([byte]) for byte in b'\n\r,"#\0\xff \t-e_'), b"nan", b"9" * 30]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    recording = synthetic_recording(PHI, rng=np.random.default_rng(0), duration=0.2, include="all")
    schema = schema_to_write(recording)
    write_log(recording, folder / "log.csv")
    write_log(recording, folder / "log.parquet")
    text = (folder / "log.csv").read_text().replace('"', "")
    table = np.loadtxt(folder / "log.csv", delimiter=",", skiprows=1)
    columns = dict(zip(text.split("\n", 1)[0].split(","), table.T, strict=True))
    np.savez(folder / "log.npz", **columns)
    np.savez_compressed(folder / "packed.npz", **columns)
    blanks = {"log": {"time": "t", "separator": "whitespace", "drop_bad_rows": True}}
    return {
        "log.csv": (text.encode(), schema),
        "log.txt": (text.replace(",", " \t").encode(), schema | blanks),
        "log.csv.gz": (gzip.compress(text.encode()), schema),
        **{
            name: ((folder / name).read_bytes(), schema)
            for name in ("log.parquet", "log.npz", "packed.npz")
        },
    }


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content cut off, or with some bytes changed, put in or taken out."""
    data = bytearray(content)
    kind = chance.choice(["cut", "flip", "flip", "insert", "delete"])
    if kind == "cut":
        return bytes(data[: chance.randrange(len(data))])
    for _ in range(chance.choice([1, 1, 2, 20])):
        i = chance.randrange(len(data))
        if kind == "flip":
            data[i] = chance.randrange(256)
        elif kind == "insert":
            data[i:i] = chance.choice(JUNK)
        else:
            del data[i : i + chance.randrange(1, 40)]
    return bytes(data)


def outcome(path, schema):
    try:
        return read_log(path, schema)
    except LogError as error:
        return str(error)


@pytest.mark.parametrize(
    "name", ["log.csv", "log.txt", "log.csv.gz", "log.parquet", "log.npz", "packed.npz"]
)
@pytest.mark.parametrize("rounds", few_or_many(40, 300))
def test_damaged_file_raises_identify_error(files, tmp_path, name, rounds):
    content, schema = files[name]
    chance = random.Random(name)
    path = tmp_path / name
    read = 0
    for _ in range(rounds):
        path.write_bytes(damaged(content, chance))
        got = outcome(path, schema)
        if isinstance(got, Recording):
            assert all(np.isfinite(signal).all() for signal in got.signals.values())
            read += 1
        else:
            assert str(path) in got
    assert read < rounds
    assert read > 0 or name not in ("log.csv", "log.txt")


def test_hidden_files_are_not_suggested(tmp_path):
    (tmp_path / ".logg.csv").write_text("")
    (tmp_path / "other.txt").write_text("")
    with pytest.raises(LogError, match=r"no such file; \S+ has other.txt$"):
        read_log(tmp_path / "log.csv", tmp_path / "schema.toml")
