"""Log to result: one call."""

from identify.pipeline.fit import block_statistics, fit
from identify.pipeline.replay_log import LogReplay, replay_log
from identify.pipeline.result import FitResult
from identify.pipeline.settings import FitSettings

__all__ = ["FitResult", "FitSettings", "LogReplay", "block_statistics", "fit", "replay_log"]
