import pytest

from tests.commands.calling import Cli


@pytest.fixture
def cli(capsys) -> Cli:
    return Cli(capsys)
