"""Model files repaired: the nearest possible body in the place of every impossible one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from identify.arrays import Phi
from identify.errors import ModelError
from identify.exchange.estimate_json import SavedEstimate, estimate_text, read_estimate
from identify.exchange.link_inertia import LinkInertia, impossible_links
from identify.exchange.models import Model, read_model
from identify.exchange.rewriting import rewrite_inertias
from identify.exchange.rounding import MARGIN
from identify.inertia import InertialParameters, check, nearest_consistent
from identify.inertia.matrices import inertia_about_com
from identify.inertia.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Repair:
    """One link that was impossible, and the body in its place.

    Attributes:
        link: as it was read.
        verdict: what was wrong with it.
        phi: the body written, about the link's origin in its axes, shape (10,).
        distance: ‖T ΔPi Tᵀ‖ from the body that was read, in units of its own size (see
            `nearest_consistent`).
        change: what was changed beyond that to keep off the edge or above a format's floor, in a
            sentence, or nothing.
    """

    link: LinkInertia
    verdict: Verdict
    phi: Phi
    distance: float
    change: str = ""

    @property
    def moments(self) -> Phi:
        """Principal moments about the centre of mass of the body written [kg m²], shape (3,)."""
        return check(self.phi).principal_moments


@dataclass(frozen=True, slots=True)
class RepairedModel:
    """A model file with possible bodies.

    Attributes:
        content: the whole file; byte for byte the one read where nothing was repaired.
        repairs: what was repaired.
        left: links that are impossible still, with why they could not be repaired.
    """

    content: bytes
    repairs: tuple[Repair, ...]
    left: tuple[tuple[LinkInertia, str], ...]


def repair_model(path: Path | str, model: Model | None = None) -> RepairedModel:
    """A model file with the nearest possible body in the place of every impossible one.

    Mass, centre of mass and axes are kept; see `nearest_consistent` for the metric. Everything but
    the numbers of such an inertia keeps its bytes. The file itself is not touched.

    Args:
        path: URDF, SDF, MJCF or estimate.json.
        model: what `read_model` says of it, where that is known already.

    Raises:
        MissingFile, ModelError: as `read_model` and `rewrite_inertias` do.
    """
    path = Path(path)
    model = read_model(path) if model is None else model
    repairs: list[Repair] = []
    left: list[tuple[LinkInertia, str]] = []
    for link in impossible_links(model.links):
        try:
            repairs.append(_repair(link))
        except ModelError as error:
            left.append((link, str(error)))
    if not repairs:
        return RepairedModel(path.read_bytes(), (), tuple(left))
    if model.format == "estimate":
        saved, repair = read_estimate(path), repairs[0]
        body = SavedEstimate(  # without what was said of the old one
            parameters=InertialParameters(np.asarray(repair.phi)),
            frame=saved.frame,
            provenance={**saved.provenance, "repaired": str(repair.verdict)},
        )
        return RepairedModel(estimate_text(body).encode(), tuple(repairs), tuple(left))
    inertias = {entry.link.name: inertia_about_com(entry.phi) for entry in repairs}
    rewritten = rewrite_inertias(path, inertias)
    for i, entry in enumerate(repairs):
        body = rewritten.bodies[entry.link.name]
        repairs[i] = replace(entry, phi=body.phi, change=body.change)
    return RepairedModel(rewritten.content, tuple(repairs), tuple(left))


def _repair(link: LinkInertia) -> Repair:
    """The nearest body, in the axes that the link's numbers are printed in."""
    verdict = link.verdict
    if verdict is None or link.printed is None:
        raise ModelError("its inertia is not written in the file, which makes it of something else")
    if not verdict.mass > 0.0:
        raise ModelError(
            "no body without a positive mass is near; write its mass into the file, or zeros for "
            "its inertia if it is a frame without mass"
        )
    nearest = nearest_consistent(link.printed, margin=MARGIN)
    return Repair(link, verdict, nearest.phi, float(nearest.distance))
