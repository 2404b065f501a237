"""Draw the figure of `moving.md`: parameters identified by each motion, from simulated logs.

python docs/motions.py        # writes docs/images/motions.svg, in some ten seconds
"""

from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm
from scipy.spatial.transform import Rotation
from svg import STYLE, write_svg

import identify
from identify.inertia import InertialParameters
from identify.logs import Noise, synthetic_recording
from identify.logs.synthetic import Harmonics, SyntheticMotion

mpl.use("svg")
import matplotlib.pyplot as plt

SECONDS, RATE_HZ = 60.0, 100.0
NOISE = Noise(position=1e-4, orientation=2e-4, force=0.05, torque=0.005)
BIAS = (1.0, -2.0, 3.0, 0.1, 0.2, -0.1)
DOWN, SIDEWAYS = (0.0, 0.0, -9.80665), (-9.80665, 0.0, 0.0)
POSES = 10

PAYLOAD = InertialParameters.from_com(
    1.5,
    [0.02, 0.015, 0.09],
    np.array([[6.0, -0.5, -0.7], [-0.5, 5.0, 0.7], [-0.7, 0.7, 2.5]]) * 1e-3,
)

COLUMNS = ("m", "cx", "cy", "cz", *(f"Ic{ab}" for ab in ("xx", "yy", "zz", "xy", "xz", "yz")))
HEADINGS = ("mass", "cx", "cy", "cz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


@dataclass(frozen=True)
class Turns:
    """Rotations to and fro about body z, y and x.

    Attributes:
        label: label of its row.
        angles: amplitudes about z, y and x [deg]; zero where it does not turn.
        period: of a turn to and fro about the first axis [s]; the others are a little faster.
        gravity: which way the tool hangs: along its z, or across it.
    """

    label: str
    angles: tuple[float, float, float]
    period: float = 4.0
    gravity: tuple[float, float, float] = DOWN

    def log(self):
        """Simulate a noisy log of this motion."""
        frequency = np.array([1.0, 1.17, 1.39]) / self.period
        amplitude = np.diag(np.radians(self.angles))
        still = Harmonics(np.zeros((3, 1)), np.zeros((3, 1)), np.ones(1))
        motion = SyntheticMotion(still, Harmonics(amplitude, np.zeros((3, 3)), frequency))
        return synthetic_recording(
            PAYLOAD.phi,
            rng=np.random.default_rng(0),
            motion=motion,
            duration=SECONDS,
            rate_hz=RATE_HZ,
            gravity=self.gravity,
            bias=BIAS,
            noise=NOISE,
        )


class Poses:
    """Static poses in all directions, each averaged over a second."""

    label = f"{POSES} static poses, all directions"

    def log(self):
        """Simulate the mean reading of each pose, with noise."""
        rng = np.random.default_rng(1)
        attitudes = Rotation.random(POSES, rng)
        force = -PAYLOAD.mass * attitudes.inv().apply(DOWN)
        wrench = np.hstack((force, np.cross(PAYLOAD.com, force))) + BIAS
        wrench += rng.normal(size=wrench.shape) * np.repeat([NOISE.force, NOISE.torque], 3) / 10.0
        return identify.read_log(
            {
                "quaternion": attitudes.as_quat(),
                "force": wrench[:, :3],
                "torque": wrench[:, 3:],
            },
            {
                "log": {"still": True},
                "world": {"gravity": DOWN},
                "pose": {"quaternion": "quaternion"},
                "wrench": {
                    "force": "force",
                    "torque": "torque",
                    "frame": "body",
                    "acts_on": "body",
                },
            },
        )


MOTIONS = (
    Poses(),
    Turns("about z, tool hanging down, ±45° in 4 s", (45, 0, 0)),
    Turns("about z, tool to the side, ±45° in 4 s", (45, 0, 0), gravity=SIDEWAYS),
    Turns("about x, ±45° in 4 s", (0, 0, 45)),
    Turns("about x and y, ±45° in 4 s", (0, 45, 45)),
    Turns("about x, y and z, ±45° in 16 s", (45, 45, 45), period=16.0),
    Turns("about x, y and z, ±45° in 4 s", (45, 45, 45)),
    Turns("about x, y and z, ±45° in 2 s", (45, 45, 45), period=2.0),
    Turns("about x, y and z, ±90° in 4 s", (90, 90, 90)),
)


def half_widths(log):
    """Return half-widths of the 95 % intervals in % of the mass, 100 mm and the largest moment.

    What the log does not identify is NaN, and all of it where it gives no mass.
    """
    try:
        estimate = identify.fit(log).estimate
    except identify.IdentifyError:
        return np.full(len(COLUMNS), np.nan)
    largest = np.linalg.eigvalsh(PAYLOAD.inertia_about_com)[-1]
    scales = (
        dict.fromkeys(COLUMNS, largest) | {"m": PAYLOAD.mass} | dict.fromkeys(COLUMNS[1:4], 0.1)
    )
    half_widths = []
    for name in COLUMNS:
        interval = estimate.intervals[name]
        half_widths.append(
            np.nan if interval is None else 50.0 * np.diff(interval)[0] / scales[name]
        )
    return np.array(half_widths)


def cell_text(share, column):
    """Format a half-width for its cell."""
    if not np.isfinite(share):
        return "–"
    return f"{share:.2g} mm" if 1 <= column <= 3 else f"{share:.2g} %"


def main():
    table = np.array([half_widths(motion.log()) for motion in MOTIONS])
    plt.rcParams |= STYLE | {"svg.hashsalt": "motions", "font.size": 8}
    figure, axes = plt.subplots(figsize=(9.2, 3.6), layout="constrained")
    colours = plt.get_cmap("RdYlGn_r").with_extremes(bad="0.88")
    axes.imshow(
        np.ma.masked_invalid(table),
        cmap=colours,
        norm=LogNorm(0.01, 100),
        aspect="auto",
    )
    for (row, column), share in np.ndenumerate(table):
        axes.text(column, row, cell_text(share, column), ha="center", va="center", color="black")
    axes.set_xticks(range(len(HEADINGS)), HEADINGS)
    axes.set_yticks(range(len(MOTIONS)), [motion.label for motion in MOTIONS])
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    write_svg(figure, "motions")


if __name__ == "__main__":
    main()
