from dataclasses import replace

import numpy as np
import pytest

from identify.errors import SchemaError
from identify.estimation import estimate_body
from identify.inertia import PHI
from identify.pipeline.required_precision import (
    ARM_LIMITS,
    parse_required_precision,
    required_precision_met,
)
from tests.close import assert_close
from tests.estimation.simulated import samples, wrench_noise
from tests.strategies import random_body


@pytest.fixture(scope="module")
def estimate():
    rng = np.random.default_rng(3)
    phi = random_body(rng)
    log = samples(phi, rng, 400, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6))
    return estimate_body([log.blocks()])


def half_width(estimate, name: str) -> float:
    low, high = estimate.intervals[name]
    return 0.5 * (high - low)


@pytest.mark.parametrize(
    ("unit", "size"),
    [("kg", 1.0), ("g", 1e-3), ("%", None)],
)
def test_a_mass_is_met_from_its_half_width_on(estimate, unit, size):
    size = 0.01 * estimate.mass if size is None else size
    reached = half_width(estimate, "m") / size
    (need,) = parse_required_precision(f"mass 1{unit}")
    assert_close(need.half_width(estimate, total=True), reached, 1e-12)
    for factor, met in ((1.01, True), (0.99, False)):
        text = f"mass {factor * reached:.9f} {unit}"
        assert required_precision_met(text, estimate) == {text: met}


@pytest.mark.parametrize(("unit", "size"), [("m", 1.0), ("cm", 1e-2), ("mm", 1e-3)])
def test_a_centre_of_mass_is_met_by_all_three_coordinates(estimate, unit, size):
    reached = max(half_width(estimate, name) for name in ("cx", "cy", "cz")) / size
    (need,) = parse_required_precision(f"com 2{unit}")
    assert_close(need.half_width(estimate, total=True), reached, 1e-12)


@pytest.mark.parametrize(
    ("unit", "size"),
    [
        *(("kg m²", 1.0), ("kg m^2", 1.0), ("kg*m2", 1.0), ("kgm2", 1.0), ("kg·m²", 1.0)),
        *(("kg cm²", 1e-4), ("kg mm²", 1e-6), ("g m²", 1e-3), ("g mm²", 1e-9), ("%", None)),
    ],
)
def test_an_inertia_is_met_by_all_six_entries(estimate, unit, size):
    largest = np.linalg.eigvalsh(estimate.parameters.inertia_about_com)[-1]
    size = 0.01 * largest if size is None else size
    names = ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
    reached = max(half_width(estimate, name) for name in names) / size
    (need,) = parse_required_precision(f"inertia 1 {unit}")
    assert_close(need.half_width(estimate, total=True), reached, 1e-12)


def test_need_without_interval_is_unmet_and_given_value_is_met(estimate):
    intervals = {**estimate.intervals, "Icxy": None, "m": (estimate.mass, estimate.mass)}
    partly = replace(estimate, intervals=intervals, decided_by=dict.fromkeys(PHI, "data"))
    text = "mass 1e-9%, com 100m, inertia 1000 %"
    assert required_precision_met(text, partly) == {
        "mass 1e-9%": True,
        "com 100m": True,
        "inertia 1000 %": False,
    }
    assert required_precision_met("", partly) == {}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "mass 1",
            "mass 1% whole",
            "massive",
            "mass %",
            "weight 1%",
            "mass 1 mm",
            "com 1%",
            "com 1kg",
            "inertia 1kg",
        ),
        *("mass 0%", "mass -1%", "mass 1..2%", "mass inf%", "mass 1%,", ",", "mass 1% com 2mm", 3),
    ],
)
def test_invalid_need_error_shows_grammar(text):
    with pytest.raises(
        SchemaError, match=r'needs: .*"mass 1%, com 2mm, inertia 10%".*com in m, cm'
    ):
        parse_required_precision(text)


def test_the_unit_of_a_need_is_as_it_was_written():
    (need,) = parse_required_precision("inertia 1 kg cm²")
    assert need.unit == "kg cm²"


def test_total_and_plain_quantities_and_uses_are_needs():
    (plain,) = parse_required_precision("com")
    assert (plain.text, plain.limit, plain.unit, plain.total) == ("com 4mm", 4.0, "mm", False)
    (total,) = parse_required_precision("mass 1 kg  total")
    assert (total.text, total.limit, total.unit, total.total) == (
        "mass 1 kg total",
        1.0,
        "kg",
        True,
    )
    texts = {
        "compensation": ["mass 2%", "com 4mm"],
        "controller": ["mass 2%", "com 4mm", "inertia 50%"],
        "Simulation": ["mass 2%", "com 4mm", "inertia 20%"],
        "compensation, mass, inertia 7%": ["mass 2%", "com 4mm", "inertia 7%"],
    }
    for text, expected in texts.items():
        assert [need.text for need in parse_required_precision(text)] == expected
    assert [need.text for need in parse_required_precision("controller", ARM_LIMITS)] == [
        *("mass 6%", "com 10mm", "inertia 50%")
    ]
    with pytest.raises(SchemaError, match="did you mean 'controller'"):
        parse_required_precision("controler")
