from __future__ import annotations

import pytest

from tests.commands.calling import Cli


@pytest.fixture
def cli(capsys) -> Cli:
    """The command line."""
    return Cli(capsys)
