"""Sections of the report of a fit of logs of a wrench."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from identify.reporting.body import body_section
from identify.reporting.content import Section, SectionBuilder
from identify.reporting.diagnosis import checks_section
from identify.reporting.logs import data_section, offset_section, provenance_section
from identify.reporting.motion import motion_section
from identify.reporting.precision import precision_section
from identify.reporting.replays import replay_section
from identify.reporting.result import export_section, verdict_section
from identify.reporting.wrenches import wrench_section

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import Result


def wrench_sections(result: Result) -> Sequence[SectionBuilder]:
    """Return the functions that make the sections of a report, in their order."""
    return SECTIONS


def _section_for_carrier(build: SectionBuilder) -> SectionBuilder:
    """Return a function that makes the same report section for the carrier of a payload."""

    def build_for_carrier(result: Result, truth: InertialParameters | None) -> Section | None:
        carrier = result.carrier
        section = None if carrier is None else build(carrier, None)
        return None if section is None else replace(section, key=f"carrier-{section.key}")

    return build_for_carrier


SECTIONS: tuple[SectionBuilder, ...] = (
    verdict_section,
    _section_for_carrier(verdict_section),
    body_section,
    _section_for_carrier(body_section),
    export_section,
    _section_for_carrier(export_section),
    wrench_section,
    checks_section,
    precision_section,
    motion_section,
    replay_section,
    offset_section,
    data_section,
    provenance_section,
)
"""Functions that make the sections of the report of a fit, in their order."""
