"""`Command`: what every subcommand is."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Command(ABC):
    """A subcommand: a frozen dataclass; its fields are the options, its docstring the help.

    Its name on the command line is that of its line in `main.COMMANDS`.
    """

    __slots__ = ()

    @abstractmethod
    def run(self, invocation: str) -> int:
        """Do it, and return the exit status.

        Args:
            invocation: the command line as it was typed, for the provenance.

        Raises:
            IdentifyError: with the message to show and the exit status.
        """
