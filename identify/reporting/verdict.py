"""The verdict in words, the same in the terminal and in the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from identify.inertia import PHI
from identify.pipeline.needs import Need, parse_needs
from identify.reporting.rounding import nines, significant

if TYPE_CHECKING:
    from identify.pipeline import FitResult


@dataclass(frozen=True, slots=True)
class VerdictInWords:
    """What is known of an estimate, each part for itself.

    Attributes:
        usable: yes, with care, or no, and for which reasons.
        possible: yes or no.
        identifiable: which parameters the data identify.
        explains_data: yes or no, with the held-out R².
        needs: what was asked for, and whether the intervals meet it.
    """

    usable: str
    possible: str
    identifiable: str
    explains_data: str
    needs: Mapping[str, str]


def verdict_in_words(result: FitResult) -> VerdictInWords:
    """The verdict of a fit in words."""
    verdict, reasons = result.verdict, reasons_in_short(result)
    return VerdictInWords(
        usable=f"{verdict.usable} ({reasons})" if reasons else verdict.usable,
        possible="yes" if verdict.possible else "no",
        identifiable=_identifiable(result),
        explains_data=_explained(result),
        needs={need.text: _need(need, result) for need in parse_needs(result.settings.needs)},
    )


def reasons_in_short(result: FitResult) -> str:
    """Why an estimate is not to be used, or with care: codes of findings, and needs not met."""
    unusable = result.verdict.usable == "no"
    codes = dict.fromkeys(
        f.code for f in result.findings if (f.severity == "error" if unusable else f.asks_for_care)
    )
    reasons = [code.replace("_", " ") for code in codes]
    reasons += [f"{need} is not met" for need, met in result.verdict.needs.items() if not met]
    return "; ".join(reasons)


def _identifiable(result: FitResult) -> str:
    decided = result.estimate.decided_by
    given = [name for name in PHI if decided[name] == "given"]
    default = [name for name in PHI if decided[name] == "default"]
    found = len(PHI) - len(given) - len(default)
    said = "all 10 parameters" if found == len(PHI) else f"{found} of 10 parameters"
    said += f"; {', '.join(given)} given" if given else ""
    return said + (f"; not {', '.join(default)}" if default else "")


def _explained(result: FitResult) -> str:
    scores = result.validation.scores
    if scores is None:
        return "not tested, the data are too few to hold some out"
    parts = []
    for kind, axes in (("forces", slice(0, 3)), ("torques", slice(3, 6))):
        pooled = scores.pooled_r_squared(axes)
        parts.append(
            f"{kind} without signal" if np.isnan(pooled) else f"R² of the {kind} {nines(pooled)}"
        )
    said = "yes" if result.verdict.explains_data else "no, what is left is not noise"
    return f"{said} (held out: {', '.join(parts)})"


def _need(need: Need, result: FitResult) -> str:
    reached = need.reached(result.estimate)
    if reached is None:
        return "not met, not identifiable"
    shown = f"± {significant(reached, 2)} {need.unit}"
    return f"met, {shown}" if need.met(result.estimate) else f"not met, {shown}"
