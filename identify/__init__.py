"""Physically consistent identification of rigid-body inertia.

    import identify

    result = identify.fit("log.csv", schema="schema.toml")
    print(result.estimate.parameters.mass, result.estimate.intervals["m"])
    result.estimate.save("out/estimate.json")
    identify.report(result, "out/report.html")

Names are loaded when first used, so that `import identify` stays quick. What a fit is doing goes to
the logger "identify" of `logging`, which has no handler but those that a program gives it.
"""

import logging
from importlib.metadata import PackageNotFoundError, version

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += ["__version__"]

logging.getLogger(__name__).addHandler(logging.NullHandler())

try:
    __version__ = version("inertia-identify")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0.0.0"
