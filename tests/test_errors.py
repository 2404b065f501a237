import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import identify
from identify.errors import IdentifyError, did_you_mean
from identify.findings import FINDING_CODES
from identify.inertia import base_columns, check_consistency


def error_classes() -> Iterator[type[IdentifyError]]:
    for module in pkgutil.walk_packages(identify.__path__, "identify."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    waiting = [IdentifyError]
    while waiting:
        kind = waiting.pop()
        yield kind
        waiting.extend(kind.__subclasses__())


VALUES = {
    "Path": Path("log.csv"),
    "str": "word",
    "int": 3,
    "float": 0.5,
    "tuple[int": (1, 2),
    "tuple": ("a", "b"),
    "Sequence": ("a", "b"),
    "Iterable": ("a", "b"),
    "list": ["a", "b"],
    "Mapping": {"a": 1},
    "Array": np.zeros(3),
    "BodyVerdict": check_consistency(np.zeros(10)),
    "BaseColumns": base_columns(np.ones((3, 2))),
}


def made(kind: type[IdentifyError]) -> IdentifyError:
    """An error of a class, from a value for each argument by its annotation."""
    positional, named = [], {}
    for name, parameter in inspect.signature(kind).parameters.items():
        annotation = str(parameter.annotation)
        code = name == "code"  # of a finding
        value = (
            FINDING_CODES[0]
            if code
            else next((v for start, v in VALUES.items() if annotation.startswith(start)), "word")
        )
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            positional.append(value)
    return kind(*positional, **named)


@pytest.mark.parametrize("kind", sorted(set(error_classes()), key=lambda kind: kind.__qualname__))
def test_errors_survive_pickling(kind):
    error = made(kind)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(again) is kind
    assert str(again) == str(error)
    assert again.exit_code == error.exit_code
    assert vars(again).keys() == vars(error).keys()


KNOWN = ("stars", "tx40", "Mass", "m")


@pytest.mark.parametrize(
    ("word", "nearest"),
    [("STARS", "stars"), ("mass", "Mass"), ("stras", "stars"), ("M", "m"), ("x", ""), ("far", "")],
)
def test_nearest_name_is_suggested(word, nearest):
    assert did_you_mean(word, KNOWN) == (f"; did you mean {nearest!r}?" if nearest else "")
