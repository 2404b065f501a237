"""Sources of logs by name: one class and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from identify.experiments.sources.files import Files, NamedDataset
from identify.experiments.sources.source import Source
from identify.experiments.sources.synthetic import Synthetic

SOURCES: Mapping[str, type[Source]] = {
    source.kind: source
    for source in (
        Files,
        NamedDataset,
        Synthetic,
    )
}
"""By the `kind` of a `[[logs]]` table."""
