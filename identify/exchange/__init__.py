"""Inertias in files: estimate.json, and the links of URDF, SDF and MJCF models."""

from identify.exchange.controllers import Export
from identify.exchange.estimate_json import SCHEMA_VERSION, read_estimate, write_estimate
from identify.exchange.exporting import EXPORTS, export_body
from identify.exchange.link_inertia import LinkInertia
from identify.exchange.model_file_error import ModelFileError
from identify.exchange.model_formats import MODEL_FORMATS, ModelFormat, find_format
from identify.exchange.models import Model, read_model
from identify.exchange.rewriting import (
    InertialSnippet,
    RewrittenModel,
    inertial_snippet,
    rewrite_inertias,
    rewrite_model,
)
from identify.exchange.rounding import RoundedBody, round_body
from identify.exchange.saved_estimate import SavedBias, SavedEstimate

__all__ = [
    "EXPORTS",
    "MODEL_FORMATS",
    "SCHEMA_VERSION",
    "Export",
    "InertialSnippet",
    "LinkInertia",
    "Model",
    "ModelFileError",
    "ModelFormat",
    "RewrittenModel",
    "RoundedBody",
    "SavedBias",
    "SavedEstimate",
    "export_body",
    "find_format",
    "inertial_snippet",
    "read_estimate",
    "read_model",
    "rewrite_inertias",
    "rewrite_model",
    "round_body",
    "write_estimate",
]
