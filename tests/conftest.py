"""One profile for every property test: the same examples on every machine, and no stopwatch."""

import os
import sys
import types
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from identify.catalog import dataset_names
from tests.browser import Visit, find_browser, open_page
from tests.catalog.made_sets import with_checksums, write_tx40
from tests.commands.calling import Cli
from tests.still_poses import write_still_poses
from tests.tool_logs import write_tool_logs

settings.register_profile(
    "fixed",
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# HYPOTHESIS_PROFILE=seeded pytest --hypothesis-seed=N: other examples, as many.
settings.register_profile("seeded", settings.get_profile("fixed"), derandomize=False)
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


LOG_SOURCES = ["made"]
if os.environ.get("IDENTIFY_SHARED_DATA"):
    LOG_SOURCES.append(pytest.param("of others", marks=pytest.mark.slow))


@pytest.fixture(scope="session", params=LOG_SOURCES)
def still_poses(request, tmp_path_factory) -> Path:
    """Folder of `axia80_static`: a made log, and the measured one where it is at hand."""
    if request.param != "made":
        return request.getfixturevalue("shared_data")
    return write_still_poses(tmp_path_factory.mktemp("still_poses"))


@pytest.fixture(scope="session", params=LOG_SOURCES)
def tool_logs(request, tmp_path_factory) -> Path:
    """Folder of the data sets "stars" and "tx40", of made logs, and the real where at hand."""
    if request.param != "made":
        return request.getfixturevalue("shared_data")
    folder = tmp_path_factory.mktemp("tools") / "made"  # made again where others came between
    folder.mkdir()
    write_tool_logs(folder)
    write_tx40(folder / "tx40")
    return folder


@pytest.fixture
def mirror_of_sets(tool_logs, monkeypatch) -> Path:
    """That folder as the one of public data sets, whose checksums are those of made files."""
    monkeypatch.setenv("IDENTIFY_DATA", str(tool_logs))
    if tool_logs.name == "made":
        made = {name: with_checksums(name, tool_logs) for name in dataset_names()}
        monkeypatch.setattr("identify.catalog.dataset_files._datasets_by_name", lambda: made)
    return tool_logs


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that open a page in a browser are slow."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


MAX_PROCESSOR_S = 3.0
"""Processor time of a test without the mark `slow`, its processes included."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    start = sum(os.times()[:4])
    try:
        return (yield)
    finally:
        if item.get_closest_marker("slow") is None:
            item.user_properties.append(("processor_s", sum(os.times()[:4]) - start))


def pytest_terminal_summary(terminalreporter) -> None:
    """With IDENTIFY_TEST_TIMES set, list the tests that take longer than `MAX_PROCESSOR_S`."""
    if not os.environ.get("IDENTIFY_TEST_TIMES"):
        return
    reports = (each for each in terminalreporter.getreports("passed") if each.when == "call")
    times = [(dict(each.user_properties).get("processor_s", 0.0), each.nodeid) for each in reports]
    for seconds, name in sorted(times, reverse=True):
        if seconds > MAX_PROCESSOR_S:
            terminalreporter.write_line(f"{seconds:.1f} s of processor time: {name}")


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
