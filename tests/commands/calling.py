"""The command line as a test calls it: words in; exit status, standard output and error out."""

from typing import NamedTuple

import pytest

from identify.commands.main import main


class Outcome(NamedTuple):
    """What a call left behind."""

    status: int
    out: str
    err: str

    @property
    def message(self) -> str:
        """The lines of an expected error, joined: a reason, and indented lines with its remedy.

        Or the lines in the frame that the parser draws.
        """
        assert self.out == ""
        assert "Traceback" not in self.err
        if "For full helptext" in self.err:
            return " ".join(self.err.replace("│", " ").split())
        assert self.err.startswith("identify: error: ")
        assert self.err.endswith("\n")
        reason, *below = self.err.removeprefix("identify: error: ").splitlines()
        assert all(line.startswith("  ") for line in below)
        return " ".join((reason, *(line.strip() for line in below)))


class Cli:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object) -> Outcome:
        self._capsys.readouterr()
        status = main([str(word) for word in words])
        return Outcome(status, *self._capsys.readouterr())

    def done(self, *words: object) -> str:
        """What is printed by a call that succeeds and has nothing to remark."""
        outcome = self(*words)
        assert (outcome.status, outcome.err) == (0, ""), outcome
        return outcome.out

    def refused(self, *words: object, status: int = 2) -> str:
        """The message of a call that ends with an error."""
        outcome = self(*words)
        assert outcome.status == status, outcome
        return outcome.message
