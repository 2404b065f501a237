"""Bodies as CAD programs print them, from sums over points, by no code of the toolkit."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

UNITS = {
    "mm": ("grams", "millimeters", 1e-3, 1e-3),
    "m": ("kilograms", "meters", 1.0, 1.0),
    "in": ("pounds", "inches", 0.45359237, 0.0254),
}
"""Names of the units of mass and length in texts of SolidWorks, and their sizes in SI."""

FUSION_UNITS = {"mm": ("g", "mm"), "m": ("kg", "m"), "in": ("lbmass", "in")}


class PrintedBody(NamedTuple):
    """Sums over points of mass: ∑ m, ∑ m r / m, ∑ m (r² 1 − r rᵀ)."""

    mass: float
    com: np.ndarray
    about_com: np.ndarray
    about_origin: np.ndarray

    @property
    def phi(self) -> np.ndarray:
        entries = self.about_origin[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
        return np.array([self.mass, *self.mass * self.com, *entries])


def body_of_points(points: np.ndarray, masses: np.ndarray) -> PrintedBody:
    com = masses @ points / masses.sum()

    def inertia(r: np.ndarray) -> np.ndarray:
        return (
            np.einsum("i,ijk->jk", masses, (r**2).sum(1)[:, None, None] * np.eye(3))
            - (r.T * masses) @ r
        )

    return PrintedBody(float(masses.sum()), com, inertia(points - com), inertia(points))


def bracket() -> PrintedBody:
    """An irregular body of 2 kg with large products of inertia, some 0.1 m from the origin."""
    rng = np.random.default_rng(5)
    points = rng.uniform(-1.0, 1.0, (40, 3)) * [0.09, 0.05, 0.02]
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return body_of_points(points @ turn.T + [0.07, -0.04, 0.11], rng.uniform(0.02, 0.08, 40))


def with_sign(matrix: np.ndarray, positive: bool) -> np.ndarray:
    return np.where(np.eye(3, dtype=bool), matrix, -matrix) if positive else matrix


def solidworks_text(
    body: PrintedBody,
    units: str = "mm",
    *,
    positive: bool = True,
    notation: str = "",
    decimals: int = 12,
    principal: bool = True,
    origin: bool = True,
    name: str = "bracket",
    comma: bool = False,
) -> str:
    mass_name, length_name, kg, metre = UNITS[units]
    inertia_name = f"{mass_name} *  square {length_name}"

    def number(value: float) -> str:
        text = f"{value + 0.0:.{decimals}f}"
        return text.replace(".", ",") if comma else text

    def rows(letter: str, matrix: np.ndarray) -> str:
        printed = with_sign(matrix, positive) / (kg * metre**2)
        return "\n".join(
            "\t"
            + "\t".join(f"{letter}{a}{b} = {number(printed[i, j])}" for j, b in enumerate("xyz"))
            for i, a in enumerate("xyz")
        )

    words = f" (Using {notation} tensor notation.)" if notation else ""
    moments, axes = np.linalg.eigh(body.about_com)
    parts = [
        f"Mass properties of {name}",
        "     Configuration: Default\n     Coordinate system: tool0\n",
        f"Mass = {number(body.mass / kg)} {mass_name}\n",
        f"Center of mass: ( {length_name} )",
        *(f"\t{a} = {number(c / metre)}" for a, c in zip("XYZ", body.com, strict=True)),
    ]
    if principal:
        parts += [
            "\nPrincipal axes of inertia and principal moments of inertia: ( "
            + inertia_name
            + " )",
            "Taken at the center of mass.",
            *(
                f"\t I{a} = ({', '.join(number(x) for x in axes[:, k])})   "
                f"\tP{a} = {number(moments[k] / (kg * metre**2))}"
                for k, a in enumerate("xyz")
            ),
        ]
    parts += [
        f"\nMoments of inertia: ( {inertia_name} )",
        "Taken at the center of mass and aligned with the output coordinate system." + words,
        rows("L", body.about_com),
    ]
    if origin:
        parts += [
            f"\nMoments of inertia: ( {inertia_name} )",
            "Taken at the output coordinate system." + words,
            rows("I", body.about_origin),
        ]
    return "\n".join(parts) + "\n"


def fusion_text(
    body: PrintedBody,
    units: str = "mm",
    *,
    positive: bool = False,
    origin: bool = True,
    name: str = "bracket v3",
) -> str:
    mass_name, length_name = FUSION_UNITS[units]
    _, _, kg, metre = UNITS[units]

    def entries(matrix: np.ndarray) -> list[str]:
        printed = with_sign(matrix, positive) / (kg * metre**2)
        return [
            f"\tI{a}{b} = {printed[i, j]:.9E}"
            for i, a in enumerate("xyz")
            for j, b in enumerate("xyz")
        ]

    com = ", ".join(f"{c / metre:.9f} {length_name}" for c in body.com)
    parts = [
        f"{name}\n",
        f"Area\t1234.5 {length_name}^2\nDensity\t0.008 {mass_name} / {length_name}^3",
        f"Mass\t{body.mass / kg:.9f} {mass_name}",
        f"World X,Y,Z\t0.00 {length_name}, 0.00 {length_name}, 0.00 {length_name}",
        f"Center of Mass\t{com}",
        f"\nMoment of Inertia at Center of Mass   ({mass_name} {length_name}^2)",
        *entries(body.about_com),
    ]
    if origin:
        parts += [
            f"\nMoment of Inertia at Origin   ({mass_name} {length_name}^2)",
            *entries(body.about_origin),
        ]
    return "\n".join(parts) + "\n"


def onshape_body(body: PrintedBody, *, positive: bool = False) -> dict[str, object]:
    moments, axes = np.linalg.eigh(body.about_com)
    nine = with_sign(body.about_com, positive).ravel().tolist()
    return {
        "mass": [body.mass] * 3,
        "centroid": [*body.com, *body.com, *body.com],
        "inertia": nine * 3,
        "hasMass": True,
        "massMissingCount": 0,
        "principalInertia": moments.tolist(),
        "principalAxes": [dict(zip("xyz", axes[:, k].tolist(), strict=True)) for k in range(3)],
    }


def onshape_json(**bodies: dict[str, object]) -> str:
    return json.dumps({"microversionId": "0", "bodies": bodies})
