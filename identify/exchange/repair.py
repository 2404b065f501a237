"""Model files repaired: in the place of every link that is wrong, one that programs load.

An impossible body with a size becomes the nearest possible one. One that has a mass and no size to
speak of, before that or after it, gets its own geometry with an even density, or where there is
none the size of a ball of plausible density: what is possible and denser than any material loads,
and no simulation of it is worth anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from identify.arrays import Mat33, Phi
from identify.errors import ModelError
from identify.exchange.estimate_json import SavedEstimate, estimate_text
from identify.exchange.estimate_reading import read_estimate, require_unedited
from identify.exchange.judging import JudgedLink, Requirement, judge
from identify.exchange.link_geometry import OUTSIDE, UNLIKE, Filled, contradiction, fill
from identify.exchange.link_inertia import DENSEST_LINK, LinkInertia, implied_density
from identify.exchange.model_format import FoundLink, ModelFormat
from identify.exchange.models import Model, read_model
from identify.exchange.rewriting import link_shapes, open_model, rewrite_model
from identify.exchange.rounding import DIGITS, MARGIN
from identify.exchange.xml_document import XmlDocument, parse_xml
from identify.inertia import (
    InertialParameters,
    check,
    inertia_about_com,
    inertia_from_second_moment,
    nearest_consistent,
    phi_from_inertia,
    second_moment_about_com,
)
from identify.inertia.consistency import mean_density
from identify.inertia.matrices import second_moment_from_inertia
from identify.inertia.parameters import DEFAULT_DENSITY

_ROD, _ROD_SHARE = 1e-4, 1e-6
"""A body whose second smallest second moment is below the one, of the sum, gets the other."""

_AIR, _LARGER = 1.2, 1.2
"""Density of air [kg/m³]; radius of gyration in the largest length of a model that is too large."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One link that was wrong, and the body in its place.

    Attributes:
        link: as it was read.
        phi: the body written, about the link's origin in its axes, shape (10,).
        source: what the body is, in words; nothing for the nearest possible one.
        distance: ‖T ΔPi Tᵀ‖ of that from the body that was read, in units of its own size (see
            `nearest_consistent`); None for another body.
        change: what was taken for a slip, and what was changed beyond that to keep off the edge or
            above a format's floor, in a sentence each, or nothing.
    """

    link: LinkInertia
    phi: Phi
    source: str = ""
    distance: float | None = None
    change: str = ""

    @property
    def moments(self) -> Phi:
        """Principal moments about the centre of mass of the body written [kg m²], shape (3,)."""
        return check(self.phi).principal_moments


@dataclass(frozen=True, slots=True)
class RepairedModel:
    """A model file whose links are as they were asked for.

    Attributes:
        content: the whole file; byte for byte the one read where nothing was repaired.
        repairs: what was repaired.
        left: links that are wrong still, with why they could not be repaired.
        warnings: links whose shapes contradict what the file now says, with how.
    """

    content: bytes
    repairs: tuple[Repair, ...]
    left: tuple[tuple[LinkInertia, str], ...]
    warnings: tuple[tuple[LinkInertia, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """What a repair may take.

    Attributes:
        asked: what links have to be besides possible.
        geometry: whether a link's own geometry may say its inertia.
        from_geometry: whether it does wherever it contradicts the inertia that is written, of
            possible bodies too.
        density: of links whose mass is not above zero, and of the balls [kg/m³]; None leaves such
            links as they are, and takes water's for the balls.
    """

    asked: Requirement = field(default_factory=Requirement)
    geometry: bool = True
    density: float | None = None
    from_geometry: bool = False

    def __post_init__(self) -> None:
        if self.from_geometry and not self.geometry:
            raise ModelError(
                "from_geometry takes inertia from shapes, which geometry=False forbids: give one"
            )
        if self.density is not None and not 0.0 < self.density <= DENSEST_LINK:
            raise ModelError(
                f"density: expected more than 0 and up to {DENSEST_LINK:g} kg/m³, got "
                f"{self.density:g}"
            )


def repair_model(
    path: Path | str, model: Model | None = None, settings: RepairSettings | None = None
) -> RepairedModel:
    """A model file with a body in the place of every link that is wrong.

    Mass, centre of mass and axes are kept where there is a mass; everything but the element of such
    an inertia keeps its bytes. What is written is judged again. The file itself is not touched.

    Args:
        path: URDF, SDF, MJCF or estimate.json.
        model: what `read_model` says of it, where that is known already.
        settings: what is asked for and may be taken; by default possible bodies.

    Raises:
        MissingFile, ModelError: as `read_model` and `rewrite_model` do.
    """
    path = Path(path)
    settings = RepairSettings() if settings is None else settings
    model = read_model(path) if model is None else model
    shapes = {} if model.format == "estimate" else link_shapes(path)
    judged = judge(model.links, settings.asked, shapes)
    wrong = [e for e in judged if e.fault or (settings.from_geometry and UNLIKE in e.warning)]
    if not wrong:
        return RepairedModel(path.read_bytes(), (), (), _warnings(judged))
    if model.format == "estimate":
        return _repaired_estimate(path, wrong[0], settings)
    document, form = open_model(path)
    found = {entry.inertia.name: entry for entry in form.read(document)}
    repairs: list[Repair] = []
    left: list[tuple[LinkInertia, str]] = []
    for entry in wrong:
        place = _Place(document, form, found[entry.link.name])
        try:
            repairs.append(_repair(entry, settings, place))
        except ModelError as error:
            left.append((entry.link, str(error)))
    whole = {r.link.name: r.phi for r in repairs if r.link.judged is None or r.link.judged[0] <= 0}
    inertias = {r.link.name: inertia_about_com(r.phi) for r in repairs if r.link.name not in whole}
    rewritten = rewrite_model(path, whole, inertias=inertias, digits=_digits(settings.asked.margin))
    for i, entry in enumerate(repairs):
        body = rewritten.bodies[entry.link.name]
        change = "; ".join(filter(None, (entry.change, body.change)))
        repairs[i] = replace(entry, phi=body.phi, change=change)
    again = form.read(parse_xml(rewritten.content, path))
    judged = judge([entry.inertia for entry in again], settings.asked, shapes)
    new = [e.link for e in judged if e.link.name in rewritten.bodies and not e.warning]
    sizes = ((link, _size_warning(link, shapes.get(link.name))) for link in new)
    warnings = (*_warnings(judged), *(entry for entry in sizes if entry[1]))
    named = {link.name for link, _ in left}
    left += [
        (entry.link, "; ".join(entry.reasons))
        for entry in judged
        if entry.fault and entry.link.name not in named
    ]
    return RepairedModel(rewritten.content, tuple(repairs), tuple(left), warnings)


def _size_warning(link: LinkInertia, shape: Filled | None) -> str:
    """How a body is larger than its shape, or without one than the largest length of its model."""
    if link.phi is None:
        return ""
    mass, second = float(link.phi[0]), second_moment_about_com(link.phi)
    if shape is not None:
        return contradiction(second, mass, shape, OUTSIDE)
    radius, largest = float(np.sqrt(np.trace(second) / mass)), link.largest_length
    if mean_density(link.phi) > _AIR and radius <= _LARGER * (largest or np.inf):
        return ""
    beside = f", and the largest length in the file {largest:.3g} m" if largest else ""
    return f"it is large now: its radius of gyration is {radius:.3g} m{beside}"


def _warnings(judged: Sequence[JudgedLink]) -> tuple[tuple[LinkInertia, str], ...]:
    return tuple((entry.link, entry.warning) for entry in judged if entry.warning)


def _digits(margin: float) -> int:
    """Digits that keep a margin, a difference of numbers that are larger by its inverse."""
    return DIGITS if margin == 0.0 else min(DIGITS + math.ceil(-math.log10(margin)), 17)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a link stands in its file."""

    document: XmlDocument
    form: ModelFormat
    entry: FoundLink

    def filled(self) -> Filled:
        """The link's geometry with 1 kg/m³; raises `ModelError` where it has none that serves."""
        return fill(self.form.geometry(self.document, self.entry.link), self.document.path)

    def contradicts(self, inertia: Mat33) -> bool:
        """Whether a new I_BBcm_C [kg m²] contradicts the link's shape, if it has one."""
        phi = self.entry.inertia.judged
        try:
            filled = self.filled()
        except ModelError:
            return False
        axes = self.entry.inertia.axes
        second = axes @ second_moment_from_inertia(inertia) @ axes.T
        return phi is not None and bool(contradiction(second, float(phi[0]), filled, OUTSIDE))

    def shape_inertia(self, mass: float) -> tuple[Mat33, str]:
        """I_BBcm_C of the link's shape with a mass, and what it is, in words.

        Raises:
            ModelError: it has none that serves.
        """
        filled = self.filled()
        density = mass / float(filled.phi[0])
        if not density <= DENSEST_LINK:
            raise ModelError(f"{filled.what} would have {density:.2g} kg/m³")
        axes = self.entry.inertia.axes
        inertia = axes.T @ (density * inertia_about_com(filled.phi)) @ axes
        return inertia, f"{filled.what} with its mass, {density:.3g} kg/m³"


def _repaired_estimate(path: Path, wrong: JudgedLink, settings: RepairSettings) -> RepairedModel:
    saved = read_estimate(path)
    require_unedited(saved, path)
    try:
        repair = _repair(wrong, settings, None)
    except ModelError as error:
        return RepairedModel(path.read_bytes(), (), ((wrong.link, str(error)),))
    body = SavedEstimate(  # without what was said of the old one
        parameters=InertialParameters(np.asarray(repair.phi)),
        frame=saved.frame,
        frames=saved.frames,
        provenance={**saved.provenance, "repaired": f"{wrong.fault}: {wrong.reasons[0]}"},
    )
    return RepairedModel(estimate_text(body).encode(), (repair,), ())


def _repair(judged: JudgedLink, settings: RepairSettings, place: _Place | None) -> Repair:
    """The body for a link: with a mass, in the axes that its numbers are printed in."""
    link, slip, taken = judged.link, judged.slip, ""
    if link.unreadable:
        raise ModelError(f"{link.note}; write it into the file")
    if link.judged is None and not link.massless:
        raise ModelError("its inertia is not written in the file, which makes it of something else")
    if link.judged is None or not link.judged[0] > 0.0:
        return _repair_mass(link, settings, place)
    if place is not None and place.entry.frame is None:
        raise ModelError("its inertia is not written in the file, which makes it of something else")
    distance, phi = 0.0, link.judged
    if check(phi).impossible:
        nearest = nearest_consistent(phi, margin=MARGIN)
        against = place is not None and place.contradicts(inertia_about_com(nearest.phi))
        if slip is not None and (slip.clear or against):
            phi, taken = np.concatenate((phi[:4], slip.six)), slip.text
        else:
            phi, distance = nearest.phi, float(nearest.distance)
    inertia, source = _kept_off_the_edge(inertia_about_com(phi), settings.asked.margin), ""
    if place is not None and implied_density(phi) > DENSEST_LINK:
        inertia, source = _with_a_size(phi, settings, place)
    elif place is not None and settings.from_geometry and place.contradicts(inertia):
        inertia, source = place.shape_inertia(float(phi[0]))
    if source:
        taken = ""
        inertia = _kept_off_the_edge(inertia, settings.asked.margin)
    written = phi_from_inertia(phi[0], phi[1:4] / phi[0], inertia)
    return Repair(link, written, source, None if source or taken else distance, taken)


def _repair_mass(link: LinkInertia, settings: RepairSettings, place: _Place | None) -> Repair:
    """The body for a link of no mass: its geometry with the density that is given."""
    if settings.density is None or place is None:
        raise ModelError(
            "no body without a positive mass is near; give the density of its geometry (--density "
            "RHO), write its mass into the file, or zeros for its inertia if it is a frame without "
            "mass"
        )
    if not settings.geometry:
        raise ModelError("it has no mass, and its geometry is not to be taken (--no-geometry)")
    try:
        filled = place.filled()
    except ModelError as error:
        raise ModelError(
            f"it has no mass, and no density makes one ({error}); write its mass into the file, or "
            "zeros for its inertia if it is a frame without mass"
        ) from error
    source = f"{filled.what} with {settings.density:g} kg/m³: mass and centre of mass are new"
    return Repair(link, settings.density * filled.phi, source)


def _with_a_size(phi: Phi, settings: RepairSettings, place: _Place) -> tuple[Mat33, str]:
    """I_BBcm_C of a link with a mass and no size to speak of, and what it is, in words.

    `phi` is what the link has, about its centre of mass in the axes C that it is printed in.
    """
    mass, why = float(phi[0]), "geometry is not to be taken, by --no-geometry"
    if settings.geometry:
        try:
            return place.shape_inertia(mass)
        except ModelError as error:
            why = str(error)
    density = DEFAULT_DENSITY if settings.density is None else settings.density
    radius = float(np.cbrt(3.0 * mass / (4.0 * np.pi * density)))
    second = second_moment_about_com(phi)
    source = (
        f"second moments of at least those of a ball of its mass and a radius of {radius:.3g} m, "
        f"of {density:g} kg/m³ (--density); {why}"
    )
    return _raised(inertia_from_second_moment(second), 0.2 * mass * radius**2), source


def _kept_off_the_edge(inertia: Mat33, margin: float) -> Mat33:
    """The inertia with second moments of at least a share of their sum; of a rod `_ROD_SHARE`."""
    low, middle, high = np.linalg.eigvalsh(second_moment_from_inertia(inertia)).tolist()
    share = max(margin, _ROD_SHARE if middle < _ROD * high else 0.0)
    least = share * (middle + high) / (1.0 - share)
    if least > middle:
        least = share * high / (1.0 - 2.0 * share)
    return _raised(inertia, least) if low < least else inertia


def _raised(inertia: Mat33, least: float) -> Mat33:
    """The inertia with every second moment at `least` [kg m²] or above, about the same axes."""
    values, axes = np.linalg.eigh(second_moment_from_inertia(inertia))
    return inertia + inertia_from_second_moment((axes * np.maximum(least - values, 0.0)) @ axes.T)
