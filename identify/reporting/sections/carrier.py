"""The carrier of a payload, beside it: the sections of a body once more, of the other one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from identify.reporting.content import Builder, Section
from identify.reporting.sections.body import parameters, principal
from identify.reporting.sections.result import verdict

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


def _of_carrier(build: Builder) -> Builder:
    """The section of the carrier, where a fit has one; its true body is not known."""

    def section(result: FitResult, truth: InertialParameters | None) -> Section | None:
        carrier = result.carrier
        made = None if carrier is None else build(carrier, None)
        return None if made is None else replace(made, key=f"carrier-{made.key}")

    return section


carrier_verdict, carrier_parameters, carrier_principal = map(
    _of_carrier, (verdict, parameters, principal)
)
