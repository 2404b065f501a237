"""Sections of a report: a new one is a function here, and a line in `page.py`."""
