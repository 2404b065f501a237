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
"""Standard errors in the half-width of a normal interval of `CONFIDENCE_LEVEL`, used where degrees
of freedom are many or an order of magnitude is enough."""

NORMAL_QUANTILE = 1.959964
"""Quantile `CONFIDENCE_QUANTILE` of the normal distribution to seven digits: statistics of studies
are compared with it over thousands of trials."""

MIN_DEGREES_OF_FREEDOM = 3.0
"""Minimum degrees of freedom of Student's t; with fewer, its variance is infinite."""

UNLIMITED_DEGREES_OF_FREEDOM = 1e9
"""Degrees of freedom that stand for infinity: Student's t equals the normal distribution."""

SIGNIFICANT_SIGMA = 4.0
"""Standard errors beyond which the difference of a number from its expected value is significant.

Effects of a fit, scales and axes of an inertial measurement unit, correlations of a residual,
power above or below a noise level: a log has dozens of such numbers. Of 70 effects of a clean log
one in 200 logs has one beyond it.
"""

IMPOSSIBLE_SIGMA = 3.0
"""Standard errors by which a mass, density or distance must be outside the possible range to
indicate a wrong sign or unit: 1 in 700 by chance, if the true value is at the limit."""

IMPOSSIBLE_INERTIA_SIGMA = 4.0
"""Standard errors by which moments of inertia or a centre of mass that come from the torque alone,
in logs without a pose and an accelerometer, must be outside the possible range to indicate a wrong
sign or unit: 1 in 30 000 by chance, at the limit."""

IMPOSSIBLE_PAYLOAD_SIGMA = 4.0
"""Standard errors up to which noise explains that the difference of two estimates, a payload, is
not physically consistent."""

CONTRADICTED_CONSTRAINT_SIGMA = 5.0
"""Shift of an estimate by a constraint, in standard errors, beyond which the data contradict the
constraint; also for the inconsistency of an estimate after a correction of its log."""

REPORTED_CONSTRAINT_SIGMA = 0.1
"""Smallest shift of an estimate by a constraint that is reported, in standard errors: rounding
shifts estimates of thin bodies from exact logs by less."""

REST_FORCE_DIFFERENCE_SIGMA = 5.0
"""Standard errors by which the mean forces of two windows without rotation must differ to show that
the body is not at rest."""

DEAD_CHANNEL_SIGMA = 3.0
"""Predicted spread of a constant channel, in standard errors of the prediction, from which on the
channel is dead, because the body's motion should have changed it."""

BODY_SIZE_SIGMA = (2.0, 6.0)
"""Ratios of a body's second moment to its standard error above which the second moment begins to
determine the body's size, and above which it alone does: two thresholds keep iterations from
alternating."""

BODY_CHANGE_P = 1e-5
"""p-value of the hypothesis that all logs and times have the same body, corrected for the number of
tested times, below which the body changes: of 24 pairs of equal bodies the smallest was 1e-4."""

POSSIBLE_BODY_CHANGE_P = 1e-3
"""p-value of the hypothesis of a single body below which a change of the body is possible: the
intervals include it, and the finding is an info."""

LOG_PARTS_DIFFER_P = 1e-2
"""p-value of the hypothesis that two parts of a log have the same body, below which more times of a
change are tested: in this screening, a false alarm costs time only."""

PARTS_MAY_DIFFER_P = 0.05
"""p-value of the hypothesis that two logs or parts have the same body, by a test with the weights
of the common fit, below which they are fitted separately: the test of these fits, with a level of
`LOG_PARTS_DIFFER_P` or less, is the more conservative one."""

CONTACT_FALSE_ALARM_P = 1e-4
"""Probability that some interval of a log without contacts is called a contact, if squared
residuals have a χ² distribution."""

DISPLACED_POINT_P = 0.01
"""p-value of the hypothesis that the pose's point is not displaced, below which displaced points
are compared with other interpretations of a log: in this screening, a false alarm costs time
only."""

POSE_DEPENDENCE_P = 1e-4
"""p-value of the hypothesis that a residual does not depend on the static pose, below which it
does."""

PRIOR_EXCLUDED_P = 1e-4
"""Probability of a log at least as far from its prior, below which log and prior contradict each
other."""

ESTIMATES_DIFFER_P = 1e-3
"""p-value of the hypothesis that separate fits are of the same body, below which their estimates
differ: of a thousand sets of logs of one body, one differs by chance; the search for the differing
logs adds as much."""

CLEAR_LIKELIHOOD_LEAD = 20.0
"""Lead of an explanation of a log in twice the log-likelihood above which it is named alone: odds
of 22 000 to 1."""

MIN_LIKELIHOOD_LEAD = 6.0
"""Lead in twice the log-likelihood above which another interpretation of a log is likelier than
that of its schema, so that the intervals include both: odds of 20 to 1. From
`CLEAR_LIKELIHOOD_LEAD` on, the other interpretation replaces that of the schema."""

NOISE_POWER_RATIO = 2.0
"""Ratio of a residual's power to that of the expected noise up to which the residual counts as
noise, and above which an axis of the wrench carries a signal."""
