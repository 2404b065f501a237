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

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.errors import IdentifyError as IdentifyError
    from identify.estimation import Estimate as Estimate
    from identify.estimation import solve as solve
    from identify.estimation.terms import ComInBox as ComInBox
    from identify.estimation.terms import KnownMass as KnownMass
    from identify.estimation.terms import MassBetween as MassBetween
    from identify.exchange import SavedEstimate as SavedEstimate
    from identify.exchange import read_estimate
    from identify.inertia import InertialParameters as InertialParameters
    from identify.logs import Recording as Recording
    from identify.logs import read_log as read_log
    from identify.pipeline import FitResult as FitResult
    from identify.pipeline import FitSettings as FitSettings
    from identify.pipeline import fit as fit
    from identify.regressors import ParameterSpace as ParameterSpace
    from identify.regressors import Scalar as Scalar
    from identify.reporting import plot as plot
    from identify.reporting import report as report
    from identify.spatial import BodyMotion as BodyMotion
    from identify.spatial import Pose as Pose

    load_estimate = read_estimate
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "errors": ("IdentifyError",),
            "estimation": ("Estimate", "solve"),
            "estimation.terms": ("ComInBox", "KnownMass", "MassBetween"),
            "exchange": ("SavedEstimate", "read_estimate as load_estimate"),
            "inertia": ("InertialParameters",),
            "logs": ("Recording", "read_log"),
            "pipeline": ("FitResult", "FitSettings", "fit"),
            "regressors": ("ParameterSpace", "Scalar"),
            "reporting": ("plot", "report"),
            "spatial": ("BodyMotion", "Pose"),
        },
    )
    __all__ += ["__version__"]

try:
    __version__ = version("inertia-identify")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0.0.0"
