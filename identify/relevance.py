"""Smallest sizes of a difference or a fault that matter to a user, by physical quantity.

Sizes are in SI, or ratios. `significance` has the other half of such decisions: by how much a size
must exceed its standard error. Prior sizes of small faults are in `logs.effects`, because schemas
can change them.

Sizes of `FAULT_…` belong to faults of continuous size that a log is tested for: a log can show such
a fault if the standard error of the fault's size is below the size here divided by 4.5.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType

# Mass and inertia

MIN_RELATIVE_BODY_CHANGE = 1e-3
"""Smallest difference of two bodies that counts as a change of the body, relative to the mass, to
the first moments at the body's size, or to the inertia. In logs without noise, only the error of
numerical derivatives tells the bodies apart."""

FAULT_MISSING_MASS = 0.1
"""Smallest weight missing in the wrench that a log is tested for: mass [kg] and first moments
[kg m] of the missing body, per kilogram of the body in the log."""

MAX_UNDETECTED_MASS_DIFFERENCE = 0.3
"""Largest undetectable difference of the masses of separate estimates, relative to the mass, at
which their agreement is still reported."""

GOOD_PRECISION: Mapping[str, float] = MappingProxyType({"mass": 0.02, "com": 0.004, "inertia": 0.2})
"""Half-widths of the mass, relative to the mass, of a coordinate of the centre of mass [m], and of
an entry of the inertia, relative to its largest principal moment, up to which an estimate is good
enough for most uses."""

POOR_PRECISION: Mapping[str, float] = MappingProxyType({"mass": 0.1, "com": 0.02, "inertia": 0.5})
"""Half-widths as in `GOOD_PRECISION` above which an estimate is too poor for any use."""

GOOD_ARM_PRECISION: Mapping[str, float] = MappingProxyType(
    {"mass": 0.06, "com": 0.01, "inertia": 0.2}
)
"""Half-widths as in `GOOD_PRECISION` for a load estimated from joint torques: joint friction hides
more than the noise of a wrench sensor."""

POOR_ARM_PRECISION: Mapping[str, float] = MappingProxyType(
    {"mass": 0.15, "com": 0.04, "inertia": 0.5}
)
"""Half-widths as in `POOR_PRECISION` for a load estimated from joint torques."""

MAX_UNMARKED_HALF_WIDTH = 0.5
"""95 % half-width above which an exported quantity is marked, relative to the mass, to the size of
the body (for its centre of mass), or to the largest principal moment."""

# Lengths

FLANGE_POSE_TOLERANCE = 1e-6
"""Difference up to which two poses of a flange in files are equal [m, and entries of a
rotation]."""

ROUNDED_POSE_TOLERANCE = 1e-3
"""Difference up to which a pose in a file equals the pose that a person typed with a few digits [m,
and entries of a rotation]."""

LONGEST_SAMPLE_PERIOD = 1.0
"""Longest sampling period of a sensor [s]; a pose that is held for longer was at rest."""

MIN_POSE_JUMP_DISTANCE = 2e-3
"""Smallest distance of a jump of the pose in a log [m]."""

MIN_IMU_POSITION_ERROR = 5e-3
"""Smallest distance between the true position of an accelerometer and that in the schema [m]."""

FAULT_POINT_DISPLACEMENT = 10e-3
"""Smallest distance, between the point whose pose is logged and the point of the wrench, that a log
is tested for [m]."""

# Angles and their rates

MIN_POSE_JUMP_ANGLE = 5e-3
"""Smallest rotation angle of a jump of the pose in a log [rad]."""

MIN_IMU_AXES_ERROR = math.radians(1.0)
"""Smallest angle between the axes of an inertial measurement unit and those in the schema [rad]."""

FAULT_AXES_ANGLE = 2.0 * math.radians(1.0)
"""Smallest turn of the wrench's axes in the body, or tilt of gravity in the world, that a log is
tested for [rad]."""

MAX_RATE_AT_REST = 0.05
"""Largest angular velocity of a body at rest, with its noise and the gyro's offset, RMS [rad/s]."""

MIN_GRAVITY_ROTATION = 0.2
"""Spread of the direction of the proper acceleration in B [rad] from which on the attitude varies
enough to determine the first moments of mass."""

MIN_ROTATION_RATE = 0.3
"""Root mean square of the angular velocity about an axis [rad/s] below which more rotation about
the axis is advised."""

MIN_ANGULAR_ACCELERATION = 0.5
"""Root mean square of the angular acceleration about an axis [rad/s²] below which faster rotation
about the axis is advised."""

# Times and rates

MAX_DELAY_OF_EXPANSION = 2e-3
"""Largest delay of the wrench for which its second-order expansion in the delay is accurate enough
[s]."""

MIN_DELAY_CHANGE = 5e-3
"""Smallest difference of the delays of a log's parts that shows a changing latency [s]."""

MIN_IMU_DELAY = 2e-3
"""Smallest relevant delay of a gyro relative to the other signals of the log [s]."""

FAULT_WRENCH_DELAY = 10e-3
"""Smallest delay of the wrench, or time constant of its filter, that a log is tested for [s]."""

FAULT_CLOCK_RATE = 2e-2
"""Smallest relative error of a log's clock rate that the log is tested for."""

# Scales

MIN_IMU_SCALE_ERROR = 0.02
"""Smallest relative difference of the scale of an inertial sensor from the other signals of a
log."""

MIN_SCALE_ERROR_AT_REST = 0.002
"""Smallest relative scale error of an accelerometer at rest, where gravity reveals it."""

MIN_SCALE_ERROR_IN_MOTION = 0.03
"""Smallest relative scale error of an accelerometer in motion, where its offset adds to the
error."""

SCALE_ERROR_OF_WARNING = 0.02
"""Relative scale error of an accelerometer from which on its finding is a warning."""

FAULT_SCALE = 4e-2
"""Smallest relative scale error of the position or of gravity that a log is tested for."""

FAULT_TORQUE_GAIN = 5e-2
"""Smallest relative difference of the gains of torque and force that a log is tested for."""

# Forces and torques

MIN_SIGNAL_RATIO = 0.1
"""Smallest root mean square of an axis that carries a signal, relative to the largest axis of the
force or of the torque."""

MIN_SCORED_SIGNAL_RATIO = 0.2
"""Smallest root mean square of an axis whose held-out R² is judged, relative to the largest axis of
the force or of the torque: with 0.1, slow noise was taken for a signal in one of 43 clean logs."""

MAX_FORCE_CHANGE_AT_REST = 0.01
"""Largest difference of the mean force between windows at rest, beyond noise and relative to the
force, for which there is no linear motion."""

MIN_ZEROING_JUMP = 0.02
"""Smallest jump of a sensor's offset that shows a zeroing of the sensor, relative to the largest
range of an axis of the force, or of the torque."""

MIN_STATIC_MOTION_RATIO = 0.02
"""Smallest part of the residual of supposedly static poses, relative to the spread of the wrench,
that shows a motion between them: a cable along a slow sweep of poses has 0.05, noise 0.001, motions
0.1."""

MIN_FAULT_TO_PRIOR_RATIO = 0.1
"""Smallest fitted size of a small sensor fault that is reported, relative to the size that the
prior of the fault expects."""

MIN_RATE_IN_DEGREES = 60.0
"""Angular rate [rad/s] above which angles read in radians may be in degrees."""
