"""`--json`: what a command found, as one JSON document on standard output in place of its text.

A command says what goes into it with `answer`, which does nothing without the option; `main` adds
the command, its exit status and its error, and prints the whole when the command is done.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from identify.findings import Finding, Verdict

JSON = "--json"

_DOCUMENT: ContextVar[dict[str, Any] | None] = ContextVar("document", default=None)


def asks_for_json(words: list[str]) -> bool:
    """Whether a command line has the option; words after `--` are no options."""
    return JSON in (words[: words.index("--")] if "--" in words else words)


def is_asked() -> bool:
    """Whether a document is made, so that nobody reads what is printed."""
    return _DOCUMENT.get() is not None


def answer(found: Callable[[], Mapping[str, object]]) -> None:
    """Put keys into the document; `found` makes them and is called only where there is one."""
    document = _DOCUMENT.get()
    if document is not None:
        document.update(found())


@contextmanager
def answering() -> Iterator[tuple[dict[str, Any], io.StringIO]]:
    """A document that `answer` fills, and what is printed meanwhile, which is held back."""
    document: dict[str, Any] = {}
    token = _DOCUMENT.set(document)
    try:
        with redirect_stdout(io.StringIO()) as text:
            yield document, text
    finally:
        _DOCUMENT.reset(token)


def document_text(document: Mapping[str, object]) -> str:
    """The document as it is printed: ASCII, and null for what is not a finite number."""
    return json.dumps(_plain(document), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str | Path):
        return str(value)
    if hasattr(value, "tolist"):  # an array or a number of NumPy, which is not loaded for this
        return _plain(value.tolist())
    if isinstance(value, Finding | Verdict):
        return _plain(value.record())
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    return [_plain(one) for one in value]
