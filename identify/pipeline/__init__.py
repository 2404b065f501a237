"""Log to result: one call."""

from identify.pipeline.fit import block_statistics, fit
from identify.pipeline.result import FitResult
from identify.pipeline.settings import FitSettings

__all__ = ["FitResult", "FitSettings", "block_statistics", "fit"]
