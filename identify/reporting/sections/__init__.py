"""The sections of a report, in their order.

A new section is a function that makes a `Section` of a `FitResult` and, if known, the true body (or
None where it has nothing to say), and a line in `SECTIONS`.
"""

from identify.reporting.content import Builder
from identify.reporting.sections.agreement import residuals, scores, wrench
from identify.reporting.sections.body import parameters, principal
from identify.reporting.sections.logs import data, provenance, sensor_offset
from identify.reporting.sections.motion import excitation, replay
from identify.reporting.sections.proof import certificate
from identify.reporting.sections.result import headline, notes

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
    sensor_offset,
    data,
    provenance,
)
