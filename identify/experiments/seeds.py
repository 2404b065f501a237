"""Seeds of the noise: made of what a cell is, never of when or where it runs."""

from __future__ import annotations

import hashlib

from identify.experiments.options import canonical


def seed_of(*parts: str | int) -> int:
    """A seed of 128 bits from the parts' content: the same on any machine."""
    digest = hashlib.sha256(canonical(list(parts)).encode("utf-8")).digest()
    return int.from_bytes(digest[:16], "little")


def noise_seed(study_seed: int, log: str, perturbation: str, index: int) -> int:
    """The seed of the noise of one cell.

    It does not depend on the estimator, so all estimators see the same noise and comparisons are
    paired; nor on what else is in the study, so that a grid may grow.

    Args:
        study_seed: of the study file.
        log: digest of the log's data.
        perturbation: identity of the perturbation (its settings, not its label).
        index: number of the noise, from 0.
    """
    return seed_of("noise", study_seed, log, perturbation, index)
