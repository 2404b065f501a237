"""Levels of significance and confidence: every threshold that decides by how likely chance is.

Probabilities end in `_P`, numbers of standard errors in `_SIGMA`, and differences of twice the
log-likelihood in `_LEAD`. What is large enough to be of consequence is another question; a finding
usually asks both.
"""

CONFIDENCE_LEVEL = 0.95
"""Probability with which an interval, or the cone of an axis, contains the true value."""

CONFIDENCE_QUANTILE = 0.975
"""Quantile at the upper end of a two-sided interval of `CONFIDENCE_LEVEL`."""

BAND_QUANTILES = (0.025, 0.975)
"""Quantiles of sampled errors at the edges of a band of `CONFIDENCE_LEVEL`."""

HALF_WIDTH_SIGMA = 1.96
"""Standard errors in the half-width of an interval of `CONFIDENCE_LEVEL`, by the normal
distribution: where degrees of freedom are many, or only the order of size counts."""

NORMAL_QUANTILE = 1.959964
"""Quantile `CONFIDENCE_QUANTILE` of the normal distribution to seven digits: statistics of studies
are compared with it over thousands of trials."""

FEWEST_DEGREES = 3.0
"""Degrees of freedom that Student's t is taken with at the least: below, it has no variance."""

UNLIMITED_DEGREES = 1e9
"""Degrees of freedom with which Student's t is the normal distribution."""

SIGNIFICANT_SIGMA = 4.0
"""Standard errors beyond which a difference from what is expected is not chance.

Effects of a fit, scales and axes of an inertial measurement unit, correlations of a residual,
power above or below a noise level: a log has dozens of such numbers. Of 70 effects of a clean log
one in 200 logs has one beyond it.
"""

IMPOSSIBLE_SIGMA = 3.0
"""Standard errors by which a mass, density or distance has to be outside what is possible for a
sign or a unit to be wrong: one in 700 by chance, if the true value is at the limit."""

IMPOSSIBLE_BY_TORQUE_SIGMA = 4.0
"""Standard errors of the same for moments of inertia and a centre of mass that come from the torque
alone, in logs without a pose and an accelerometer: one in 30 000 by chance, at the limit."""

IMPOSSIBLE_PAYLOAD_SIGMA = 4.0
"""Standard errors within which the noise of two estimates explains that their difference, a payload
alone, is not physically consistent."""

CONTRADICTED_SIGMA = 5.0
"""Standard errors by which the data contradict a constraint that moves the estimate as far, or a
correction of a log the estimate of which is then not physically consistent."""

CONSTRAINT_NOTED_SIGMA = 0.1
"""Standard errors by which a constraint moves an estimate from which on it is reported: rounding
moves those of exact logs of thin bodies by less."""

DIFFERENT_REST_SIGMA = 5.0
"""Standard errors of the mean force from which on two windows without rotation differ, so that the
body is not at rest."""

DEAD_CHANNEL_SIGMA = 3.0
"""Spread that the body predicts of a channel without changes, in errors of the prediction, from
which on the channel is dead: it should have moved."""

BODY_SIZE_SIGMA = (2.0, 6.0)
"""Standard errors by which a body's size stands out where its scale begins to be taken from it, and
where it is taken from it alone: with one threshold, iterations would go to and fro."""

BODY_CHANGE_P = 1e-5
"""p of one body in all logs and at all times, every place that was looked at counted, below which
the body changes: of 24 pairs of equal bodies the least was 1e-4."""

BODY_CHANGE_DOUBT_P = 1e-3
"""p of one body below which a change is possible: the intervals cover it, and it is an info."""

PARTS_DIFFER_P = 1e-2
"""p of one body in two parts of a log below which other times of a change are tried as well: a
screening, in which a false alarm costs time alone."""

CONTACT_ALARM_P = 1e-4
"""Probability that any stretch of a clean log is called a contact, if energies were of χ²."""

DISPLACED_POINT_P = 0.01
"""p of no displacement of the pose's point below which displaced points are compared with other
readings of a log: a screening, in which a false alarm costs time alone."""

POSE_DEPENDENCE_P = 1e-4
"""p of a residual that does not depend on static poses, below which it does."""

PRIOR_EXCLUDED_P = 1e-4
"""p of a log as far from its prior as this one, below which the two contradict each other."""

ESTIMATES_DIFFER_P = 1e-3
"""p of one body in separate fits below which their estimates differ: of a thousand sets of logs of
one body, one is said to differ by chance; a search for the logs that do adds as much."""

CLEAR_LEAD = 20.0
"""Twice the log-likelihood by which one explanation of a log has to lead another to be named alone:
odds of 22 000 to 1."""

LIKELIER_LEAD = 6.0
"""Twice the log-likelihood by which another reading is likelier than the logs as read, so that the
intervals have to hold both: odds of 20 to 1. From `CLEAR_LEAD` on it is named in their place."""

NOISE_POWER_RATIO = 2.0
"""Ratio to the power of the expected noise up to which a residual counts as noise, and from which
on an axis of the wrench carries a signal."""
