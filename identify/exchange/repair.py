"""Repair of invalid link inertias in model files.

An inconsistent body becomes the nearest physically consistent one. A body with a mass and hardly
any size, before or after that, gets the inertia of its own geometry with uniform density, or
without geometry that of a ball of plausible density: programs load a body denser than any
material, but simulations of it are useless.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from identify.arrays import Mat33, Phi
from identify.errors import ModelError
from identify.exchange.body_formats.registry import read_body_text
from identify.exchange.estimate_json import SavedEstimate, estimate_text
from identify.exchange.estimate_reading import require_unedited
from identify.exchange.link_checks import MISREAD, LinkCheck, LinkRequirements, check_links
from identify.exchange.link_geometry import (
    MAX_CONVEX_RATIO,
    SHAPE_CONTRADICTION,
    ShapeInertia,
    inertia_from_shapes,
    shape_contradiction,
)
from identify.exchange.link_inertia import (
    MAX_MATERIAL_DENSITY,
    LinkInertia,
    implied_density,
)
from identify.exchange.model_format import LinkEntry, ModelFormat
from identify.exchange.models import Model, read_model
from identify.exchange.rewriting import (
    BodiesInProgram,
    bodies_in_program,
    open_model,
    rewrite_model,
)
from identify.exchange.rounding import DEFAULT_DIGITS, MIN_MOMENT_RATIO
from identify.exchange.xml_document import XmlDocument, parse_xml
from identify.inertia import (
    InertialParameters,
    check_consistency,
    inertia_about_com,
    inertia_from_second_moment,
    nearest_consistent,
    phi_from_inertia,
    second_moment_about_com,
)
from identify.inertia.conventions.mass_properties import InertialFrame
from identify.inertia.matrices import second_moment_from_inertia
from identify.inertia.parameters import DEFAULT_DENSITY
from identify.spatial import Pose

_MAX_ROD_WIDTH = 1e-4
"""Second largest second moment up to which a body is a rod, relative to the largest one."""

_ROD_MARGIN = 1e-6
"""Smallest second moment of a repaired rod, relative to the sum of the three second moments."""

_DERIVED_INERTIA_REASON = (
    "its inertia is derived from geoms or defaults, not stored in the file; write an explicit "
    "inertial element first"
)
"""Reason why a link without stored inertia is not repaired."""

_MAX_GYRATION_PER_LENGTH = 1.2
"""Largest plausible ratio of a repaired radius of gyration to the largest length in the model."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Repaired link with its new body.

    Attributes:
        link: as it was read.
        phi: the body written, about the link's origin in its axes, shape (10,).
        source: description of the body; empty for the nearest consistent one.
        distance: ‖T ΔPi Tᵀ‖ of that from the body that was read, in units of its own size (see
            `nearest_consistent`); None for another body.
        change: sentences on the corrected typo or convention, and on further changes that keep the
            body off the consistency boundary or above a format's floor; or empty.
        whole: whether `phi` is about the link's origin in its axes, with a new mass or centre of
            mass; else it is in the axes of the printed numbers.
    """

    link: LinkInertia
    phi: Phi
    source: str = ""
    distance: float | None = None
    change: str = ""
    whole: bool = False

    @property
    def moments(self) -> Phi:
        """Principal moments of the new body about its centre of mass [kg m²], shape (3,)."""
        return check_consistency(self.phi).principal_moments


@dataclass(frozen=True, slots=True)
class RepairedModel:
    """Content of a repaired model file, and the list of repairs.

    Attributes:
        content: the complete file; byte for byte the one read if nothing was repaired.
        repairs: of the links that were repaired.
        unrepaired: links that still have a problem, with the reason.
        warnings: links whose shapes contradict their new inertia, with a sentence each.
        problem: sentence on the installed program of the requirement, if it does not load the
            content.
    """

    content: bytes
    repairs: tuple[Repair, ...]
    unrepaired: tuple[tuple[LinkInertia, str], ...]
    warnings: tuple[tuple[LinkInertia, str], ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """Settings of `repair_model`.

    Attributes:
        requirement: on the links, beyond physical consistency.
        geometry: whether a link's inertia may be computed from its geometry.
        from_geometry: whether the geometry replaces every inertia that contradicts it, also that
            of a consistent body.
        density: of links whose mass is not above zero, and of the balls [kg/m³]; None leaves such
            links unchanged, and takes water's for the balls.
    """

    requirement: LinkRequirements = field(default_factory=LinkRequirements)
    geometry: bool = True
    density: float | None = None
    from_geometry: bool = False

    def __post_init__(self) -> None:
        if self.from_geometry and not self.geometry:
            raise ModelError(
                "from_geometry takes inertia from shapes, which geometry=False forbids: give one"
            )
        if self.density is not None and not 0.0 < self.density <= MAX_MATERIAL_DENSITY:
            raise ModelError(
                f"density: expected more than 0 and up to {MAX_MATERIAL_DENSITY:g} kg/m³, got "
                f"{self.density:g}"
            )


def repair_model(
    path: Path | str, model: Model | None = None, settings: RepairSettings | None = None
) -> RepairedModel:
    """Replace the inertia of every link that has a problem; return the new file content.

    Mass, centre of mass and axes are kept if there is a mass; everything but the element of such
    an inertia keeps its bytes. The result is checked again. The file itself is not changed.

    `model`: result of `read_model`, if it is available already; `settings`: requirement and sources
    of inertia; by default physical consistency.
    Raises `MissingFile` or `ModelError`: as `read_model` and `rewrite_model`.
    """
    path = Path(path)
    settings = RepairSettings() if settings is None else settings
    model = read_model(path) if model is None else model
    shapes = model.shapes()
    simulator = settings.requirement.simulator
    simulated = BodiesInProgram()
    if simulator and model.document:
        simulated = bodies_in_program(model.document, simulator)
    checks = check_links(model.links, settings.requirement, shapes, simulated.bodies)
    wrong = [
        e
        for e in checks
        if e.problem or (settings.from_geometry and SHAPE_CONTRADICTION in e.warning)
    ]
    if not wrong:
        return RepairedModel(path.read_bytes(), (), (), _warnings(checks), simulated.problem)
    if model.format == "estimate":
        return _repaired_estimate(path, wrong[0], settings)
    document, form = open_model(path)
    entries = {entry.inertia.name: entry for entry in form.read(document)}
    repairs: list[Repair] = []
    unrepaired: list[tuple[LinkInertia, str]] = []
    for check_result in wrong:
        context = _LinkContext(document, form, entries[check_result.link.name])
        try:
            repairs.append(_repair(check_result, settings, context))
        except ModelError as error:
            unrepaired.append((check_result.link, str(error)))
    bodies = {r.link.name: r.phi for r in repairs if r.whole}
    inertias = {r.link.name: inertia_about_com(r.phi) for r in repairs if r.link.name not in bodies}
    digits = DEFAULT_DIGITS
    if margin := settings.requirement.margin:  # digits that resolve it
        digits = min(DEFAULT_DIGITS + math.ceil(-math.log10(margin)), 17)
    rewritten = rewrite_model(path, bodies, inertias=inertias, digits=digits)
    for i, entry in enumerate(repairs):
        body = rewritten.bodies[entry.link.name]
        change = "; ".join(filter(None, (entry.change, body.change)))
        repairs[i] = replace(entry, phi=body.phi, change=change)
    document = parse_xml(rewritten.content, path)
    again = [entry.inertia for entry in form.read(document)]
    simulated = bodies_in_program(document, simulator) if simulator else BodiesInProgram()
    checks = check_links(again, settings.requirement, shapes, simulated.bodies)
    new = [e.link for e in checks if e.link.name in rewritten.bodies and not e.warning]
    sizes = ((link, _size_warning(link, shapes.get(link.name))) for link in new)
    # An inertia from the shape, about a centre of mass outside it, is possible: the mass was right.
    misread = [e for e in checks if e.link.name in rewritten.bodies and e.problem == MISREAD]
    warnings = (
        *_warnings(checks),
        *(entry for entry in sizes if entry[1]),
        *((entry.link, entry.reasons[0]) for entry in misread),
    )
    named = {link.name for link, _ in unrepaired} | {entry.link.name for entry in misread}
    unrepaired += [
        (entry.link, "; ".join(entry.reasons))
        for entry in checks
        if entry.problem and entry.link.name not in named
    ]
    return RepairedModel(
        rewritten.content, tuple(repairs), tuple(unrepaired), warnings, simulated.problem
    )


def _size_warning(link: LinkInertia, shape: ShapeInertia | None) -> str:
    """Return a warning if a body is larger than its shape, or without a shape, than the model."""
    if link.phi is None:
        return ""
    mass, second = float(link.phi[0]), second_moment_about_com(link.phi)
    if shape is not None:
        return shape_contradiction(second, mass, shape, MAX_CONVEX_RATIO)
    radius, largest = float(np.sqrt(np.trace(second) / mass)), link.largest_length
    if largest is None or radius <= _MAX_GYRATION_PER_LENGTH * largest:
        return ""
    return (
        f"it is large now: its radius of gyration is {radius:.3g} m, and the largest length in the "
        f"file {largest:.3g} m"
    )


def _warnings(checks: Sequence[LinkCheck]) -> tuple[tuple[LinkInertia, str], ...]:
    return tuple((entry.link, entry.warning) for entry in checks if entry.warning)


@dataclass(frozen=True, slots=True)
class _LinkContext:
    """Link with its document and model format."""

    document: XmlDocument
    form: ModelFormat
    entry: LinkEntry

    def unit_density_shape(self) -> ShapeInertia:
        """Return the link's geometry filled with 1 kg/m³; raise `ModelError` if that fails."""
        return inertia_from_shapes(
            self.form.geometry(self.document, self.entry.link_element), self.document.path
        )

    def contradicts(self, inertia: Mat33) -> bool:
        """Return whether a new I_BBcm_C [kg m²] contradicts the link's shape, if it has one."""
        phi = self.entry.inertia.phi_as_printed
        try:
            shape = self.unit_density_shape()
        except ModelError:
            return False
        axes = self.entry.inertia.axes
        second = axes @ second_moment_from_inertia(inertia) @ axes.T
        return phi is not None and bool(
            shape_contradiction(second, float(phi[0]), shape, MAX_CONVEX_RATIO)
        )

    def shape_inertia(self, mass: float) -> tuple[Mat33, str]:
        """Return I_BBcm_C of the link's shape with a mass, and a description of it.

        Raises `ModelError`: the link has no shape that can be filled.
        """
        shape = self.unit_density_shape()
        density = mass / float(shape.phi[0])
        if not density <= MAX_MATERIAL_DENSITY:
            raise ModelError(f"{shape.description} would have {density:.2g} kg/m³")
        axes = self.entry.inertia.axes
        inertia = axes.T @ (density * inertia_about_com(shape.phi)) @ axes
        return inertia, f"{shape.description} with its mass, {density:.3g} kg/m³"


def _repaired_estimate(path: Path, wrong: LinkCheck, settings: RepairSettings) -> RepairedModel:
    saved = read_body_text(path)
    require_unedited(saved, path)
    try:
        repair = _repair(wrong, settings, None)
    except ModelError as error:
        return RepairedModel(path.read_bytes(), (), ((wrong.link, str(error)),))
    body = SavedEstimate(  # without the intervals and findings of the old one
        parameters=InertialParameters(np.asarray(repair.phi)),
        frame=saved.frame,
        frames=saved.frames,
        provenance={**saved.provenance, "repaired": f"{wrong.problem}: {wrong.reasons[0]}"},
    )
    return RepairedModel(estimate_text(body).encode(), (repair,), ())


def _repair(wrong: LinkCheck, settings: RepairSettings, context: _LinkContext | None) -> Repair:
    """Return a consistent body for a link; if it has a mass, in the axes of the printed numbers."""
    link = wrong.link
    typo = wrong.typo
    correction = ""
    if link.unreadable:
        raise ModelError(f"{link.note}; write a complete inertial element into the file")
    if link.phi_as_printed is None and not link.massless:
        raise ModelError(_DERIVED_INERTIA_REASON)
    if link.phi_as_printed is None or not link.phi_as_printed[0] > 0.0:
        return _repair_mass(link, settings, context)
    if context is not None and context.entry.frame is None:
        if not settings.from_geometry or context.entry.inertial_element is None:
            raise ModelError(_DERIVED_INERTIA_REASON)
        body = link.phi_as_printed if link.phi is None else link.phi
        inertia, source = context.shape_inertia(float(body[0]))
        frame = InertialFrame(body[0], Pose(link.axes, body[1:4] / body[0]), inertia)
        return Repair(link, frame.phi, source, whole=True)
    distance, phi = 0.0, link.phi_as_printed
    reading = wrong.reading
    if reading is not None:
        phi, correction = reading.central_phi(link.axes), reading.text
    if check_consistency(phi).impossible:
        nearest = nearest_consistent(phi, margin=MIN_MOMENT_RATIO)
        against = context is not None and context.contradicts(inertia_about_com(nearest.phi))
        if typo is not None and (typo.is_conclusive or against):
            phi, correction = np.concatenate((phi[:4], typo.inertia)), typo.text
        else:
            phi, distance = nearest.phi, float(nearest.distance)
    inertia, source = _move_to_interior(inertia_about_com(phi), settings.requirement.margin), ""
    if context is not None and implied_density(phi) > MAX_MATERIAL_DENSITY:
        inertia, source = _inertia_with_extent(phi, settings, context)
    elif context is not None and settings.from_geometry and context.contradicts(inertia):
        inertia, source = context.shape_inertia(float(phi[0]))
    if source:
        correction = ""
        inertia = _move_to_interior(inertia, settings.requirement.margin)
    turns = link.order == "diagonal" and bool(np.triu(inertia, 1).any())
    if reading is not None and (reading.moves_mass or turns):
        frame = InertialFrame(phi[0], Pose(link.axes, reading.body.com), inertia)
        return Repair(link, frame.phi, source, None, correction, whole=True)
    written = phi_from_inertia(phi[0], phi[1:4] / phi[0], inertia)
    distance = None if source or correction else distance
    return Repair(link, written, source, distance, correction)


def _repair_mass(
    link: LinkInertia, settings: RepairSettings, context: _LinkContext | None
) -> Repair:
    """Return the body of a link without mass from its geometry and the given density."""
    if settings.density is None or context is None:
        raise ModelError(
            "it has no positive mass; give the density of its geometry (--density RHO), write its "
            "mass into the file, or zeros for its inertia if it is a frame without mass"
        )
    if not settings.geometry:
        raise ModelError("it has no mass, and --no-geometry excludes its geometry")
    try:
        shape = context.unit_density_shape()
    except ModelError as error:
        raise ModelError(
            f"it has no mass, and no volume to compute it from ({error}); write its mass into the "
            "file, or zeros for its inertia if it is a frame without mass"
        ) from error
    density = settings.density
    source = f"{shape.description} with {density:g} kg/m³: mass and centre of mass are new"
    return Repair(link, density * shape.phi, source, whole=True)


def _inertia_with_extent(
    phi: Phi, settings: RepairSettings, context: _LinkContext
) -> tuple[Mat33, str]:
    """Return I_BBcm_C, with its description, for a link with mass but hardly any extent.

    `phi` are the link's parameters about its centre of mass, in the axes C of the printed numbers.
    """
    mass, reason = float(phi[0]), "--no-geometry excludes its geometry"
    if settings.geometry:
        try:
            return context.shape_inertia(mass)
        except ModelError as error:
            reason = str(error)
    density = DEFAULT_DENSITY if settings.density is None else settings.density
    radius = float(np.cbrt(3.0 * mass / (4.0 * np.pi * density)))
    second = second_moment_about_com(phi)
    source = (
        f"second moments of at least those of a ball of its mass and a radius of {radius:.3g} m, "
        f"of {density:g} kg/m³ (--density); {reason}"
    )
    return _raise_second_moments(inertia_from_second_moment(second), 0.2 * mass * radius**2), source


def _move_to_interior(inertia: Mat33, margin: float) -> Mat33:
    """Raise second moments to a fraction of their sum, for a rod at least to `_ROD_MARGIN`."""
    low, middle, high = np.linalg.eigvalsh(second_moment_from_inertia(inertia)).tolist()
    share = max(margin, _ROD_MARGIN if middle < _MAX_ROD_WIDTH * high else 0.0)
    minimum = share * (middle + high) / (1.0 - share)
    if minimum > middle:
        minimum = share * high / (1.0 - 2.0 * share)
    return _raise_second_moments(inertia, minimum) if low < minimum else inertia


def _raise_second_moments(inertia: Mat33, minimum: float) -> Mat33:
    """Raise every second moment to at least `minimum` [kg m²], with the same principal axes."""
    values, axes = np.linalg.eigh(second_moment_from_inertia(inertia))
    added = (axes * np.maximum(minimum - values, 0.0)) @ axes.T
    return inertia + inertia_from_second_moment(added)
