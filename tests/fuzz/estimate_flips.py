"""Single bits of an estimate.json turned over: what is read then is what was written, or edited."""

import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from identify import fit
from identify.errors import ModelError
from identify.exchange import read_estimate
from identify.exchange.estimate_json import estimate_text
from identify.inertia import InertialParameters
from identify.logs.synthetic import Noise, synthetic_recording

_BODY = InertialParameters.from_com(
    1.3, np.array([0.02, -0.015, 0.06]), np.diag([31e-4, 26e-4, 17e-4])
)


@cache
def fitted() -> bytes:
    """The estimate.json of a fit."""
    rng, noise = np.random.default_rng(1), Noise(force=0.02, torque=0.002)
    log = synthetic_recording(_BODY.phi, rng=rng, duration=4.0, rate_hz=50.0, noise=noise)
    return estimate_text(fit(log).estimate).encode()


def flips_read_as_other_contents(content: bytes, seed: int, count: int) -> list[tuple[int, int]]:
    """Places (byte, bit) of flips after which a file is read as another, without `edited`.

    Args:
        content: of an estimate.json.
        seed: of the places.
        count: how many of them are tried.
    """
    chance = random.Random(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "estimate.json"
        path.write_bytes(content)
        written = estimate_text(read_estimate(path))
        escaped = []
        for _ in range(count):
            byte, bit = chance.randrange(len(content)), chance.randrange(8)
            flipped = bytearray(content)
            flipped[byte] ^= 1 << bit
            path.write_bytes(flipped)
            try:
                read = read_estimate(path)
            except ModelError:
                continue
            edited = any(finding.code == "edited" for finding in read.findings)
            if not edited and estimate_text(read) != written:
                escaped.append((byte, bit))
    return escaped
