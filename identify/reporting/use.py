"""The body as controllers, models and programs take it, to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.errors import ModelError
from identify.exchange import export_body
from identify.exchange.controllers import CONTROLLERS
from identify.reporting.content import Block, Listing, Section, Text
from identify.texts import json_text

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

_FORMS = {"ur": "Universal Robots", "kuka": "KUKA", "urdf": "URDF", "mjcf": "MJCF (MuJoCo)"}
"""What is shown, by the names of `identify export`, which knows more."""


_NO_FLANGE = (
    "Controllers take a payload about the flange, and the schema does not say where that is in the "
    "body frame: [body.flange] of the schema, or --at of identify export, says it."
)


def use_section(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """Texts to paste, each with its frame; none of what is not to be used."""
    estimate = result.estimate
    if result.verdict.usable == "no" or "nothing" in estimate.decided_by.values():
        return None
    known = estimate.frames.flange is not None
    forms = {n: title for n, title in _FORMS.items() if known or n not in CONTROLLERS}
    blocks = [_listing(estimate, name, title) for name, title in forms.items()]
    if not known:
        blocks.insert(0, Text(_NO_FLANGE, "muted"))
    said = json_text(
        {
            "mass": estimate.mass,
            "com": estimate.com.tolist(),
            "inertia_about_com": estimate.inertia_about_com.tolist(),
        }
    )
    what = f"the {estimate.body}" if estimate.of_body else "it"
    note = f"kg, m, kg m²; about {estimate.frame_in_words}, in its axes."
    more = Text(
        "The command identify export writes these and other forms, and puts the body into a model.",
        "muted",
    )
    blocks = (*blocks, Listing("JSON", said, copied=True, note=note), more)
    return Section("use", f"Use {what}", blocks)


def _listing(estimate: Estimate, name: str, title: str) -> Block:
    try:
        made = export_body(estimate, name)
    except ModelError as error:
        return Text(f"{title}: {error}.", "muted")
    notes = "; ".join((*made.notes, *made.lost))
    return Listing(title, made.text.rstrip(), copied=True, note=f"{notes[:1].upper()}{notes[1:]}.")
