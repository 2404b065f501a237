"""Inertias in files: estimate.json, and the links of URDF, SDF and MJCF models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.exchange.estimate_json import SCHEMA_VERSION as SCHEMA_VERSION
    from identify.exchange.estimate_json import SavedBias as SavedBias
    from identify.exchange.estimate_json import SavedEstimate as SavedEstimate
    from identify.exchange.estimate_json import read_estimate as read_estimate
    from identify.exchange.estimate_json import write_estimate as write_estimate
    from identify.exchange.exporting import EXPORTS as EXPORTS
    from identify.exchange.exporting import export_body as export_body
    from identify.exchange.link_inertia import LinkInertia as LinkInertia
    from identify.exchange.models import Model as Model
    from identify.exchange.models import read_model as read_model
    from identify.exchange.rewriting import inertial_snippet as inertial_snippet
    from identify.exchange.rewriting import rewrite_inertias as rewrite_inertias
    from identify.exchange.rewriting import rewrite_model as rewrite_model
    from identify.exchange.rounding import round_body as round_body
    from identify.exchange.xml_document import ModelFileError as ModelFileError
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "estimate_json": (
                "SCHEMA_VERSION",
                "SavedBias",
                "SavedEstimate",
                "read_estimate",
                "write_estimate",
            ),
            "exporting": ("EXPORTS", "export_body"),
            "link_inertia": ("LinkInertia",),
            "models": ("Model", "read_model"),
            "rewriting": ("inertial_snippet", "rewrite_inertias", "rewrite_model"),
            "rounding": ("round_body",),
            "xml_document": ("ModelFileError",),
        },
    )
