from identify.estimation.priors.body_prior import BodyPrior as BodyPrior
from identify.estimation.priors.near_body import NearBody as NearBody
from identify.estimation.priors.prior import (
    Ball as Ball,
    NoPrior as NoPrior,
    NormalMixture as NormalMixture,
    Prior as Prior,
)
from identify.estimation.priors.shape_prior import ShapePrior as ShapePrior
