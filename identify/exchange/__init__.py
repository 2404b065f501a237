"""Inertias in files: estimate.json read and written."""

from identify.exchange.estimate_json import SCHEMA_VERSION, read_estimate, write_estimate
from identify.exchange.saved_estimate import SavedBias, SavedEstimate

__all__ = ["SCHEMA_VERSION", "SavedBias", "SavedEstimate", "read_estimate", "write_estimate"]
