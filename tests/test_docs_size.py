"""Sizes of the pages in words, code and generated lists of keys included."""

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
WORDS = {page.name: len(page.read_text(encoding="utf-8").split()) for page in DOCS.glob("*.md")}

ALL_PAGES = 35_000
"""Words that all pages may have together, about three hours of reading."""
ONE_PAGE = 4500
"""Words that one page may have."""
FIRST_PAGE = 900
"""Words that the page for new users may have."""


def test_all_pages_together_are_read_in_three_hours():
    assert sum(WORDS.values()) <= ALL_PAGES, WORDS


def test_no_page_is_longer_than_a_reader_takes_at_once():
    assert {name: words for name, words in WORDS.items() if words > ONE_PAGE} == {}


def test_getting_started_is_short():
    assert WORDS["getting-started.md"] <= FIRST_PAGE
