from identify.validation.noise_growth import wrench_noise as wrench_noise
from identify.validation.pooling import (
    DifferenceFromPool as DifferenceFromPool,
    PooledEstimates as PooledEstimates,
    pool_estimates as pool_estimates,
)
from identify.validation.replaying import (
    Replays as Replays,
    posterior_bodies as posterior_bodies,
)
from identify.validation.residuals import (
    MAX_UNEXPLAINED as MAX_UNEXPLAINED,
    assess_residuals as assess_residuals,
    noise_rms as noise_rms,
    residual_and_noise as residual_and_noise,
    unexplained_fraction as unexplained_fraction,
)
from identify.validation.scores import (
    HeldOutScores as HeldOutScores,
    held_out_scores as held_out_scores,
)
from identify.validation.single_shot import (
    SingleShot as SingleShot,
    replay_in_one_shot as replay_in_one_shot,
)
from identify.validation.validation import (
    ESTIMATE as ESTIMATE,
    LEAST_SQUARES as LEAST_SQUARES,
    TRUTH as TRUTH,
    Validation as Validation,
    validate as validate,
)
from identify.validation.windowed_replay import (
    DEFAULT_HORIZON as DEFAULT_HORIZON,
    ErrorBand as ErrorBand,
    Replay as Replay,
    ReplayErrors as ReplayErrors,
    replay as replay,
)
