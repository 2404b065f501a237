"""A web server on the loopback that behaves as told, and data sets made of its files."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from identify.catalog import Dataset

CONTENT = {"one.csv": b"a,b\n1,2\n" * 500, "deep/two.csv": b"c\n3\n" * 40_000}
ENTRY = {
    "what": "Two files",
    "kind": "wrench",
    "version": "1",
    "folder": "two_files",
    "layout": "one.csv: a, b.\ndeep/two.csv: c.",
    "schema": "schemas/stars.toml",
    "home": "https://example.org/two-files",
    "licence": "MIT",
    "citation": "Nobody, nowhere, never.",
    "evidence": "Made up for a test.",
}


class Site:
    """What the server gives: content by path, and how it misbehaves.

    Attributes:
        content: what each path gives.
        cut: close each connection after half of the content.
        release: set it to let a server go on that holds back the second half.
        holds: whether it holds back.
    """

    def __init__(self) -> None:
        self.content = {f"/{name}": body for name, body in CONTENT.items()}
        self.cut = self.holds = False
        self.release, self.asked = threading.Event(), list[str]()
        self.url = ""


@contextmanager
def serving() -> Iterator[Site]:
    """Serve a site on a free port of the loopback."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            body = site.content.get(self.path)
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self._send(body)
            except OSError:
                self.close_connection = True

        def _send(self, body: bytes) -> None:
            half = len(body) // 2
            self.wfile.write(body[:half])
            self.wfile.flush()
            if site.holds:
                site.release.wait(30.0)
            if not site.cut:
                self.wfile.write(body[half:])

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield site
    finally:
        site.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


def dataset(url: str | None) -> Dataset:
    """A data set of the two files; without an address they are not downloaded."""
    reason = {} if url else {"not_downloaded": "it is a secret"}
    files = [
        {
            "path": path,
            "role": "log",
            "size": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
            **({"url": f"{url}/{path}"} if url else {}),
        }
        for path, body in CONTENT.items()
    ]
    return Dataset.model_validate({"name": "two", **ENTRY, **reason, "files": files})
