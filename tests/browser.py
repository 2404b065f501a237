"""A browser without a window or a network, for tests that open a page as a reader does."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--hide-scrollbars",
    # Whatever the browser wants of the network on its own account ends here, too.
    "--proxy-server=127.0.0.1:9",
    "--enable-logging=stderr",
    "--v=0",
)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


@dataclass(frozen=True)
class Visit:
    """What a browser made of a page.

    Attributes:
        dom: the document after it was loaded.
        console: what was written to the console.
        requests: addresses that the page asked for.
    """

    dom: str
    console: list[str]
    requests: list[str]


def find_browser() -> str:
    """The path of a chromium; the test is skipped where there is none."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    pytest.skip("no chromium on the path (Debian: apt-get install chromium)")


def open_page(browser: str, folder: Path, page: Path, width: int = 1100) -> Visit:
    """Open a file in a new profile, in a window of a width; the profile stays in the folder."""
    log = folder / "net.json"
    size, net_log = f"--window-size={width},2000", f"--log-net-log={log}"
    done = _run(browser, folder, size, net_log, "--dump-dom", page.as_uri())
    assert "</html>" in done.stdout
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return Visit(done.stdout, console, _requests(log))


def printed_pages(browser: str, folder: Path, page: Path) -> int:
    """The number of pages on which a browser prints a file."""
    pdf = folder / "printed.pdf"
    _run(browser, folder, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri())
    return len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))


def _run(browser: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [browser, *FLAGS, *sandbox, profile, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def _requests(log: Path) -> list[str]:
    """Addresses asked for by pages, not by the browser itself (whose requests have no origin)."""
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    parameters = [event.get("params") or {} for event in events]
    return [
        one["url"]
        for one in parameters
        if "url" in one and one.get("initiator", "not an origin") != "not an origin"
    ]


def measured(visit: Visit) -> dict:
    (text,) = re.findall(r'<pre id="measured">(.*?)</pre>', visit.dom, flags=re.DOTALL)
    return json.loads(unescape(text))
