import pytest

from identify.robots import RobotModel
from tests.arms.simulated import read_arm_model


@pytest.fixture(scope="package")
def robot(tmp_path_factory, pinocchio) -> RobotModel:
    return read_arm_model(tmp_path_factory.mktemp("arm"))
