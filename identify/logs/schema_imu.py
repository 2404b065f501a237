"""`[imu]` in a schema: an inertial measurement unit, and where it is in the body."""

from __future__ import annotations

from typing import Annotated

from pydantic import StrictBool, model_validator

from identify.documents import Table, one_of
from identify.logs.parts import Imu
from identify.logs.schema_fields import Column, ColumnsX3, bare_names
from identify.logs.schema_poses import Placement, placement_of, require_near
from identify.logs.schema_tables import Sigma
from identify.logs.units import ACCELERATION, ANGLE


class ImuPlacement(Placement):
    """`[imu.mount]`: the pose of an inertial measurement unit in B."""

    fitted: StrictBool = False
    """Its place is found from the log, its axes are as they are given."""

    @property
    def placed(self) -> bool:
        """Whether it says where the unit is, or that this is to be found."""
        return self.fitted or "translation" in self.model_fields_set

    @model_validator(mode="after")
    def _one_place(self) -> ImuPlacement:
        if self.fitted and "translation" in self.model_fields_set:
            raise ValueError("give translation, or fitted = true to have it found, not both")
        require_near("translation", "the accelerometer", self.pose, self.unit)
        return self


class ImuTable(Table):
    """`[imu]`: what an inertial measurement unit reads, along its own axes."""

    gyro: ColumnsX3 | None = None
    accelerometer: ColumnsX3 | None = None
    """Proper acceleration, that of the place less gravity: at rest it points up."""
    angle_unit: Annotated[str, one_of(ANGLE)] = "rad"
    """Of `gyro`, per second."""
    unit: Annotated[str, one_of(ACCELERATION)] = "m/s^2"
    gyro_noise: Sigma | None = None
    accelerometer_noise: Sigma | None = None
    mount: ImuPlacement | None = None

    @model_validator(mode="after")
    def _has_columns(self) -> ImuTable:
        if self.gyro is None and self.accelerometer is None:
            raise ValueError("give gyro, accelerometer, or both")
        for name in ("gyro", "accelerometer"):
            if getattr(self, f"{name}_noise") is not None and getattr(self, name) is None:
                raise ValueError(f"{name}_noise is given, but there is no {name}")
        if self.mount is not None and self.mount.fitted and self.accelerometer is None:
            raise ValueError("mount is to be fitted, but there is no accelerometer to place")
        return self

    @property
    def parts(self) -> dict[str, ImuTable]:
        """What each of its sensors has, by name."""
        names = [name for name in ("gyro", "accelerometer") if getattr(self, name) is not None]
        return {
            name: self.model_copy(update={other: None for other in names if other != name})
            for name in names
        }

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column this table names, without minuses."""
        return bare_names((self.gyro or ()) + (self.accelerometer or ()))


def imu_placement_of(imu: Imu) -> dict[str, object]:
    """The keys of an `ImuPlacement` that is said by where a unit is."""
    placement = placement_of(imu.X_BI)
    if imu.fitted:
        return {"fitted": True, "quaternion": placement["quaternion"]}
    return placement
