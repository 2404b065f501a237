"""Where the logs of a study come from: files, data sets, generators."""

from identify.experiments.sources.log_item import KnownBody, LoadedLog, LogItem, Truth
from identify.experiments.sources.registry import SOURCES
from identify.experiments.sources.source import Place, Source

__all__ = [
    "SOURCES",
    "KnownBody",
    "LoadedLog",
    "LogItem",
    "Place",
    "Source",
    "Truth",
]
