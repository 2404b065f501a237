"""Physically consistent identification of rigid-body inertia.

    import identify

    recording = identify.read_log("log.csv", "schema.toml")
    result = identify.fit(recording)
    print(result.estimate.parameters.mass, result.estimate.intervals["m"])
    result.estimate.save("out/estimate.json")
    identify.report(result, "out/report.html")

Names are loaded when first used, so that `import identify` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from identify.errors import IdentifyError
    from identify.estimation import Estimate
    from identify.exchange import SavedEstimate
    from identify.exchange import read_estimate as load_estimate
    from identify.inertia import InertialParameters
    from identify.logs import Recording, read_log
    from identify.pipeline import FitResult, FitSettings, fit
    from identify.reporting import plot, report
    from identify.spatial import BodyMotion, Pose

_SOURCES = {
    "BodyMotion": ("identify.spatial", "BodyMotion"),
    "Estimate": ("identify.estimation", "Estimate"),
    "FitResult": ("identify.pipeline", "FitResult"),
    "FitSettings": ("identify.pipeline", "FitSettings"),
    "IdentifyError": ("identify.errors", "IdentifyError"),
    "InertialParameters": ("identify.inertia", "InertialParameters"),
    "Pose": ("identify.spatial", "Pose"),
    "Recording": ("identify.logs", "Recording"),
    "SavedEstimate": ("identify.exchange", "SavedEstimate"),
    "fit": ("identify.pipeline", "fit"),
    "load_estimate": ("identify.exchange", "read_estimate"),
    "plot": ("identify.reporting", "plot"),
    "read_log": ("identify.logs", "read_log"),
    "report": ("identify.reporting", "report"),
}

try:
    __version__ = version("inertia-identify")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0.0.0"

__all__ = [
    "BodyMotion",
    "Estimate",
    "FitResult",
    "FitSettings",
    "IdentifyError",
    "InertialParameters",
    "Pose",
    "Recording",
    "SavedEstimate",
    "__version__",
    "fit",
    "load_estimate",
    "plot",
    "read_log",
    "report",
]


def __getattr__(name: str) -> object:
    if name not in _SOURCES:
        raise AttributeError(f"module 'identify' has no attribute {name!r}")
    module, attribute = _SOURCES[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
