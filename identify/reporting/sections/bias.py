"""The sensor bias of each log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.reporting.content import Block, Head, Section, Table, Text, numbers, row
from identify.reporting.rounding import decimals_for, fixed

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

_HEAD = (
    Head("Log"),
    *numbers(*(f"f {axis} [N]" for axis in "xyz"), *(f"t {axis} [N m]" for axis in "xyz")),
)


def bias(result: FitResult, truth: InertialParameters | None) -> Section:
    """What the sensor was found to add to the wrench."""
    return Section("bias", "Sensor bias", (_block(result),))


def _block(result: FitResult) -> Block:
    if result.settings.bias == "none":
        return Text(
            "None was fitted, as asked: the wrench is taken to be free of a constant offset."
        )
    decimals = [
        decimals_for(float(rms) / max(result.estimate.effective_samples, 1.0) ** 0.5, 1.0)
        for rms in result.estimate.residual_rms
    ]
    shared = result.settings.bias == "shared"
    biases = result.estimate.biases[:1] if shared else result.estimate.biases
    names = [f"{number}: {log.name}" for number, log in enumerate(result.logs, start=1)]
    if shared:
        names = ["all logs"]
    return Table(
        _HEAD,
        tuple(
            row(name, *(fixed(float(x), min(n, 5)) for x, n in zip(values, decimals, strict=True)))
            for name, values in zip(names, biases, strict=True)
        ),
        "What the sensor reads beside the wrench on the body, constant in the body's axes, at the "
        "origin of the body frame: measured = on the body + bias.",
    )
