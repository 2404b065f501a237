"""Which of a study's cells are to run: those asked for by name, less those that are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from typing import TypeAlias

from identify.errors import StudyError, did_you_mean
from identify.experiments.cell import Cell
from identify.experiments.study import Study
from identify.experiments.work import Unit

CHOICES = ("log", "corruption", "estimator")
"""What `only` may name."""

Selected: TypeAlias = Callable[[Cell], bool]


@dataclass(frozen=True, slots=True)
class _Pattern:
    choice: str
    pattern: str

    def admits(self, name: str) -> bool:
        return name == self.pattern or fnmatchcase(name, self.pattern)


def selected(study: Study, only: Sequence[str]) -> Selected:
    """The test of whether a cell is asked for.

    Args:
        study: whose names are checked.
        only: `choice=pattern`, as in `estimator=psd` or `log=stars/H*`; a cell must match one
            pattern of each choice that is named.

    Raises:
        StudyError: a choice that does not exist, or a pattern that matches nothing.
    """
    patterns = [_parse(text) for text in only]
    names = {
        "log": [log.name for log in study.logs],
        "corruption": [corruption.label for corruption in study.corruptions],
        "estimator": [named.label for named in study.estimators],
    }
    admitted: dict[str, set[str]] = {}
    for wanted in patterns:
        found = {name for name in names[wanted.choice] if wanted.admits(name)}
        if not found:
            hint = did_you_mean(wanted.pattern, names[wanted.choice])
            raise StudyError(
                f"only {wanted.choice}={wanted.pattern}: the study has no such "
                f"{wanted.choice}{hint}"
            )
        admitted[wanted.choice] = admitted.get(wanted.choice, set()) | found

    def test(cell: Cell) -> bool:
        noisy = cell.noisy
        name = (noisy.log.name, noisy.corruption.label, cell.estimator.label)
        return all(
            choice not in admitted or each in admitted[choice]
            for choice, each in zip(CHOICES, name, strict=True)
        )

    return test


def units(study: Study, wanted: Selected) -> Iterator[Unit]:
    """The wanted cells, those of one noisy log together."""
    for _, cells in groupby(study.cells(), key=lambda cell: id(cell.noisy)):
        chosen = [cell for cell in cells if wanted(cell)]
        if chosen:
            yield Unit(chosen[0].noisy, tuple((cell.key, cell.estimator) for cell in chosen))


def _parse(text: str) -> _Pattern:
    choice, equals, pattern = text.partition("=")
    if not equals or not pattern:
        raise StudyError(f"only {text!r}: expected {' or '.join(f'{c}=NAME' for c in CHOICES)}")
    if choice not in CHOICES:
        raise StudyError(f"only {text!r}: unknown {choice!r}{did_you_mean(choice, CHOICES)}")
    return _Pattern(choice, pattern)
