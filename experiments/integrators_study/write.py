"""Report of the study, and its tables."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from textwrap import fill

from experiments.integrators_study.measure import DRIFT_STEP, STEPS, Cost, Drift, Order
from identify.reporting.content import make_table, markdown_table

_wrapped = partial(fill, width=118, break_on_hyphens=False)


def tables(
    orders: Sequence[Order], drifts: Sequence[Drift], costs: Sequence[Cost], duration: float
) -> str:
    """Return the three tables with a description of each."""
    return "\n\n".join(
        (
            _wrapped(
                f"Attitude error after one second against DOP853 at 1e-13, steps of "
                f"{', '.join(f'{1e3 * step:g}' for step in STEPS)} ms. The order is computed "
                f"from the two smaller steps (semi-implicit Euler: from steps a tenth as long). A "
                f"body of 2 kg that turns at 4.4 rad/s; loaded: gravity, a constant world "
                f"force and a body wrench along a straight line in time, both off the centre."
            ),
            _orders(orders),
            _wrapped(
                f"Without loads over {duration:g} s in steps of {1e3 * DRIFT_STEP:g} ms, relative "
                f"to the start: the energy's largest change, and its trend, the mean of the last "
                f"tenth less that of the first; the momenta's largest changes, the angular one "
                f"about the centre of mass, in a fluid about a fixed point."
            ),
            _drifts(drifts),
            "Time of one step, loaded, shortest of seven runs; every state checked, none kept.",
            _costs(costs),
        )
    )


def report(body: str) -> str:
    """Return the report as Markdown."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    return (
        "# Integrators of the forward simulation\n\n"
        "Written by `experiments/integrators.py`; nothing here is entered by hand.\n\n"
        f"{body}\n\nOne thread, Python {platform.python_version()}, {packages}.\n"
    )


def _orders(orders: Sequence[Order]) -> str:
    cases = list(dict.fromkeys(order.case for order in orders))
    heads = ["integrator"]
    for case in cases:
        heads += [f"{case}: error at {1e3 * STEPS[-1]:g} ms [rad]", "order"]
    rows = []
    for name in dict.fromkeys(order.integrator for order in orders):
        order_of = {order.case: order for order in orders if order.integrator == name}
        cells = [name]
        for case in cases:
            order = order_of.get(case)
            cells += [f"{order.errors[-1]:.1e}", f"{order.order:.2f}"] if order else ["–", "–"]
        rows.append(cells)
    return markdown_table(make_table(heads, rows, word_columns=len(heads)))


def _drifts(drifts: Sequence[Drift]) -> str:
    heads = (
        "integrator",
        "case",
        "energy",
        "energy, trend",
        "linear momentum",
        "angular momentum",
    )
    rows = []
    for drift in drifts:
        changes = (drift.energy, drift.energy_rate, drift.linear, drift.angular)
        rows.append((drift.integrator, drift.case, *(f"{change:.0e}" for change in changes)))
    return markdown_table(make_table(heads, rows, word_columns=len(heads)))


def _costs(costs: Sequence[Cost]) -> str:
    heads = ("integrator", "one body [µs]", "each of 1000 bodies [µs]")
    rows = [(c.integrator, f"{c.single_body:.0f}", f"{c.body_in_batch:.2f}") for c in costs]
    return markdown_table(make_table(heads, rows, word_columns=len(heads)))
