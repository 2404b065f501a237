"""Delimited text: CSV and its kin, whatever separates the fields."""

from identify.logs.readers.text.reader import read_text

__all__ = ["read_text"]
