from identify.studies.document import load_study as load_study, parse_study as parse_study
from identify.studies.estimator import (
    EstimatorOutput as EstimatorOutput,
    TrialData as TrialData,
)
from identify.studies.progress import (
    Progress as Progress,
    TimeEstimate as TimeEstimate,
    estimate_time as estimate_time,
)
from identify.studies.results import (
    Results as Results,
    compare as compare,
    open_results as open_results,
    table as table,
)
from identify.studies.runner import (
    RunSummary as RunSummary,
    choose_executor as choose_executor,
    default_workers as default_workers,
    run_study as run_study,
)
from identify.studies.study import Study as Study, Trial as Trial
