"""`identify export`: write a body in the format of a simulator, a library or a controller."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.bodies import (
    POSE_METAVAR,
    PoseNumbers,
    UnusableEstimate,
    exit_status,
    pose_from_numbers,
    read_bodies,
    reading_notes,
    verdict_messages,
)
from identify.commands.command import (
    Command,
    Flag,
    Number,
    Outcome,
    UsageError,
    number_parser,
    option,
)
from identify.commands.output import require_writable_file, write_file

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.spatial import Pose


_FORMAT_HELP = (
    "Format: urdf, sdf, mjcf (an inertial element); drake, dart (Python); usd (a layer); abb, "
    "fanuc, franka, franka_desk, kuka, ros, ur, ur_ros2, ur_ros2_rolling, xarm, yaskawa (payload "
    "settings); ros2_gravity, mujoco_gravity (weight, for filters). Required without --into."
)
_AT_HELP = (
    "Pose of the body's frame in the target frame (the inverse of --frame), as a pendant shows a "
    "tool: position [m] and rotation vector [rad]. Refused if the log shows that the origin is not "
    "the point whose pose it has."
)


@dataclass(frozen=True, slots=True)
class ExportCommand(Command):
    """Export a body to a simulator or a controller, or write it into a robot model.

    The result is about the body frame B; for a controller it is about the flange (ABB: the tool
    point), whose pose is in the log's schema or given by --at or --frame. Standard output is the
    text to paste; notes go to standard error. Numbers are rounded such that the rounded body is
    still physically consistent. Exit status: 2 for bad use, for a body that is inconsistent or
    that the controller does not accept, and if the flange is unknown; 4, with nothing written, for
    an estimate that must not be used.
    """

    estimate: Annotated[Path, Positional, option("BODY", "(required)")]
    """The body: an estimate.json, MODEL#LINK, or a text that identify body reads."""

    to: Annotated[str | None, option("NAME", help=_FORMAT_HELP)] = None

    frame: Annotated[
        tuple[float, float, float, float, float, float, float] | None,
        number_parser(7, "0 0 0.1 0 0 0 1 [m, quaternion x y z w]"),
        option("X Y Z QX QY QZ QW", "(default: the body's frame)"),
    ] = None
    """Pose of the target frame (link, flange) in the body's frame: position [m], quaternion."""

    at: Annotated[
        PoseNumbers | None, option(POSE_METAVAR, "(default: the same)", help=_AT_HELP)
    ] = None

    link: Annotated[str | None, option("L")] = None
    """With --into: the link that gets the body, whether it has an inertia or not."""

    into: Annotated[Path | None, option("FILE")] = None
    """URDF, SDF or MJCF file with that link; it is not changed unless it is also OUT."""

    largest_mass: Annotated[Number, option("KG")] = None
    """Maximum payload of the arm; heavier bodies are rejected for controllers."""

    digits: Annotated[int, option("N", "(default: 9)")] = 9
    """Significant digits, 3 to 17; more if rounding would make the body inconsistent."""

    output: Annotated[Path | None, option("OUT", "(default: printed)", short="-o")] = None
    """Output file."""

    accept_findings: Flag = False
    """Accept an estimate that must not be used, with the reasons in a comment."""

    def run(self, invocation: str) -> Outcome:
        """Return the exported text, or write it to a file."""
        self._require_format_or_model()
        (saved,) = read_bodies(self.estimate)
        refusals = self._refusals(saved)
        reasons = (*refusals, *verdict_messages(saved))
        unusable = refusals or exit_status(saved.verdict)
        if unusable and not self.accept_findings:
            raise UnusableEstimate(self.estimate, reasons)
        pose = self._pose_in_target_frame()
        write = self._write_into_model if self.into else self._exported_text
        content, remarks = write(saved, pose)
        if unusable:
            content, remarks = self._with_reasons(content, reasons, remarks)
        remarks = (*reading_notes(saved), *_without_repetitions(remarks, reasons))
        text = content.decode()
        if self.output is not None:
            write_file(self.output, content)
        return Outcome(
            text="" if self.output else text,
            messages=[*reasons, *(f"note: {remark}" for remark in remarks)],
            document=lambda: {"text": text, "reasons": reasons, "notes": remarks},
            files=[self.output] if self.output else [],
        )

    def _refusals(self, saved: SavedEstimate) -> tuple[str, ...]:
        """Return the reasons against this export of an estimate that is usable for other needs."""
        from identify.exchange.export_marks import (
            can_be_placed,
            misplaced_origin,
            unusable_for_export,
        )

        poor = () if exit_status(saved.verdict) else unusable_for_export(saved)
        needs = tuple(
            f"error: the {name} must not be used, though no need of the fit is about it, and every "
            "format has it. Fit again without --need for the reason and its remedy."
            for name in poor
        )
        if saved.decided_by.get("m") == "mechanism":
            needs += (
                "error: the mass is that of a default body, since no motion of the arm shows it: "
                "weigh the load and fit again with --mass KG.",
            )
        if can_be_placed(saved) or (self.at is None and self.frame is None):
            return needs
        return (*needs, f"error: {misplaced_origin(saved)}")

    def _with_reasons(
        self, content: bytes, reasons: tuple[str, ...], remarks: tuple[str, ...]
    ) -> tuple[bytes, tuple[str, ...]]:
        """Add reasons against using the estimate as a comment, or as a remark."""
        from identify.exchange import model_with_comment, with_comment

        accepted = "This estimate must not be used; --accept-findings overrode its findings:"
        lines = (accepted, *reasons)
        if self.into is not None:
            return model_with_comment(content, self.into, lines), remarks
        text = with_comment(content.decode(), str(self.to), lines)
        if text is None:
            return content, (f"{self.to} has no comments: the reasons are only here", *remarks)
        return text.encode(), remarks

    def _require_format_or_model(self) -> None:
        if (self.link is None) != (self.into is None):
            missing = "--into FILE" if self.into is None else "--link L"
            raise UsageError(f"export: --link and --into require each other; add {missing}")
        if self.to is None and self.into is None:
            from identify.exchange import EXPORT_FORMATS

            raise UsageError(f"export: missing --to NAME, one of {', '.join(EXPORT_FORMATS)}")
        if self.at is not None and self.frame is not None:
            raise UsageError("export: --at is the inverse of --frame; use only one of them")
        require_writable_file(self.output)

    def _pose_in_target_frame(self) -> Pose | None:
        """Return the pose of the body's frame in the requested frame; None without a request."""
        if self.at is not None:
            return pose_from_numbers(self.at, "export")
        if self.frame is None:
            return None
        import numpy as np

        from identify.spatial import Pose

        if not np.isfinite(self.frame).all() or not any(self.frame[3:]):
            raise UsageError(
                "export: --frame X Y Z QX QY QZ QW: expected finite numbers and a quaternion that "
                "is not zero (0 0 0 1 for no rotation)"
            )
        # The frame's pose in the body, so the body's in the frame is its inverse.
        return Pose.from_quaternion(self.frame[3:], self.frame[:3]).inverse()

    def _exported_text(
        self, saved: SavedEstimate, X_AB: Pose | None
    ) -> tuple[bytes, tuple[str, ...]]:
        from identify.exchange import export_body

        limit = self.largest_mass
        export = export_body(saved, str(self.to), X_AB=X_AB, largest_mass=limit, digits=self.digits)
        lost = tuple(f"differs from the estimate: {change}" for change in export.lost_information)
        return export.text.encode(), (*lost, *self._frame_remark(), *export.notes)

    def _frame_remark(self) -> tuple[str, ...]:
        if self.at is None and self.frame is None:
            return ()
        option = "--at" if self.at is not None else "--frame"
        return (f"about the frame given by {option}, in its axes",)

    def _write_into_model(
        self, saved: SavedEstimate, X_AB: Pose | None
    ) -> tuple[bytes, tuple[str, ...]]:
        """Write the body into a robot model, with a comment on quantities that are poor."""
        from identify.exchange import model_with_comment, read_model, rewrite_model
        from identify.exchange.export_marks import export_marks

        assert self.into is not None
        assert self.link is not None
        if self.largest_mass is not None:
            raise UsageError("export: --largest-mass applies to controllers, not to a model file")
        form = read_model(self.into).format
        if self.to not in (None, form):
            raise UsageError(f"export: {self.into} is {form}, but --to is {self.to}")
        about = self._frame_remark() or (f"about {saved.frame_description}, in its axes",)
        body = saved.parameters if X_AB is None else saved.parameters.in_frame(X_AB)
        rewritten = rewrite_model(self.into, {self.link: body.phi}, digits=self.digits)
        content, change = rewritten.content, rewritten.bodies[self.link].change
        marks = export_marks(saved, X_AB, pose_given=X_AB is not None)
        lines = [f"link {self.link}: {line}" for line in marks.lines]
        content = model_with_comment(content, self.into, lines) if lines else content
        return content, (*marks.notes(), *([change] if change else []), *about)


def _without_repetitions(remarks: Iterable[str], reasons: Iterable[str]) -> tuple[str, ...]:
    """Return remarks, each once, without the words that a finding has already."""
    findings = "\n".join(reasons)
    shortened = (_without_reason(remark, findings) for remark in remarks)
    return tuple(dict.fromkeys(filter(None, shortened)))


def _without_reason(remark: str, findings: str) -> str:
    """Return a mark such as "poor inertia: reason; left out: …" without a repeated reason."""
    subject, _, words = remark.partition(": ")
    reason, separator, consequence = words.partition("; left out: ")
    if not reason or reason not in findings:
        return remark
    return f"{subject}{separator}{consequence}" if separator else ""
