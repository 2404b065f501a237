"""Force-torque sensors and the accuracy of their scale by data sheet, in `wrench_sensors.toml`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import Field, PositiveFloat, StringConstraints, model_validator

from identify.documents import DocumentTable, read_toml, validate

_SENSORS_FILE = Path(__file__).with_name("wrench_sensors.toml")

_BOUND_IN_SIGMAS = {"95 %": 1.96, "limit": math.sqrt(3.0)}
"""Ratio of a stated bound to one sigma: of a normal 95 % half-width, of a uniform distribution."""

_Text: TypeAlias = Annotated[str, StringConstraints(pattern=r"^\S[^\n]*$")]
_Channels: TypeAlias = Annotated[tuple[PositiveFloat, ...], Field(min_length=2, max_length=6)]


class WrenchSensor(DocumentTable):
    """A type of force-torque sensor, or a robot with one, and its stated accuracy.

    Attributes:
        title: maker and type.
        rated: rated force and torque, or those of the six axes [N, N m].
        percent: stated error of force and torque, or of the six axes [% of the rated load].
        error: stated error of force and torque [N, N m].
        bound: kind of the stated error, a 95 % half-width or a limit.
        stated: accuracy in the words of the source.
        reason: why no accuracy of the scale follows from what is stated.
        source: document that states it.
        address: web address of the document.
    """

    title: _Text
    rated: _Channels | None = None
    percent: _Channels | None = None
    error: _Channels | None = None
    bound: Literal["95 %", "limit"] = "limit"
    stated: _Text
    reason: _Text | None = None
    source: _Text
    address: _Text

    @model_validator(mode="after")
    def _states_one_accuracy(self) -> WrenchSensor:
        if [self.percent, self.error, self.reason].count(None) != 2:
            raise ValueError("expected one of percent, error and reason")
        if self.error is not None and (self.rated is None or len(self.rated) != len(self.error)):
            raise ValueError("expected a rated load for each error")
        return self

    @property
    def gain_accuracy(self) -> float | list[float] | None:
        """One sigma of the scale at the rated load, to two digits; None if it is not stated.

        A number if it is the same of all channels, else one of each as `[wrench]` has them.
        """
        if self.percent is not None:
            shares = np.array(self.percent) / 100.0
        elif self.error is not None:
            shares = np.array(self.error) / np.array(self.rated)
        else:
            return None
        sigmas = [float(f"{sigma:.2g}") for sigma in shares / _BOUND_IN_SIGMAS[self.bound]]
        return sigmas[0] if len(set(sigmas)) == 1 else sigmas

    @property
    def explanation(self) -> str:
        """Statement of the source, or the reason why it gives no accuracy, with the document."""
        why = self.stated if self.reason is None else self.reason
        return f"{self.title}: {why} ({self.source}, {self.address})"


def wrench_sensors() -> dict[str, WrenchSensor]:
    """Return all known types of force-torque sensors by name."""
    entries = read_toml(_SENSORS_FILE)
    return {
        name: validate(WrenchSensor, entry, f"{_SENSORS_FILE.name}: [{name}]")
        for name, entry in entries.items()
    }
