"""A page printed to a PDF by a browser that is there: chromium, without a window or a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from identify.errors import IdentifyError

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # Whatever the browser wants of the network on its own account ends here, too.
    *("--disable-dev-shm-usage", "--proxy-server=127.0.0.1:9", "--no-pdf-header-footer"),
)
_SECONDS = 120.0


class PrintingError(IdentifyError, RuntimeError):
    """There is no browser to print with, or it failed."""


def find_browser() -> str:
    """The path of a browser that prints.

    Raises:
        PrintingError: there is none.
    """
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        raise PrintingError(
            f"--pdf prints with a browser, and none of {', '.join(_BROWSERS)} is on the path. "
            "Install one (Debian: apt install chromium), or open report.html in any browser and "
            "print it there"
        )
    return found


def printed(html: str, paper: str) -> bytes:
    """A page as PDF, on paper of a size, such as "a4" or "letter".

    Raises:
        PrintingError: there is no browser, or it failed.
    """
    browser = find_browser()
    with tempfile.TemporaryDirectory() as folder:
        page, made = Path(folder) / "page.html", Path(folder) / "page.pdf"
        sized = html.replace("</style>", f"@page {{ size: {paper}; }}</style>", 1)
        page.write_text(sized, encoding="utf-8", errors="backslashreplace")
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        profile = [f"--user-data-dir={folder}/profile", f"--print-to-pdf={made}"]
        words = [browser, *_FLAGS, *sandbox, *profile, page.as_uri()]
        try:
            done = subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PrintingError(f"{browser} did not print the page: {error}") from error
        if done.returncode or not made.is_file():
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise PrintingError(
                f"{browser} did not print the page (status {done.returncode}): {' '.join(last)}"
            )
        return made.read_bytes()
