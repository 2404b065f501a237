"""A case run in a child of this process, or in a process of its own, and what must not happen."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from identify.commands.main import main
from tests.fuzz.cases import Case, good_cases

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 60.0
"""Seconds after which a call hangs."""
MEMORY = 1500
"""Megabytes that no call may take."""
_STATUSES = frozenset({0, 2, 3})
_DONE_WITH_A_FINDING = {"inspect": 1, "fit": 4, "replay": 4, "subtract": 4, "add": 4}
"""What a command also ends with, its work done: a link is impossible, an estimate not for use."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended.

    Attributes:
        status: of exit; negative for a signal.
        seconds: that it took.
        megabytes: at the most.
        errors: what it said on standard error.
        escape: what must not happen and did; nothing as a rule.
    """

    status: int
    seconds: float
    megabytes: float
    errors: str
    escape: str


def run(case: Case, *, forked: bool = True) -> Outcome:
    """Run a case; forked is fast, and a process of its own meets what imports do."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in case.files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
        before = {path: path.read_bytes() for path in _files(folder)}
        began = time.monotonic()
        process = _fork(case, folder) if forked else _start(case, folder)
        status, megabytes = _wait(process, began)
        seconds = time.monotonic() - began
        errors = (folder / "stderr").read_bytes().decode("utf-8", "replace")
        found = escape(case, status, seconds, megabytes, errors)
        if not found and "study" not in case.words:
            found = left_behind(case, folder, before, status)
        return Outcome(status, seconds, megabytes, errors, found)


def warm_up() -> None:
    """Run what is good here, once: its imports are those of every child.

    Raises:
        AssertionError: it does not end with status 0.
    """
    here = Path.cwd()
    for case in good_cases():
        with tempfile.TemporaryDirectory() as name, open(os.devnull, "w") as nowhere:
            for path, content in case.files.items():
                (Path(name) / path).parent.mkdir(exist_ok=True)
                (Path(name) / path).write_bytes(content)
            os.chdir(name)
            try:
                with redirect_stdout(nowhere):
                    status = main(list(case.words))
                    if case.check is not None:
                        case.check()
            finally:
                os.chdir(here)
        assert status == 0, case.words


def _fork(case: Case, folder: Path) -> int:
    child = os.fork()
    if child:
        return child
    status = 99
    try:
        os.chdir(folder)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
        # pytest's own would take what is printed, and warnings are errors there
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        warnings.resetwarnings()
        warnings.showwarning = _show
        status = main(list(case.words))
        if status == 0 and case.check is not None:
            case.check()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - an escape, which the parent finds in what is printed
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _show(message: Warning | str, category: type[Warning], *where: object) -> None:
    if not issubclass(category, DeprecationWarning | ImportWarning | ResourceWarning):
        print(f"{category.__name__}: {message}", file=sys.stderr)


def _start(case: Case, folder: Path) -> int:
    words = [word.replace("\0", "") for word in case.words]  # the system takes none
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "identify", *words],
            cwd=folder,
            stdout=out,
            stderr=err,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        ).pid


def _wait(process: int, began: float) -> tuple[int, float]:
    """The exit status and the most memory [MB]; the process is killed when its time is over."""
    while True:
        found, status, used = os.wait4(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), used.ru_maxrss / 1e3
        if time.monotonic() - began > LIMIT:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.002)


def escape(case: Case, status: int, seconds: float, megabytes: float, errors: str) -> str:
    """What of a call must not be; nothing where all is well."""
    if seconds > LIMIT:
        return f"over {LIMIT:g} s"
    for sign in ("Traceback", "this is a bug", "Warning:", "other numbers"):
        if sign in errors:
            last = [line for line in errors.splitlines() if line.strip()][-2:]
            return f"{sign}: {' / '.join(last)[:200]}"
    done = status == _DONE_WITH_A_FINDING.get(case.words[0])
    if status not in _STATUSES and not done:
        return f"status {status}"
    if status and not (errors or done):
        return f"status {status} without a word"
    if len(errors) > 20_000:
        return f"{len(errors)} characters of error"
    return f"{megabytes:.0f} MB" if megabytes > MEMORY else ""


def left_behind(case: Case, folder: Path, before: dict[Path, bytes], status: int) -> str:
    """A file that should not be there: temporary, of a call that failed, or changed."""
    for path, content in before.items():
        if not path.exists() or path.read_bytes() != content:
            return f"{path.name} was changed"
    new = [path for path in _files(folder) - before.keys() if path.name not in ("stdout", "stderr")]
    if temporary := [path.name for path in new if path.name.startswith(".")]:
        return f"{temporary[0]} was left"
    done = status == _DONE_WITH_A_FINDING.get(case.words[0])
    return f"{new[0].name} of a call that failed" if status and new and not done else ""


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}
