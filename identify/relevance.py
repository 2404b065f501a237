"""Sizes below which a difference or a fault is of no consequence, by physical quantity.

In SI; shares are of the quantity itself. `significance` has the other half of such decisions: by
how much a size has to exceed its error. Prior sizes of small faults are in `logs.effects`, a table
of its own that schemas can change.

Sizes of `FAULT_…` are those of continuous faults that a log can be read with: 4.5 times the
standard error with which a log has to show a fault for it to be observable there.
"""

import math

# Mass and inertia

BODY_CHANGE_SHARE = 1e-3
"""Share of the mass, of its first moments at the body's own size, or of the inertia below which two
bodies are one: of exact logs the error of derivatives is all there is to tell them apart."""

FAULT_MASS = 0.1
"""Mass of a body whose weight is missing in the wrench [kg], and its first moments [kg m], for each
kilogram of the body in the log."""

UNNOTICED_MASS_SHARE = 0.3
"""Share of the mass by which separate estimates may differ unnoticed while their agreement still
says something."""

GOOD_PRECISION = (0.02, 0.004)
"""Half-widths of the mass, as a share of it, and of a coordinate of the centre of mass [m], up to
which an estimate is good enough for most controllers."""

POOR_PRECISION = (0.10, 0.020)
"""Half-widths of mass and centre of mass above which an estimate is too poor for controllers."""

GOOD_ARM_PRECISION = (0.06, 0.010)
"""Half-widths as in `GOOD_PRECISION` of a load from joint torques, whose friction hides more than
the noise of a wrench sensor does."""

POOR_ARM_PRECISION = (0.15, 0.040)
"""Half-widths as in `POOR_PRECISION` of a load from joint torques."""

# Lengths

SAME_FLANGE = 1e-6
"""Difference of two poses of one flange in files [m, and entries of a rotation]."""

SAME_GIVEN_POSE = 1e-3
"""Difference of a pose in a file from the same as a person rounds it [m, entries of a rotation]."""

POSE_JUMP_DISTANCE = 2e-3
"""Distance that a jump of the pose in a log goes at the least [m]."""

IMU_DISTANCE = 5e-3
"""Distance of an accelerometer from where the schema has it [m]."""

FAULT_LENGTH = 10e-3
"""Displacement of the point of the pose from the point of the wrench [m]."""

# Angles and their rates

POSE_JUMP_ANGLE = 5e-3
"""Angle that a jump of the pose in a log turns by at the least [rad]."""

IMU_ANGLE = math.radians(1.0)
"""Turn of the axes of an inertial measurement unit from those in the schema [rad]."""

FAULT_ANGLE = 2.0 * math.radians(1.0)
"""Turn of the wrench against the body, or of gravity against the world [rad]."""

RATE_AT_REST = 0.05
"""Angular velocity of a body at rest, with its noise and the gyro's offset, RMS [rad/s]."""

LITTLE_TURNING = 0.2
"""Spread of the proper acceleration's direction below which gravity hardly turns in B [rad]."""

LITTLE_ROTATION = 0.3
"""Root mean square of the angular velocity about an axis that is little [rad/s]."""

LITTLE_ANGULAR_ACCELERATION = 0.5
"""Root mean square of the angular acceleration about an axis that is little [rad/s²]."""

# Times and rates

EXACT_MAP_DELAY = 2e-3
"""Delay of the wrench up to which its map of second order is exact enough [s]."""

DELAY_CHANGE = 5e-3
"""Difference between the least and the largest delay of a log's parts, if the latency changes [s].
"""

IMU_DELAY = 2e-3
"""Delay of a gyro beside the rest of the log [s]."""

FAULT_TIME = 10e-3
"""Delay of the wrench, or time constant of a filter of it [s]."""

FAULT_CLOCK_SHARE = 2e-2
"""Share by which the clock of a log is too fast or too slow."""

# Scales

IMU_SCALE = 0.02
"""Share by which a sensor of an inertial measurement unit differs from the rest of the log."""

SCALE_AT_REST = 0.002
"""Share by which the scale of an accelerometer is off at rest, by gravity."""

SCALE_IN_MOTION = 0.03
"""Share by which the scale of an accelerometer is off in motion, where its offset adds to it."""

SCALE_WARNING = 0.02
"""Share by which the scale of an accelerometer is off from which on the finding is a warning."""

FAULT_SCALE = 4e-2
"""Share by which the position or gravity is too large or too small."""

FAULT_GAIN = 5e-2
"""Share by which the gain of the torque differs from that of the force."""

# Forces and torques

SIGNAL_SHARE = 0.1
"""Root mean square of an axis with a signal, in that of the largest among forces or torques."""

JUDGED_SIGNAL_SHARE = 0.2
"""Root mean square of an axis whose held-out R² is judged, in that of the largest: with a tenth,
one of 43 clean logs had an axis whose slow noise was taken for more."""

FORCE_SHARE_AT_REST = 0.01
"""Share of the force by which windows at rest differ beyond noise: there is no linear motion."""

ZEROING_SHARE = 0.02
"""Jump of the sensor's offset, as a share of a channel's range."""

MOTION_SHARE = 0.02
"""Residual of static poses that a motion between them explains, as a share of the spread of the
wrench: a cable along a slow sweep of poses comes to 0.05, noise to 0.001, motions to 0.1."""

EFFECT_SHARE = 0.1
"""Size of a small fault that was fitted, as a share of the prior size of its group."""
