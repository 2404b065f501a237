"""One profile for every property test: the same examples on every machine, and no stopwatch."""

import os
import sys
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import Visit, find_browser, open_page
from tests.commands.calling import Cli

settings.register_profile(
    "fixed",
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the logs of others, which are not part of the project."""
    folder = os.environ.get("IDENTIFY_SHARED_DATA")
    if not folder:
        pytest.skip("IDENTIFY_SHARED_DATA is not set: the logs of others are not at hand")
    if not Path(folder).is_dir():
        pytest.skip(f"IDENTIFY_SHARED_DATA is {folder!r}, which is not a folder")
    return Path(folder)


@pytest.fixture
def shared(shared_data, monkeypatch) -> Path:
    """That folder as the one of public data sets."""
    monkeypatch.setenv("IDENTIFY_DATA", str(shared_data))
    return shared_data


@pytest.fixture
def cli(capsys) -> Cli:
    return Cli(capsys)


@pytest.fixture(scope="session")
def browser() -> str:
    return find_browser()


@pytest.fixture
def visit(browser, tmp_path) -> Callable[..., Visit]:
    """Opens a page, in a window of a width, and says what a browser made of it."""
    return partial(open_page, browser, tmp_path)


@pytest.fixture(scope="session")
def pinocchio() -> types.ModuleType:
    return pytest.importorskip("pinocchio", reason="Pinocchio (pin) is not installed")


@pytest.fixture(scope="session")
def mujoco() -> types.ModuleType:
    return pytest.importorskip("mujoco", reason="MuJoCo is not installed")


@pytest.fixture(scope="session")
def rigeo() -> types.ModuleType:
    # It imports a library of polyhedra (pycddlib), which its formulas do not need.
    sys.modules.setdefault("cdd", types.ModuleType("cdd"))
    return pytest.importorskip("rigeo", reason="rigeo is not installed")
