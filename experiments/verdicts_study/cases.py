"""Cases of the study, and the score of the fit of each."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from zlib import crc32

import numpy as np

import identify
from experiments.verdicts_study.logs import random_box, simulated_log
from identify import Estimate, InertialParameters, Recording
from identify.exchange import export_body
from identify.exchange.controllers import Export
from identify.findings import QUANTITIES
from identify.pipeline.required_precision import INTERVAL_NAMES, half_width
from identify.relevance import GOOD_PRECISION
from identify.spatial import BodyFrame, Pose

ACCURACIES = (0.002, 0.01)
"""Gain accuracy of the sensors."""

UNKNOWN = 0.5
"""Half-width beyond which an exported number is unknown, relative to the mass, to the size of the
body, or to the largest principal moment."""

EXPORTED = {"ur": INTERVAL_NAMES["inertia"], "kuka": ("I1", "I2", "I3")}
"""Controllers, with the names of the moments and products that their settings have."""

_WORDS = {"mass": "mass", "com": "centre", "inertia": "inertia|moment"}
_MARK = re.compile("poor (mass|centre|inertia)")
"""Words by which a line of a setting, or a note on it, marks a quantity as unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Result of the fit of one case; mappings are by quantity, in units of `GOOD_PRECISION`.

    Attributes:
        usable: verdict of the fit; "raised" without an estimate.
        findings: severity and code of each finding, or the error.
        truth, estimate: ten parameters.
        quantities: verdict of each quantity.
        half_widths, errors: largest of the entries; infinite without an interval, or an estimate.
        unmarked: by controller, how many numbers are exported without a mark although unknown.
        seconds: time of the fit [s].
    """

    usable: str
    findings: tuple[str, ...]
    truth: tuple[float, ...]
    estimate: tuple[float, ...] = ()
    quantities: Mapping[str, str] = field(default_factory=partial(dict.fromkeys, QUANTITIES, "no"))
    half_widths: Mapping[str, float] = field(
        default_factory=partial(dict.fromkeys, QUANTITIES, np.inf)
    )
    errors: Mapping[str, float] = field(default_factory=partial(dict.fromkeys, QUANTITIES, np.inf))
    unmarked: Mapping[str, int] = field(default_factory=partial(dict.fromkeys, EXPORTED, 0))
    seconds: float = np.nan

    def is_wrong_yes(self, quantity: str) -> bool:
        """Return whether a quantity is "yes", and off by more than its bound."""
        is_wrong = self.errors[quantity] > GOOD_PRECISION[quantity]
        return self.quantities[quantity] == "yes" and is_wrong

    def is_narrow_no(self, quantity: str) -> bool:
        """Return whether a quantity is "no" although its half-width is within its bound."""
        is_narrow = self.half_widths[quantity] <= GOOD_PRECISION[quantity]
        return self.quantities[quantity] == "no" and is_narrow


@dataclass(frozen=True, slots=True)
class Case:
    """One log of the study: number of the body, motion, and gain accuracy of the sensor."""

    body: int
    motion: str
    accuracy: float
    seed: int

    def make_log(self) -> tuple[Recording, InertialParameters, float]:
        """Make the log; return it with the true body and its longest side [m]."""
        phi, size = random_box(np.random.default_rng([self.seed, self.body]))
        sensor = round(1e4 * self.accuracy)
        rng = np.random.default_rng([self.seed, self.body, crc32(self.motion.encode()), sensor])
        recording = simulated_log(phi, self.motion, self.accuracy, rng).recording(rng)
        frame = BodyFrame(flange=Pose.identity())
        return replace(recording, body_frame=frame), InertialParameters(phi), size

    def score(self) -> Score:
        """Make the log, fit it as `identify fit` does, and compare with the true body."""
        recording, truth, size = self.make_log()
        true_phi = tuple(truth.phi)
        began = time.perf_counter()
        try:
            result = identify.fit(recording)
        except Exception as error:  # noqa: BLE001 - a defect of the code must show as a score, too
            return Score(usable="raised", findings=(repr(error),), truth=true_phi)
        seconds, estimate = time.perf_counter() - began, result.estimate
        scales = _scales(estimate.parameters)
        widths = {
            quantity: max(half_width(estimate, name, True) for name in names) / scales[quantity]
            for quantity, names in INTERVAL_NAMES.items()
        }
        return Score(
            usable=result.verdict.usable,
            findings=tuple(f"{finding.severity} {finding.code}" for finding in result.findings),
            truth=true_phi,
            estimate=tuple(estimate.parameters.phi),
            quantities=dict(result.verdict.quantities),
            half_widths=widths,
            errors=_errors(estimate.parameters, truth),
            unmarked={name: _unmarked_numbers(estimate, name, size) for name in EXPORTED},
            seconds=seconds,
        )


def _scales(body: InertialParameters) -> dict[str, float]:
    return {"mass": body.mass, "com": 1.0, "inertia": float(body.principal_moments[-1])}


def _errors(estimate: InertialParameters, truth: InertialParameters) -> dict[str, float]:
    differences = {
        "mass": estimate.mass - truth.mass,
        "com": estimate.com - truth.com,
        "inertia": estimate.inertia_about_com - truth.inertia_about_com,
    }
    scales = _scales(truth)
    return {q: float(np.abs(difference).max()) / scales[q] for q, difference in differences.items()}


def _unmarked_numbers(estimate: Estimate, controller: str, size: float) -> int:
    """Return how many unknown numbers a setting has of quantities that it does not mark."""
    scales = {**_scales(estimate.parameters), "com": size}
    export = export_body(estimate, controller)
    return sum(
        half_width(estimate, name, True) > UNKNOWN * scales[quantity]
        for quantity, names in {**INTERVAL_NAMES, "inertia": EXPORTED[controller]}.items()
        if not is_marked(export, quantity)
        for name in names
    )


def is_marked(export: Export, quantity: str) -> bool:
    """Return whether a line of a setting, or a note on it, says that a quantity is unknown."""
    lines = (*export.text.splitlines(), *export.lost_information, *export.notes)
    return any(re.search(_WORDS[quantity], line) and _MARK.search(line) for line in lines)
