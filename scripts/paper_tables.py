"""Copy the first table of each report that paper/paper.md names between its markers.

A marker may list the columns to copy, `<!-- from REPORT: perturbation, estimator, mass % -->`.

python scripts/paper_tables.py
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAPER = ROOT / "paper" / "paper.md"
_MARKED = re.compile(r"(<!-- from ([^\s:]+)(?:: (.*?))? -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def with_tables(text: str, root: Path = ROOT) -> str:
    """Return a text with the first table of each report between its markers."""

    def table(match: re.Match[str]) -> str:
        report = root / match[2]
        first_table = (
            _TABLE.search(report.read_text(encoding="utf-8")) if report.is_file() else None
        )
        shown = first_table[0] if first_table else f"*{match[2]} is not written yet.*\n"
        if first_table and match[3]:
            shown = _columns(shown, match[3].split(", "))
        return f"{match[1]}\n{shown}\n{match[5]}"

    return _MARKED.sub(table, text)


def _columns(table: str, names: list[str]) -> str:
    """Return the columns of a table that have these names."""
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    places = [rows[0].index(name) for name in names]
    return "".join(f"| {' | '.join(row[k] for k in places)} |\n" for row in rows)


if __name__ == "__main__":
    PAPER.write_text(with_tables(PAPER.read_text(encoding="utf-8")), encoding="utf-8")
