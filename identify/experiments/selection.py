"""Which of a study's cells are to run: those asked for by name, less those that are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from identify.errors import StudyError, did_you_mean
from identify.experiments.cell import Cell
from identify.experiments.study import Study

Selected: TypeAlias = Callable[[Cell], bool]


def selected(study: Study, only: Sequence[str]) -> Selected:
    """The test of whether a cell is asked for.

    Args:
        study: whose names are checked.
        only: `choice=pattern`, as in `estimator=psd` or `log=stars/H*`; a cell must match one
            pattern of each choice that is named.

    Raises:
        StudyError: a choice that does not exist, or a pattern that matches nothing.
    """
    known = study.labels()
    admitted: dict[str, set[str]] = {choice: set() for choice in known}
    for text in only:
        choice, _, pattern = text.partition("=")
        choice = "perturbation" if choice == "corruption" else choice  # an older name of it
        if not pattern:
            expected = " or ".join(f"{each}=NAME" for each in known)
            raise StudyError(f"only {text!r}: expected {expected}")
        if choice not in known:
            raise StudyError(f"only {text!r}: unknown {choice!r}{did_you_mean(choice, known)}")
        names = known[choice]
        found = {name for name in names if name == pattern or fnmatchcase(name, pattern)}
        if not found:
            hint = did_you_mean(pattern, names)
            raise StudyError(f"only {choice}={pattern}: the study has no such {choice}{hint}")
        admitted[choice] |= found
    asked = {choice: names for choice, names in admitted.items() if names}

    def test(cell: Cell) -> bool:
        labels = cell.labels()
        return all(labels[choice] in names for choice, names in asked.items())

    return test
