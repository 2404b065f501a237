"""Figures of a study: a new one is a file here, and a line in `summary.py`."""
