"""The sections of a report, in their order.

A new section is a file here, with a function that makes a `Section` of a `FitResult` (or None where
it has nothing to say), and a line in `SECTIONS`.
"""

from identify.reporting.content import Builder
from identify.reporting.sections.bias import bias
from identify.reporting.sections.certificate import certificate
from identify.reporting.sections.data import data
from identify.reporting.sections.excitation import excitation
from identify.reporting.sections.headline import headline
from identify.reporting.sections.notes import notes
from identify.reporting.sections.parameters import parameters
from identify.reporting.sections.principal import principal
from identify.reporting.sections.provenance import provenance
from identify.reporting.sections.replay import replay
from identify.reporting.sections.wrench import residuals, scores, wrench

SECTIONS: tuple[Builder, ...] = (
    headline,
    notes,
    parameters,
    principal,
    certificate,
    scores,
    wrench,
    residuals,
    replay,
    excitation,
    bias,
    data,
    provenance,
)
