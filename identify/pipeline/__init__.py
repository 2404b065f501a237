"""Log to result: one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.pipeline.fitting import block_statistics as block_statistics
    from identify.pipeline.fitting import fit as fit
    from identify.pipeline.log_replay import LogReplay as LogReplay
    from identify.pipeline.log_replay import replay_log as replay_log
    from identify.pipeline.result import FitResult as FitResult
    from identify.pipeline.result import FitSettings as FitSettings
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "fitting": ("block_statistics", "fit"),
            "log_replay": ("LogReplay", "replay_log"),
            "result": ("FitResult", "FitSettings"),
        },
    )
