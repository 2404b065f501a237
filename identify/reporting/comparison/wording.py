"""Whether separate estimates agree, in words: the same in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator

from identify.reporting.comparison.fits import Comparison, listed
from identify.reporting.rounding import significant

_MOST = 8
"""Logs that are named in a sentence."""


def answer(comparison: Comparison) -> str:
    """The verdict in a few words."""
    pooled = comparison.pooled
    if pooled.verdict == "cannot be told":
        return "cannot be told"
    if pooled.verdict == "agree":
        return f"the {len(pooled.by_name)} estimates agree"
    if pooled.differing:
        return f"{len(pooled.differing)} of {len(pooled.by_name)} estimates differ from the rest"
    return f"the {len(pooled.by_name)} estimates differ"


def reasons(comparison: Comparison) -> Iterator[str]:
    """What it rests on, a sentence each."""
    pooled = comparison.pooled
    if pooled.verdict == "cannot be told":
        yield f"Whether the logs agree cannot be told: {pooled.why}."
    spread = (
        f"They scatter {significant(pooled.scatter or 0.0, 3)} times as much as their intervals "
        f"say, which comes by chance with p {chance_text(pooled.p)}, were the body the same."
    )
    if pooled.verdict == "agree":
        yield spread
        yield _noticed(comparison)
    if pooled.verdict == "differ":
        yield from _which(comparison, spread)
    unusable = [log.name for log in comparison.logs if log.usable == "no"]
    if unusable:
        are = "is" if len(unusable) == 1 else "are"
        yield (
            f"{listed(unusable, _MOST)} {are} not compared: findings say not to use "
            f"{'it' if len(unusable) == 1 else 'them'}."
        )
    if comparison.dropped:
        yield (
            f"Folders of earlier runs whose logs are not among these: "
            f"{listed(comparison.dropped, _MOST)}."
        )


def _which(comparison: Comparison, spread: str) -> Iterator[str]:
    pooled = comparison.pooled
    if pooled.differing:
        said = [
            f"{name} ({', '.join(beside.parameters)}; p {chance_text(beside.p)})"
            for name in pooled.differing
            for beside in [pooled.by_name[name]]
        ]
        yield f"From the rest differ: {listed(said, _MOST)}."
        yield spread
        yield "The pooled values are those of the rest."
        return
    tested = {name: p for name, p in pooled.by_parameter.items() if p is not None}
    least = min(tested, key=lambda name: tested[name])
    names = list(pooled.by_name)
    yield spread
    if len(names) > 2:
        yield "No few logs differ from a majority."
    yield f"By itself {least} differs most, p {chance_text(tested[least])}."
    yield "There are no pooled values, as no body is that of most."


def _noticed(comparison: Comparison) -> str:
    """What a log would have to differ by."""
    noticed, parts = comparison.pooled.noticed, []
    for what, names in _GROUPS.items():
        known = [(size, name) for name in names if (size := noticed[name]) is not None]
        if known:
            size, name = max(known)
            unit = comparison.units[name]
            parts.append(f"{_with_unit(significant(unit.of(size)), unit.name)} in {what}")
    return f"A log would typically be noticed from {', '.join(parts)} on."


_GROUPS = {
    "mass": ("m",),
    "a coordinate of the centre of mass": ("cx", "cy", "cz"),
    "an entry of the inertia": ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz"),
}


def chance_text(value: float | None) -> str:
    """A probability of a difference by chance, behind its sign: = 0.2, < 1e-12."""
    if value is None:
        return "unknown"
    if value < 1e-12:
        return "< 1e-12"
    return f"= {value:.2f}" if value >= 0.095 else f"= {value:.1g}"


def _with_unit(number: str, unit: str) -> str:
    """A number and its unit, a power of ten set off: 0.42 · 10⁻³ kg m²."""
    return f"{number} · {unit}" if unit.startswith("10") else f"{number} {unit}"
