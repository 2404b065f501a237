"""The shipped log, and a small log that tests can spoil."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

from identify.inertia import InertialParameters
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording

ROOT = Path(__file__).resolve().parents[2]

BODY = InertialParameters.from_com(
    1.3,
    np.array([0.02, -0.015, 0.06]),
    np.array([[31.0, 4.0, -3.0], [4.0, 26.0, 5.0], [-3.0, 5.0, 17.0]]) * 1e-4,
)


class Log(NamedTuple):
    path: Path
    schema: Path


def load_script(path: str) -> ModuleType:
    """Return a script of `docs/` or `scripts/`, which are no packages."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def shipped() -> Path:
    return ROOT / "datasets" / "payload_arm"


@pytest.fixture(scope="session")
def _clean(tmp_path_factory) -> Path:
    recording = synthetic_recording(
        BODY.phi,
        rng=np.random.default_rng(11),
        duration=8.0,
        rate_hz=100.0,
        bias=(1.0, -2.0, 3.0, 0.1, -0.2, 0.05),
        noise=Noise(force=0.02, torque=1e-3),
    )
    path = tmp_path_factory.mktemp("clean") / "log.csv"
    write_log(recording, path)
    return path


@pytest.fixture
def log(_clean, tmp_path) -> Log:
    """A log of eight seconds of `BODY` as a CSV, with its schema, both of which may be spoilt."""
    for name in ("log.csv", "log.toml"):
        (tmp_path / name).write_bytes((_clean.parent / name).read_bytes())
    return Log(tmp_path / "log.csv", tmp_path / "log.toml")


@pytest.fixture
def no_report(monkeypatch) -> None:
    """Spare a test that is not about the report the seconds it takes."""

    monkeypatch.setattr("identify.reporting.page.report_html", lambda *given: "<html></html>")


Rows = list[list[str]]


@pytest.fixture
def spoil(log) -> Callable[[Callable[[Rows], Rows]], Log]:
    """Rewrites the log's rows: a function of the rows of text, the header being the first."""

    def rewrite(change: Callable[[Rows], Rows]) -> Log:
        rows = [line.replace('"', "").split(",") for line in log.path.read_text().splitlines()]
        log.path.write_text("".join(",".join(row) + "\n" for row in change(rows)))
        return log

    return rewrite
