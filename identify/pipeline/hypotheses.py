"""What else a log may mean: a sign or unit that explains it better, and the line to change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from identify.errors import IdentifyError
from identify.estimation import NegativeMass, ordinary_least_squares
from identify.logs import Recording
from identify.regressors import BodyWrench, System, block_statistics, join_logs
from identify.signals import PreparedLog, prepare

_CLEARLY = 0.5
"""A hypothesis is believed if its residual is below this share of the other's."""


def sign_error(logs: Sequence[PreparedLog], error: NegativeMass) -> NegativeMass:
    """The error to raise for a negative mass, with the change that repairs it.

    The wrench or gravity may have the other sign. A wrench of the other sign leaves the residual of
    the unconstrained fit as it is; gravity changes it, so the log is prepared again and both are
    compared.
    """
    recording = logs[0].recording
    gravity_line = f"[world] gravity = {recording.gravity.tolist()}"
    if fits_better(logs, lambda log: replace(log, gravity=-log.gravity)):
        return NegativeMass(
            error.mass,
            f"most likely gravity points the other way, {gravity_line} (or --gravity) fits better "
            f"with its sign changed",
            code="gravity_direction",
        )
    wrench = recording.schema.get("wrench")
    acts_on = wrench.get("acts_on") if isinstance(wrench, dict) else None
    if acts_on not in ("body", "sensor"):
        return error
    other = "body" if acts_on == "sensor" else "sensor"
    return NegativeMass(
        error.mass,
        f"most likely the wrench has the other one. In the schema, [wrench], change "
        f'`acts_on = "{acts_on}"` to `acts_on = "{other}"`. Else check {gravity_line}, and `order` '
        f"and `maps` in [pose]",
    )


def fits_better(logs: Sequence[PreparedLog], change: Callable[[Recording], Recording]) -> bool:
    """Whether logs that are read otherwise leave a clearly smaller residual, and a positive mass.

    Args:
        logs: as they were prepared.
        change: the recording as it may be meant.
    """
    try:
        changed = [prepare(change(log.recording), log.cutoff_hz) for log in logs]
        now, then = _system(logs), _system(changed)
        phi_now, phi_then = ordinary_least_squares(now), ordinary_least_squares(then)
    except IdentifyError:
        return False
    residual_now = sum(float(np.trace(moment)) for moment in now.residual_moments(phi_now))
    residual_then = sum(float(np.trace(moment)) for moment in then.residual_moments(phi_then))
    return phi_then[0] > 0.0 and residual_then < _CLEARLY * residual_now


def _system(logs: Sequence[PreparedLog]) -> System:
    return System.of([(join_logs([block_statistics(log) for log in logs]), BodyWrench())])
