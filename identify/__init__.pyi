from identify.errors import IdentifyError as IdentifyError
from identify.estimation import Estimate as Estimate
from identify.estimation.priors import BodyPrior as BodyPrior, ShapePrior as ShapePrior
from identify.estimation.terms import (
    ComInBox as ComInBox,
    ComInHull as ComInHull,
    KnownCom as KnownCom,
    KnownMass as KnownMass,
    MassAtPoints as MassAtPoints,
    MassBetween as MassBetween,
    MassInBox as MassInBox,
    MassInEllipsoid as MassInEllipsoid,
)
from identify.exchange import (
    SavedEstimate as SavedEstimate,
    export_body as export_body,
    read_estimate,
    read_model,
)
from identify.findings import Finding as Finding, Verdict as Verdict
from identify.inertia import InertialParameters as InertialParameters, shapes as shapes
from identify.logs import Recording as Recording, read_log as read_log
from identify.pipeline import (
    Compensator as Compensator,
    FitSettings as FitSettings,
    OnlineFit as OnlineFit,
    Result as Result,
    check_logs,
    fit as fit,
    solve as solve,
)
from identify.regressors import ParameterSpace as ParameterSpace, ScalarUnknown as ScalarUnknown
from identify.reporting import plot as plot, report as report
from identify.simulation import State as State, simulate as simulate
from identify.spatial import BodyMotion as BodyMotion, Pose as Pose

check = check_logs
inspect_model = read_model
load_estimate = read_estimate

__version__: str
