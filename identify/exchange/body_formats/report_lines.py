"""Lines of a text of mass properties: quantities by their keys, and the matrices in it.

A reader of a program maps its lines to `ReportLines`; numbers and units are converted when all
lines are known, as the decimal mark is that of the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from identify.errors import ModelError
from identify.exchange.body_formats.answers import BodyAnswers, UnstatedProperty
from identify.exchange.body_formats.mass_report import MassReport, Sign
from identify.exchange.body_formats.printed_numbers import (
    DecimalMark,
    RoundedNumbers,
    find_decimal_mark,
    parse_numbers,
)
from identify.exchange.body_formats.units import inertia_unit, length_unit, mass_unit

MATRIX_KEYS = tuple(f"{a}{b}" for a in "xyz" for b in "xyz")
"""Keys of the nine entries of a matrix, by rows."""

_ASYMMETRY_TOLERANCE = 1e-12
"""Asymmetry of a matrix by a program's own rounding, relative to its largest entry."""


@dataclass(slots=True)
class PrintedQuantity:
    """Entries of a quantity by key, as printed, with its unit and the line of its heading."""

    line: int
    unit: str
    entries: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ReportLines:
    """Quantities of one body: `mass`, `com`, `about_com`, `about_origin`, `moments`, `axes`."""

    name: str
    line: int
    quantities: dict[str, PrintedQuantity] = field(default_factory=dict)
    stated_sign: Sign | None = None
    coordinate_system: str = ""
    point_is_stated: bool = True

    def add(self, key: str, line: int, unit: str) -> PrintedQuantity:
        """Start a quantity; raise `ModelError` if the body has it already."""
        if key in self.quantities:
            raise ModelError(
                f"line {line}: {key.replace('_', ' ')} is also on line "
                f"{self.quantities[key].line}: is this the text of two bodies?"
            )
        self.quantities[key] = PrintedQuantity(line, unit)
        return self.quantities[key]

    def numbers(self) -> Iterator[str]:
        """Return every number of the body, as printed."""
        for quantity in self.quantities.values():
            yield from quantity.entries.values()


def mass_report(body: ReportLines, answers: BodyAnswers) -> MassReport:
    """Return the mass properties of a body in SI.

    Raises `UnstatedProperty`: a unit or the decimal mark is not stated; `ModelError`: a part of
    the text is missing, or a number or unit cannot be read.
    """
    mark = find_decimal_mark(body.numbers(), answers.decimal)
    for key in ("mass", "com"):
        if key not in body.quantities:
            raise ModelError(
                f"line {body.line}: no {'mass' if key == 'mass' else 'centre of mass'} below this "
                "line: copy the whole text, in English"
            )
    convert = _Converter(body, answers, mark)
    moments = convert("moments", "xyz", inertia_unit)
    return MassReport(
        body.name,
        _single(convert.required("mass", ("",), mass_unit)),
        convert.required("com", "xyz", length_unit),
        convert.matrix("about_com"),
        convert.matrix("about_origin"),
        moments,
        None if moments is None else convert.axes(),
        body.stated_sign,
        body.point_is_stated,
    )


_UNIT_OPTIONS: Mapping[Callable[[str], float], tuple[str, str, str]] = {
    mass_unit: ("mass", "mass_unit", "--mass-unit kg"),
    length_unit: ("centre of mass", "length_unit", "--length-unit mm"),
    inertia_unit: ("inertia", "inertia_unit", "--inertia-unit 'kg m^2'"),
}
"""For each kind of unit: its quantity, the field of `BodyAnswers`, and the option."""


@dataclass(frozen=True, slots=True)
class _Converter:
    """Conversion of the quantities of a body to SI."""

    body: ReportLines
    answers: BodyAnswers
    mark: DecimalMark

    def __call__(
        self, key: str, entries: str | tuple[str, ...], unit: Callable[[str], float]
    ) -> RoundedNumbers | None:
        """Return a quantity in SI; None if the text does not have it."""
        if key not in self.body.quantities:
            return None
        return self.required(key, entries, unit)

    def required(
        self, key: str, entries: str | tuple[str, ...], unit: Callable[[str], float]
    ) -> RoundedNumbers:
        quantity = self.body.quantities[key]
        return self._numbers(quantity, entries).scaled(self._factor(quantity, unit))

    def matrix(self, key: str) -> RoundedNumbers | None:
        """Return an inertia matrix in SI; None if the text does not have it."""
        nine = self(key, MATRIX_KEYS, inertia_unit)
        if nine is None:
            return None
        values, half_units = nine.values.reshape(3, 3), nine.half_units.reshape(3, 3)
        tolerance = half_units + half_units.T + _ASYMMETRY_TOLERANCE * np.abs(values).max()
        if (np.abs(values - values.T) > tolerance).any():
            line = self.body.quantities[key].line
            raise ModelError(f"line {line}: the matrix below is not symmetric: {values.tolist()}")
        return RoundedNumbers(0.5 * (values + values.T), half_units)

    def axes(self) -> RoundedNumbers | None:
        quantity = self.body.quantities.get("axes")
        if quantity is None:
            return None
        nine = self._numbers(quantity, MATRIX_KEYS)
        return RoundedNumbers(nine.values.reshape(3, 3), nine.half_units.reshape(3, 3))

    def _numbers(self, quantity: PrintedQuantity, keys: str | tuple[str, ...]) -> RoundedNumbers:
        missing = [key for key in keys if key not in quantity.entries]
        if missing:
            raise ModelError(
                f"line {quantity.line}: no {', '.join(missing)} below this line: the text is cut "
                "off or changed; copy the whole text"
            )
        try:
            return parse_numbers([quantity.entries[key] for key in keys], self.mark)
        except ValueError as error:
            raise ModelError(f"line {quantity.line}: {error}") from error

    def _factor(self, quantity: PrintedQuantity, unit: Callable[[str], float]) -> float:
        name, attribute, option = _UNIT_OPTIONS[unit]
        words = quantity.unit.strip() or getattr(self.answers, attribute)
        if not words:
            raise UnstatedProperty(f"line {quantity.line}: the {name} has no unit", option)
        try:
            return unit(words)
        except ModelError as error:
            raise ModelError(f"line {quantity.line}: {error}") from error


def _single(numbers: RoundedNumbers) -> RoundedNumbers:
    return RoundedNumbers(numbers.values[0], numbers.half_units[0])


def require_one_body(bodies: list[ReportLines], wanted: str | None) -> ReportLines:
    """Return the body of a text, or the one of several that is wanted by name or number.

    Raises `ModelError`: several bodies and none is wanted, or no such body.
    """
    if wanted is None and len(bodies) == 1:
        return bodies[0]
    names = [body.name or str(number) for number, body in enumerate(bodies, 1)]
    for number, (name, body) in enumerate(zip(names, bodies, strict=True), 1):
        if wanted in (name, str(number)) and (names.count(name) == 1 or wanted == str(number)):
            return body
    listed = ", ".join(
        f"{number} ({name}, line {body.line})"
        for number, (name, body) in enumerate(zip(names, bodies, strict=True), 1)
    )
    if wanted is None:
        raise ModelError(f"{len(bodies)} bodies: {listed}; choose one as FILE#NUMBER or FILE#NAME")
    raise ModelError(f"no body {wanted!r}: {listed}")
