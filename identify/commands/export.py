"""`identify export`: a body in the words of a simulator, a program or a controller."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.bodies import (
    AT,
    PoseNumbers,
    UnusableEstimate,
    pose_of,
    read_bodies,
    reasons_of,
    status_of,
)
from identify.commands.command import Command, Flag, Number, Outcome, UsageError, numbers, option
from identify.commands.output import require_writable_file, write_file

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.inertia import InertialParameters


_FORMATS = (
    "urdf, sdf, mjcf (an inertial element); drake, dart (Python); abb, fanuc, franka, franka_desk, "
    "kuka, ros, ur, yaskawa (payload settings). Needed but with --into, whose file says it."
)
_AT = (
    "The other way round: pose of the body's frame in the wanted one, as a pendant shows a tool's: "
    "position [m] and rotation vector [rad]."
)


@dataclass(frozen=True, slots=True)
class ExportCommand(Command):
    """Print a body for a simulator, a program or a controller, or write it into a robot model.

    It is written about the body frame B; to a controller about the flange (ABB: the tool point),
    of which the log's schema says where it is, or --at or --frame. Standard output is the text to
    paste; what it cannot say, and what to see to, goes to standard error. Numbers are rounded so
    that the rounded body is still possible. Exit status: 2 for bad use, for a body that is
    impossible or that the controller does not take, and where the flange is not known; 4, with
    nothing written, for an estimate that its findings say not to use.
    """

    estimate: Annotated[Path, Positional, option("BODY", "(required)")]
    """An estimate.json, JSON with mass, com and inertia_about_com, or model.urdf#LINK."""

    to: Annotated[str | None, option("NAME", help=_FORMATS)] = None

    frame: Annotated[
        tuple[float, float, float, float, float, float, float] | None,
        numbers(7),
        option("X Y Z QX QY QZ QW", "(default: the body's own)"),
    ] = None
    """Pose of the wanted frame (link, flange) in the body's frame: position [m] and quaternion."""

    at: Annotated[PoseNumbers | None, option(AT, "(default: the same)", help=_AT)] = None

    link: Annotated[str | None, option("L")] = None
    """The link that gets the body, with --into."""

    into: Annotated[Path | None, option("FILE")] = None
    """URDF, SDF or MJCF file with that link; it is not touched (unless it is OUT too)."""

    largest_mass: Annotated[Number, option("KG")] = None
    """What the arm may carry; a controller is not given more."""

    digits: Annotated[int, option("N", "(default: 9)")] = 9
    """Significant digits, 3 to 17; more where fewer would make the body impossible."""

    output: Annotated[Path | None, option("OUT", "(default: printed)", short="-o")] = None
    """File to write to."""

    accept_findings: Flag = False
    """Export an estimate that is not to be used, with the reasons in a comment."""

    def run(self, invocation: str) -> Outcome:
        """Write the body, or give its text."""
        self._require_choice()
        (saved,) = read_bodies(self.estimate)
        reasons, unusable = reasons_of(saved), status_of(saved.verdict)
        if unusable and not self.accept_findings:
            raise UnusableEstimate(self.estimate, reasons)
        body = self._moved(saved)
        content, remarks = self._into(body) if self.into else self._text(body)
        if unusable:
            content, remarks = self._with_reasons(content, reasons, remarks)
        text = content.decode()
        if self.output is not None:
            write_file(self.output, content)
        return Outcome(
            text="" if self.output else text,
            messages=[*reasons, *(f"note: {remark}" for remark in remarks)],
            document=lambda: {"text": text, "reasons": reasons, "notes": remarks},
            files=[self.output] if self.output else [],
        )

    def _with_reasons(
        self, content: bytes, reasons: tuple[str, ...], remarks: tuple[str, ...]
    ) -> tuple[bytes, tuple[str, ...]]:
        """The content under a comment, or the remark that its format has none."""
        from identify.exchange import model_with_comment, with_comment

        lines = ("This estimate is not to be used, and its findings were accepted:", *reasons)
        if self.into is not None:
            return model_with_comment(content, self.into, lines), remarks
        text = with_comment(content.decode(), str(self.to), lines)
        if text is None:
            return content, (f"{self.to} has no comments: the reasons stand here alone", *remarks)
        return text.encode(), remarks

    def _require_choice(self) -> None:
        if (self.link is None) != (self.into is None):
            missing = "--into FILE" if self.into is None else "--link L"
            raise UsageError(f"export: --link and --into go together; {missing} is missing")
        if self.to is None and self.into is None:
            from identify.exchange import EXPORTS

            raise UsageError(f"export: missing --to NAME, one of {', '.join(EXPORTS)}")
        if self.at is not None and self.frame is not None:
            raise UsageError("export: --at and --frame say the same, each the other way round")
        require_writable_file(self.output)

    def _moved(self, saved: SavedEstimate) -> SavedEstimate | InertialParameters:
        """The body in the frame that was asked for; else the estimate, which knows its own."""
        body = saved.parameters
        if self.at is not None:
            return body.in_frame(pose_of(self.at, "export"))
        if self.frame is None:
            return saved
        import numpy as np

        from identify.spatial import Pose

        if not np.isfinite(self.frame).all() or not any(self.frame[3:]):
            raise UsageError(
                "export: --frame X Y Z QX QY QZ QW: expected finite numbers and a quaternion that "
                "is not zero (0 0 0 1 for no rotation)"
            )
        # The frame's pose in the body, so the body's in the frame is its inverse.
        return body.in_frame(Pose.from_quaternion(self.frame[3:], self.frame[:3]).inverse())

    def _text(self, body: SavedEstimate | InertialParameters) -> tuple[bytes, tuple[str, ...]]:
        from identify.exchange import export_body

        export = export_body(body, str(self.to), largest_mass=self.largest_mass, digits=self.digits)
        lost = tuple(f"not as the estimate has it: {what}" for what in export.lost)
        return export.text.encode(), (*lost, *self._given(), *export.notes)

    def _given(self) -> tuple[str, ...]:
        """About which frame the body is, where that was said here."""
        word = "--at" if self.at is not None else "--frame"
        here = self.at is not None or self.frame is not None
        return (f"about the frame that {word} gives, in its axes",) if here else ()

    def _into(self, body: SavedEstimate | InertialParameters) -> tuple[bytes, tuple[str, ...]]:
        from identify.exchange import read_model, rewrite_model
        from identify.exchange.estimate_views import EstimateViews

        assert self.into is not None
        assert self.link is not None
        if self.largest_mass is not None:
            raise UsageError("export: --largest-mass is for controllers, not for a model file")
        form = read_model(self.into).format
        if self.to not in (None, form):
            raise UsageError(f"export: {self.into} is {form}, but --to says {self.to}")
        about = self._given()
        if isinstance(body, EstimateViews):
            body, about = body.parameters, (f"about {body.frame_description}, in its axes",)
        rewritten = rewrite_model(self.into, {self.link: body.phi}, digits=self.digits)
        change = rewritten.bodies[self.link].change
        return rewritten.content, (*([change] if change else []), *about)
