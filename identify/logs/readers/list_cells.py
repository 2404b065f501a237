"""Text whose cells hold lists, such as of ROS's joint states: a plain column for each element."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from identify.errors import LogError
from identify.logs.readers.text_lines import is_missing, is_number

HAS_LISTS = re.compile(rb'(^|,)("\[[^\]\n]*,[^\]\n]*\]"|"?\[ *-?\d+\.[\d .e+-]*\]"?)(,|\r?$)', re.M)
"""Pattern of a cell that is a list."""

ECHOED_JOINTS = re.compile(rb"^\s*stamp:.*?^name:\s*[-\[].*?^position:\s*[-\[]", re.M | re.S)
"""Pattern of joint states as `topic echo` prints them."""

_LIST = re.compile(r"^(name|position|velocity|effort):\s*(\[[^\]]*\]|(?:- .*\s*?\n)+)", re.M)
_STAMP = re.compile(r"\bsecs?:\s*(\d+)\s+n(?:ano)?secs?:\s*(\d+)")


def without_lists(path: Path, content: bytes) -> bytes:
    """Return comma-separated text, or echoed joint states, with a column for each element.

    That of an element of `a` is `a[k]`, or `a[NAME]` if a cell of the row lists as many names.
    Raises `LogError`: a row has other lists than the first one.
    """
    text = content.decode("utf-8", "replace")
    is_echo = ECHOED_JOINTS.search(content) is not None
    cells = csv.reader(io.StringIO(text), skipinitialspace=True)
    rows = iter(_echoed_rows(text) if is_echo else cells)
    head, lines = next(rows), list[str]()
    for number, row in enumerate(rows, start=2):
        lists = [_elements(cell) for cell in row]
        names = next((each for each in lists if each and not all(map(_is_value, each))), ())
        pairs = list[tuple[str, str]]()
        for name, cell, elements in zip(head, row, lists, strict=False):
            if elements is None:
                pairs.append((name, cell))
            elif elements is not names:
                keys = names if len(names) == len(elements) else range(len(elements))
                pairs += [(f"{name}[{k}]", x) for k, x in zip(keys, elements, strict=True)]
        columns = ",".join(name for name, _ in pairs)
        if lines and columns != lines[0] and len(row) == len(head):
            text = f"{path}: row {number} has other lists than the first row; write equal ones"
            raise LogError(text, path=path, row=number)
        lines += [*([] if lines else [columns]), ",".join(cell for _, cell in pairs)]
    return "\n".join([*lines, ""]).encode()


def _is_value(text: str) -> bool:
    return is_number(text) or is_missing(text)


def _elements(cell: str) -> list[str] | None:
    """Return the elements of a list; None if the cell is none."""
    cell = cell.strip()
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    return [part.strip("'\"") for part in re.split(r"[,\s]+", cell[1:-1].strip()) if part]


def _echoed_rows(text: str) -> list[list[str]]:
    """Return joint states as rows, below the names of the columns."""
    signals, rows = ("name", "position", "velocity", "effort"), list[list[str]]()
    for message in re.split(r"^---\s*$", text, flags=re.M):
        stamp, lists = _STAMP.search(message), dict(_LIST.findall(message))
        if stamp is None or len(lists) < len(signals):
            continue  # the last one may be cut short
        seconds, nanoseconds = stamp.groups()
        values = (re.sub(r"\s*- ", " ", lists[each]).strip("[] \n") for each in signals)
        rows.append([f"{seconds}.{int(nanoseconds):09d}", *(f"[{each}]" for each in values)])
    return [["time", *signals], *rows]
