"""Sections of a study's summary: a new one is a function here, and a line in `summary.py`."""
