"""Which of a study's cells are to run: those asked for by name, less those that are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from identify.errors import StudyError, did_you_mean
from identify.experiments.cell import Cell
from identify.experiments.study import Study

CHOICES = ("log", "perturbation", "estimator")
"""What `only` may name; "corruption", an older name of the second, is read as well."""

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
    names = {
        "log": [log.name for log in study.logs],
        "perturbation": [perturbation.label for perturbation in study.perturbations],
        "estimator": [named.label for named in study.estimators],
    }
    admitted: dict[str, set[str]] = {}
    for choice, pattern in map(_parsed, only):
        known = names[choice]
        found = {name for name in known if name == pattern or fnmatchcase(name, pattern)}
        if not found:
            hint = did_you_mean(pattern, known)
            raise StudyError(f"only {choice}={pattern}: the study has no such {choice}{hint}")
        admitted[choice] = admitted.get(choice, set()) | found

    def test(cell: Cell) -> bool:
        noisy = cell.noisy
        name = (noisy.log.name, noisy.perturbation.label, cell.estimator.label)
        return all(
            choice not in admitted or each in admitted[choice]
            for choice, each in zip(CHOICES, name, strict=True)
        )

    return test


def _parsed(text: str) -> tuple[str, str]:
    choice, equals, pattern = text.partition("=")
    choice = "perturbation" if choice == "corruption" else choice
    if not equals or not pattern:
        raise StudyError(f"only {text!r}: expected {' or '.join(f'{c}=NAME' for c in CHOICES)}")
    if choice not in CHOICES:
        raise StudyError(f"only {text!r}: unknown {choice!r}{did_you_mean(choice, CHOICES)}")
    return choice, pattern
