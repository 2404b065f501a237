"""Draw the figures of `docs/theory/`, from simulated logs and the shipped one.

python docs/theory_figures.py [NAME …]        # writes docs/images/NAME.svg
"""

import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
from scipy.signal import butter, sosfiltfilt
from svg import BLUE, FAINT, GREEN, INK, ORANGE, RED, STYLE, write_svg

import identify
from identify.diagnosis.body_likelihood import BandRows, fit_body
from identify.estimation import estimate_body
from identify.inertia import default_body, pseudo_inertia
from identify.inertia.shapes import Box, Cylinder, Ellipsoid
from identify.logs import Noise, synthetic_recording
from identify.logs.synthetic import random_motion
from identify.regressors import FEATURE_TENSOR, block_statistics, newton_euler_regressor
from identify.regressors.newton_euler import regressor_from_features
from identify.regressors.triangular import qr_factor
from identify.signals import Interpretation, full_rate_segments, prepare
from identify.signals.transform import CONSTANT_GROUP, band_middle
from identify.simulation import poinsot_motion, rotate_freely
from identify.spatial import BodyMotion

mpl.use("svg")
import matplotlib.pyplot as plt

SHIPPED = "datasets/payload_arm/payload_arm.parquet", "datasets/payload_arm/schema.toml"
UPRIGHT = [0.0, 0.0, 0.0, 1.0]
BODY = identify.InertialParameters.from_com(
    1.5,
    [0.02, 0.015, 0.09],
    np.array([[6.0, -0.5, -0.7], [-0.5, 5.0, 0.7], [-0.7, 0.7, 2.5]]) * 1e-3,
)


def filtered_rows(log, cutoff_hz=5.0):
    """Return rows A, b of all samples of a low-passed log, and their channels."""
    (samples,) = full_rate_segments(log, cutoff_hz)
    low_pass = butter(4, cutoff_hz, fs=samples.rate_hz, output="sos")
    z = sosfiltfilt(low_pass, samples.columns, axis=0)
    A = regressor_from_features(z[:, 1:13]).reshape(-1, 10)
    return A, z[:, 13:19].reshape(-1), np.tile(np.arange(6), len(z))


def newton_euler():
    """Draw the contributions of mass, first moment and inertia to the wrench of the shipped log."""
    log = prepare(identify.read_log(*SHIPPED))
    phi = identify.fit(identify.read_log(*SHIPPED)).estimate.parameters.phi
    part = (log.time > 2.0) & (log.time < 10.0)
    Y, time = regressor_from_features(log.features[part]), log.time[part]
    shares = {"m": slice(0, 1), "h": slice(1, 4), "I": slice(4, 10)}
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 2.6), layout="constrained")
    for axes, row, title in ((panels[0], 0, "$f_x$ [N]"), (panels[1], 4, "$t_y$ [N m]")):
        for colour, (name, columns) in zip((BLUE, ORANGE, GREEN), shares.items(), strict=True):
            if np.any(Y[:, row, columns]):
                contribution = Y[:, row, columns] @ phi[columns]
                axes.plot(time, contribution, color=colour, label=name, linewidth=1.2)
        axes.plot(time, Y[:, row] @ phi, color=INK, linewidth=0.8, linestyle=":", label="sum")
        axes.set(title=title, xlabel="time [s]")
        axes.legend(ncols=4, fontsize=8, loc="upper center")
        axes.set_ylim(top=axes.get_ylim()[1] * 1.2)
    return figure


def statistics():
    """Draw errors from noise-free rows: by triangular factors, and by normal equations."""
    turns = np.geomspace(1e-4, 1.0, 25)
    errors = np.empty((len(turns), 2))
    samples = random_motion(np.random.default_rng(3)).at(np.linspace(0.0, 20.0, 2000))
    for k, turn in enumerate(turns):
        w, al = turn * samples.angular_velocity, turn * samples.angular_acceleration
        A = newton_euler_regressor(BodyMotion(samples.acceleration, w, al)).reshape(-1, 10)
        b = A @ BODY.phi
        R = qr_factor(np.column_stack((A, b)))
        by_factor = np.linalg.solve(R[:10, :10], R[:10, 10])
        by_gram = np.linalg.solve(A.T @ A, A.T @ b)
        for column, phi in enumerate((by_factor, by_gram)):
            error = np.linalg.norm((phi - BODY.phi)[4:]) / np.linalg.norm(BODY.phi[4:])
            errors[k, column] = max(error, 1e-17)
    figure, axes = plt.subplots(figsize=(5.6, 3.0), layout="constrained")
    axes.loglog(turns, errors[:, 1], color=RED, label="normal equations $A^T A$")
    axes.loglog(turns, errors[:, 0], color=BLUE, label="triangular factor $R$")
    axes.set(xlabel="rotation, relative to a usual log", ylabel="error of the inertia")
    axes.legend()
    return figure


def transform():
    """Draw wrench, residual and predicted noise of the shipped log by frequency band."""
    recording = identify.read_log(*SHIPPED)
    phi = identify.fit(recording).estimate.parameters.phi
    log = prepare(recording, 40.0)
    from_z = np.vstack((np.zeros((1, 6)), -FEATURE_TENSOR @ phi, np.eye(6)))
    powers = {}
    for block in log.blocks:
        for group in np.unique(block.groups[block.groups != CONSTANT_GROUP]).tolist():
            z = block.rows[block.groups == group]
            C = from_z[1:]
            noise = np.trace((C.T @ block.noise[group] @ C)[:3, :3]) / 3
            values = (z[:, 13:16] ** 2).mean(), ((z @ from_z)[:, :3] ** 2).mean(), noise
            powers.setdefault(group, []).append(values)
    groups = sorted(powers)
    hertz = [band_middle(group) / (2.0 * np.pi) for group in groups]
    sizes = np.sqrt([np.mean(powers[group], axis=0) for group in groups])
    figure, axes = plt.subplots(figsize=(5.6, 3.0), layout="constrained")
    names = (("force", BLUE, "o-"), ("residual", ORANGE, "s-"))
    for column, (name, colour, style) in enumerate(names):
        axes.loglog(hertz, sizes[:, column], style, color=colour, markersize=4, label=name)
    axes.loglog(hertz, sizes[:, 2], "--", color=INK, label="predicted noise")
    cutoff = prepare(recording).cutoff_hz
    axes.axvline(cutoff, color=FAINT, linestyle=":")
    axes.text(cutoff * 1.05, sizes.max() / 2, f"cut-off\n{cutoff:.3g} Hz", va="top")
    axes.set(xlabel="frequency of the row [Hz]", ylabel="force, RMS of a row [N]")
    axes.legend(loc="lower left")
    return figure


def consistency():
    """Draw shares of principal moments; physically consistent ones fill the inner triangle."""

    def place(moments):
        share = np.sort(np.asarray(moments, float)) / np.sum(moments)
        return np.array([share[1] - share[0], share[2]])

    def shape_of(solid):
        return np.linalg.eigvalsh(solid.body(mass=1.0).inertia_about_com)

    figure, axes = plt.subplots(figsize=(5.8, 3.4), layout="constrained")
    corners = np.array([place((1, 1, 1)), place((0, 1, 1)), place((1, 1, 2))])
    positive = np.array([place((1, 1, 2)), place((0, 1, 1)), place((0, 0, 1))])
    axes.fill(*corners.T, color=BLUE, alpha=0.25, linewidth=0)
    axes.fill(*positive.T, color=RED, alpha=0.18, linewidth=0)
    named = {
        "ball, cube": (shape_of(Ellipsoid(1, 1, 1)), (8, -4)),
        "rod": (shape_of(Cylinder(1e-4, 1.0)), (6, -4)),
        "round disc": (shape_of(Cylinder(1.0, 1e-4)), (-8, 7)),
        "brick 4 : 2 : 1": (shape_of(Box(4, 2, 1)), (8, -10)),
        "book 3 : 2 : 0.2": (shape_of(Box(3, 2, 0.2)), (-14, -13)),
        "cylinder, as long as wide": (shape_of(Cylinder(0.5, 1.0)), (8, -2)),
    }
    for name, (moments, offset) in named.items():
        axes.plot(*place(moments), "o", color=BLUE, markersize=5)
        axes.annotate(name, place(moments), xytext=offset, textcoords="offset points", fontsize=8)
    axes.text(0.02, 0.425, "some density has these moments", color=INK)
    axes.text(0.03, 0.66, "positive definite, but inconsistent:\n$I_3 > I_1 + I_2$", color=INK)
    axes.plot(*corners[1:].T, color=INK, linewidth=1.2)
    axes.text(0.33, 0.515, "plates, $I_3 = I_1 + I_2$", fontsize=8)
    axes.set(
        xlabel="$(I_2 - I_1)\\,/\\,(I_1 + I_2 + I_3)$",
        ylabel="$I_3\\,/\\,(I_1 + I_2 + I_3)$",
        xlim=(-0.02, 0.62),
        ylim=(0.3, 1.03),
    )
    return figure


def cone_program():
    """Draw cost, physically consistent bodies and optimum in a plane of two moments."""
    rng = np.random.default_rng(12)
    plate = identify.InertialParameters.from_com(1.0, np.zeros(3), np.diag([1.0, 2.0, 3.0]) * 1e-3)
    a, w, al = (rng.normal(size=(200, 3)) * scale for scale in (5.0, 2.0, 8.0))
    A = newton_euler_regressor(BodyMotion(a, w, al)).reshape(-1, 10)
    b = A @ plate.phi + 0.05 * rng.normal(size=len(A))
    estimate = identify.solve(A, b)
    theta, at = estimate.parameters.phi, [4, 7]
    bound = float(estimate.certificate.distance_to_optimum)
    grid = np.linspace(-0.5e-3, 4e-3, 240)
    x, y = np.meshgrid(grid, grid)
    other = np.tile(theta, (*x.shape, 1))
    other[..., 4], other[..., 7] = x, y
    cost = np.sum((b - other @ A.T) ** 2, axis=-1) / 0.05**2
    least = np.linalg.lstsq(A[:, at], b - np.delete(A, at, 1) @ np.delete(theta, at), rcond=None)[0]
    possible = np.linalg.eigvalsh(pseudo_inertia(other))[..., 0] >= 0.0
    figure, axes = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    axes.contourf(1e3 * x, 1e3 * y, possible, levels=[0.5, 1.5], colors=[BLUE], alpha=0.25)
    above = np.sqrt(np.maximum(cost - cost.min(), 0.0))
    lines = axes.contour(1e3 * x, 1e3 * y, above, [1, 2, 3, 5, 8], colors=[FAINT], linewidths=1)
    axes.clabel(lines, fontsize=7, colors=[INK])
    axes.plot(*1e3 * least, "s", color=RED, label="least squares in this plane")
    axes.plot(*1e3 * theta[at], "o", color=BLUE, label="optimum over consistent bodies")
    axes.plot(1.0, 2.0, "x", color=INK, label="true values")
    axes.text(0.1, 3.8, f"proved to {bound:.0e} standard errors", fontsize=8)
    axes.text(2.4, 3.2, "consistent")
    axes.set(xlabel="$I_{xx}$ [g m²]", ylabel="$I_{yy}$ [g m²]")
    axes.legend(loc="lower right", fontsize=8)
    return figure


def intervals():
    """Draw intervals of one moment from forty logs: textbook formula and toolkit."""
    noise = Noise(position=1e-4, orientation=1.5e-3, force=0.05, torque=0.005)
    spans_by_method = {
        "filtered samples, $s^2 (A^T A)^{-1}$": [],
        "independent rows, all noise": [],
    }
    plain, ours = spans_by_method.values()
    for seed in range(40):
        log = synthetic_recording(
            BODY.phi,
            rng=np.random.default_rng(seed),
            duration=20.0,
            rate_hz=100.0,
            noise=noise,
        )
        ours.append(estimate_body([block_statistics(prepare(log))]).intervals["Izz"])
        A, b, channel = filtered_rows(log)
        for _ in range(3):  # weights by channel, from the residuals
            phi = np.linalg.lstsq(A, b, rcond=None)[0]
            size = np.array([np.std((b - A @ phi)[channel == c]) for c in range(6)])[channel]
            A, b = A / size[:, None], b / size
        half = 1.96 * np.sqrt(np.linalg.inv(A.T @ A)[9, 9])
        plain.append((phi[9] - half, phi[9] + half))
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 3.0), sharey=True, layout="constrained")
    for axes, (name, spans) in zip(panels, spans_by_method.items(), strict=True):
        bounds = 1e3 * np.array(spans)
        hit = (bounds[:, 0] <= 1e3 * BODY.phi[9]) & (1e3 * BODY.phi[9] <= bounds[:, 1])
        for colour, which in ((BLUE, hit), (RED, ~hit)):
            axes.vlines(np.flatnonzero(which), *bounds[which].T, color=colour, linewidth=2)
        axes.axhline(1e3 * BODY.phi[9], color=INK, linewidth=0.8)
        axes.set(title=f"{name}: {hit.sum()} of {len(hit)} cover", xlabel="log")
    panels[0].set_ylabel("$I_{zz}$ [g m²]")
    return figure


def faults():
    """Draw minus twice the log-likelihood of a log with a late wrench over the assumed delay."""
    noise = Noise(position=1e-4, orientation=2e-4, force=0.05, torque=0.005)
    log = synthetic_recording(
        BODY.phi, rng=np.random.default_rng(4), duration=20.0, rate_hz=100.0, noise=noise
    )
    late = {name: np.roll(log.signals[name], 3, axis=0)[3:] for name in ("force", "torque")}
    kept = {name: values[3:] for name, values in log.signals.items() if name not in late}
    late = replace(log, time=log.time[3:], signals=kept | late)
    delays, costs = np.linspace(-0.02, 0.08, 41), []
    for delay in delays:
        reading = Interpretation().with_patch({"wrench.delay_s": float(delay)})
        prepared = prepare(reading.apply(late), 6.0)
        costs.append(fit_body([BandRows.of(block_statistics(prepared))]).cost)
    evidence = next(f.evidence for f in identify.fit(late).findings if f.code == "delay")
    (size,), (bounds,) = evidence["size"], 1e3 * np.array(evidence["interval"])
    figure, axes = plt.subplots(figsize=(5.6, 3.0), layout="constrained")
    costs = np.array(costs) - min(costs)
    axes.plot(1e3 * delays, costs, color=BLUE)
    axes.axvline(30.0, color=INK, linewidth=0.8)
    axes.text(31.0, 0.93 * costs.max(), "true delay")
    axes.set(
        xlabel="assumed delay of the wrench [ms]",
        ylabel="−2 log-likelihood, minus its minimum",
        title=f"estimate: {1e3 * size:.1f} ms, {bounds[0]:.1f} to {bounds[1]:.1f} ms",
    )
    return figure


def priors():
    """Draw distances from a body: Euclidean in the parameters, and log-det divergence."""
    prior = identify.InertialParameters.from_com(1.0, np.zeros(3), np.diag([2.0, 2.5, 2.0]) * 1e-3)
    P = prior.pseudo_inertia
    grid = np.linspace(0.02, 5.2, 260)
    x, y = np.meshgrid(grid, grid)
    Pi = np.zeros((*x.shape, 4, 4))
    third = 1e3 * prior.inertia_about_com[2, 2]
    Pi[..., 0, 0], Pi[..., 1, 1] = (-x + y + third) / 2, (x - y + third) / 2
    Pi[..., 2, 2], Pi[..., 3, 3] = (x + y - third) / 2, 1e3
    Pi *= 1e-3
    Q = np.linalg.solve(P, Pi)
    possible = np.linalg.eigvalsh(Pi)[..., 0] > 1e-6
    size = np.where(possible, np.linalg.det(Q), 1.0)
    divergence = np.where(possible, np.trace(Q, axis1=-2, axis2=-1) - np.log(size) - 4.0, np.nan)
    plain = np.hypot(x - 2.0, y - 2.5)
    figure, axes = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    axes.contourf(x, y, possible, levels=[0.5, 1.5], colors=[BLUE], alpha=0.15)
    axes.contour(x, y, divergence, [0.1, 0.5, 1, 2, 4], colors=[BLUE], linewidths=1.3)
    axes.contour(x, y, plain, [0.5, 1, 1.5, 2, 2.5], colors=[FAINT], linestyles="--")
    ball = default_body(prior.mass, prior.com)
    axes.plot(2.0, 2.5, "o", color=INK)
    axes.annotate("prior", (2.0, 2.5), xytext=(6, 4), textcoords="offset points")
    moments = 1e3 * np.diag(identify.InertialParameters(ball).inertia_about_com)
    axes.plot(*moments[:2], "^", color=GREEN)
    axes.annotate("ball of water", moments[:2], xytext=(7, -4), textcoords="offset points")
    axes.set(xlabel="$I_{xx}$ [g m²]", ylabel="$I_{yy}$ [g m²]", xlim=(0, 5.2), ylim=(0, 5.2))
    return figure


def free_rotation():
    """Draw polhodes on the inertia ellipsoid, and the flip about the middle axis."""
    inertia = np.diag([1.0, 2.0, 2.8])
    figure, panels = plt.subplots(
        1, 2, figsize=(8.2, 3.2), layout="constrained", width_ratios=(1, 1.5)
    )
    axes = panels[0]
    view = np.array([0.55, 1.0, 0.8]) / np.linalg.norm([0.55, 1.0, 0.8])
    right = np.cross([0, 0, 1.0], view)
    right /= np.linalg.norm(right)
    up = np.cross(view, right)
    radii = 1.0 / np.sqrt(np.diag(inertia))
    starts = [
        (BLUE, [[1.0, s, 0.0] for s in (0.12, 0.28, 0.45)]),
        (ORANGE, [[0.0, s, 1.0] for s in (0.12, 0.28, 0.45)]),
    ]
    for colour, around in starts:
        for axis in around:
            for sign in (1.0, -1.0):
                spin = sign * np.array(axis)
                path = _polhode(inertia, spin)
                _draw(axes, path, radii, view, right, up, colour)
    separatrix = [1.0, 0.0, np.sqrt(1.0 * 1.0 / (2.8 * 0.8))]
    for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        spin = np.array(separatrix) * [signs[0], 1, signs[1]]
        path = _polhode(inertia, spin, 30.0)
        _draw(axes, path, radii, view, right, up, RED)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    outline = np.linalg.cholesky(_shadow(radii, right, up)) @ [np.cos(angle), np.sin(angle)]
    axes.plot(*outline, color=FAINT)
    for k, name in enumerate(("1", "2", "3")):
        tip = np.eye(3)[k] * radii[k] * 1.18
        axes.text(tip @ right, tip @ up, name, weight="bold", ha="center", va="center")
    axes.set_aspect("equal")
    axes.axis("off")
    panel = panels[1]
    for colour, off in ((RED, 1e-4), (ORANGE, 1e-2), (BLUE, 0.1)):
        time = np.linspace(0.0, 60.0, 1500)
        motion = rotate_freely(inertia, UPRIGHT, [off, 1.0, 0.0], time=time)
        panel.plot(
            time,
            motion.angular_velocity[:, 1],
            color=colour,
            label=f"start {off:g} rad/s off axis 2",
        )
    panel.set(xlabel="time [s]", ylabel="$\\omega_2$ [rad/s]", ylim=(-1.1, 1.5))
    panel.legend(ncols=3, fontsize=7, loc="upper center")
    return figure


def _polhode(inertia, spin, seconds=25.0):
    """Return contact points of ellipsoid and invariable plane in body axes, shape (n, 3)."""
    time = np.linspace(-seconds, seconds, 800)
    return poinsot_motion(inertia, UPRIGHT, spin, time=time).polhode


def _shadow(radii, right, up):
    """Return the outline of an ellipsoid in parallel projection, as a 2×2 matrix."""
    plane = np.array([right, up])
    return plane @ np.diag(radii**2) @ plane.T


def _draw(axes, path, radii, view, right, up, colour):
    """Draw a curve on the ellipsoid: solid in front, faint behind."""
    front = (path / radii**2) @ view >= 0.0
    for seen, alpha in ((front, 1.0), (~front, 0.25)):
        shown = np.where(seen[:, None], path, np.nan)
        axes.plot(shown @ right, shown @ up, color=colour, alpha=alpha, linewidth=1.2)


FIGURES = (
    *(newton_euler, statistics, transform, consistency, cone_program, intervals, faults, priors),
    free_rotation,
)


def main(names):
    for drawn in FIGURES:
        if not names or drawn.__name__ in names:
            plt.rcParams |= STYLE | {"svg.hashsalt": drawn.__name__}
            write_svg(drawn(), drawn.__name__)


if __name__ == "__main__":
    main(sys.argv[1:])
