"""How metrics are called in tables and figures, the scale of their numbers, and Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from identify.reporting.rounding import significant


@dataclass(frozen=True, slots=True)
class Heading:
    """Words for a metric.

    Attributes:
        text: with its unit.
        narrow: the same for a terminal of 80 columns.
        factor: value shown = factor × value of the results.
        spread: whether a median beside the mean says anything.
    """

    text: str
    narrow: str
    factor: float = 1.0
    spread: bool = True

    def narrowly(self, value: float) -> str:
        """The same in at most eight characters."""
        scaled = self.factor * value
        if scaled != scaled:
            return "–"
        if scaled == 0.0 or 1e-4 <= abs(scaled) < 1e6:
            return number(scaled)
        mantissa, exponent = f"{scaled:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"

    def shown(self, value: float | None) -> str:
        """A value of the results as tables show it."""
        return number(None if value is None else self.factor * value)


_HEADINGS: Mapping[str, Heading] = {
    "mass_error": Heading("mass %", "mass %"),
    "first_moment_error": Heading("‖Δh‖/‖h‖ %", "h %"),
    "relative_inertia_error": Heading("‖ΔI‖/‖I‖ %", "I %"),
    "com_error": Heading("CoM % of box", "CoM %b"),
    "inertia_error": Heading("inertia % of box", "I %b"),
    "riemannian": Heading("Riemannian", "Riem."),
    "consistent": Heading("consistent %", "cons.%", 100.0, spread=False),
    "n_identifiable": Heading("identifiable of 10", "ident.", spread=False),
}


def heading(metric: str) -> Heading:
    """The words for a column of a metric; its own name where nothing better is known."""
    if metric in _HEADINGS:
        return _HEADINGS[metric]
    if metric.startswith("covered_"):
        return Heading(f"{metric} %", f"{metric} %", 100.0, spread=False)
    return Heading(metric, metric)


def number(value: float | None, digits: int = 3) -> str:
    """A number with a few significant digits, a dash where there is none."""
    if value is None or value != value:
        return "–"
    return significant(value, digits)


def percent(share: float | None) -> str:
    """A share in per cent, to a tenth; 100 only where it is all."""
    if share is None or share != share:
        return "–"
    text = f"{100.0 * share:.1f}".removesuffix(".0")
    return "99.9" if text == "100" and share < 1.0 else text


_SETTINGS = {
    "log_duration": "duration of the log [s]",
    "log_excitation": "excitation (factor on the motion)",
    "log_mass": "mass [kg]",
    "log_rate_hz": "samples a second [Hz]",
    "log_bandwidth_hz": "fastest sine of the motion [Hz]",
    "noise_scale": "noise (factor on all sigmas)",
    "noise_force": "noise of the force, 1 σ [N]",
    "noise_torque": "noise of the torque, 1 σ [N m]",
    "delay_wrench": "delay of the wrench [s]",
    "decimation_every": "rows of which one is kept",
    "dropped_rows_share": "share of rows dropped",
}


def setting(column: str) -> str:
    """A column of an option as words: `log_duration` is the duration of the logs."""
    return _SETTINGS.get(column, column.replace("_", " "))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    """A Markdown table.

    Args:
        heads: of the columns.
        rows: their cells.
        words: how many columns, from the left, hold words; the others hold numbers.
    """
    marks = ["---" if place < words else "--:" for place in range(len(heads))]
    lines = ([cell.replace("|", "\\|") for cell in line] for line in (heads, marks, *rows))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(text: str) -> str:
    """A name or message as it was written, on one line."""
    words = " ".join(text.split()).replace("`", "'")
    return f"`{words}`"
