"""A report, taken apart by the parser of the standard library."""

import re
from html.parser import HTMLParser

PLAIN = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")
VOID = {"meta", "link", "img", "br", "hr", "input"}


def _plain(found: re.Match[str]) -> str:
    """A power of ten as Python writes it."""
    return f"{float(f'1e{found[1].translate(PLAIN)}'):.0e}"[1:]


class Page(HTMLParser):
    """Tags with their attributes, texts, and whether every tag that opens closes in order.

    Attributes:
        tags: of each element, its name and attributes.
        texts: of the elements, in order, without those of styles and scripts.
        cells: texts of the cells of each row of each table, numbers as Python reads them.
        script: text of the scripts.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.cells: list[list[str]] = []
        self.muted: list[bool] = []
        self.styles = self.script = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag == "tr":
            self.cells.append([])
            self.muted.append(dict(attrs).get("class") == "unmeasured")
        elif tag in ("td", "th"):
            self.cells[-1].append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1] == tag, f"</{tag}> closes <{self._open[-1]}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            self.styles += data
            return
        if "script" in self._open:
            self.script += data
            return
        self.texts.append(data)
        if {"td", "th"} & set(self._open):
            self.cells[-1][-1] += re.sub(r"·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", _plain, data.strip()).replace(
                "−", "-"
            )

    @property
    def text(self) -> str:
        """All text, with single spaces."""
        return " ".join(" ".join(self.texts).split())

    def rows(self, *first: str) -> list[list[str]]:
        """Rows of tables that begin with these cells."""
        return [row for row in self.cells if row[: len(first)] == list(first)]
