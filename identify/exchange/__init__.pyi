from identify.exchange.estimate_json import (
    SCHEMA_VERSION as SCHEMA_VERSION,
    Bound as Bound,
    PrincipalAxis as PrincipalAxis,
    SavedBias as SavedBias,
    SavedEstimate as SavedEstimate,
    write_estimate as write_estimate,
)
from identify.exchange.estimate_reading import (
    read_estimate as read_estimate,
    read_parameters as read_parameters,
    require_unedited as require_unedited,
)
from identify.exchange.exporting import (
    EXPORT_FORMATS as EXPORT_FORMATS,
    export_body as export_body,
    model_with_comment as model_with_comment,
    with_comment as with_comment,
)
from identify.exchange.link_inertia import LinkInertia as LinkInertia
from identify.exchange.models import Model as Model, read_model as read_model
from identify.exchange.rewriting import (
    inertial_snippet as inertial_snippet,
    rewrite_model as rewrite_model,
)
from identify.exchange.rounding import round_body as round_body
from identify.exchange.xml_document import ModelFileError as ModelFileError
