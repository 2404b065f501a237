"""Bodies in files: an estimate.json, a link of a model, or a text of another program."""

from __future__ import annotations

from pathlib import Path

from identify.documents import lookup
from identify.errors import ModelError
from identify.exchange.body_formats.answers import NO_ANSWERS, BodyAnswers
from identify.exchange.body_formats.registry import read_body_text
from identify.exchange.estimate_json import SavedEstimate
from identify.exchange.link_checks import WITHOUT_INERTIA, check_links
from identify.exchange.models import MODEL_SUFFIXES, read_model
from identify.exchange.rewriting import open_model
from identify.exchange.simulated_bodies import body_in_own_program
from identify.inertia import InertialParameters


def is_model_file(path: Path) -> bool:
    """Return whether a file is a robot model by its suffix."""
    return path.suffix.lower() in MODEL_SUFFIXES


def read_body(path: Path, answers: BodyAnswers = NO_ANSWERS) -> SavedEstimate:
    """Read a body from a file, from a link given as `MODEL#LINK`, or one of several as `FILE#NAME`.

    `answers`: what a text of another program does not say.

    Raises `MissingFile`: no such file; `ModelError`: the file does not describe a body, or the link
    is missing or has no mass.
    """
    file, hash_, name = str(path).rpartition("#")
    if path.exists() or not hash_:
        if not is_model_file(path):
            return read_body_text(path, answers)
        names = [link.name for link in read_model(path).links]
        raise ModelError(f"{path} is a model; choose a link as {path}#LINK, one of {names}")
    if not is_model_file(Path(file)):
        return read_body_text(Path(file), answers, name)
    links = {link.name: link for link in read_model(file).links}
    try:
        link = lookup(links, name, "link", ModelError)
    except ModelError as error:
        raise ModelError(f"{file}: {error}") from None
    if link.line is not None:
        _require_body_of_numbers(file, name)
    if link.phi is None:
        reason = "is a massless frame" if link.massless else f"has no inertia: {link.note}"
        raise ModelError(f"{file}: link {name!r} {reason}")
    return SavedEstimate(InertialParameters(link.phi), f"link {name} of {file}")


def _require_body_of_numbers(file: str, name: str) -> None:
    """Raise `ModelError` if a link has no inertia, or MuJoCo's settings in a URDF change it."""
    document, form = open_model(file)
    entry = next(entry for entry in form.read(document) if entry.inertia.name == name)
    (checked,) = check_links([entry.inertia])
    if checked.problem == WITHOUT_INERTIA:
        raise ModelError(f"{file}: link {name!r} has {checked.reasons[0]}")
    if changes := "; ".join(body_in_own_program(document, form, entry).changes):
        raise ModelError(
            f"{file}: in MuJoCo link {name!r} is not the body of its numbers ({changes}); remove "
            f"the settings of <mujoco> <compiler> for the body as it is written, or see identify "
            f"inspect {file} --for mujoco"
        )
