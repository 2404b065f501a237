import pytest

from experiments.integrators_study.cases import FREE, LOADED
from experiments.integrators_study.measure import (
    INTEGRATOR_NAMES,
    measure_costs,
    measure_drift,
    measure_order,
)
from experiments.integrators_study.printed_euler import NAME as PRINTED
from experiments.integrators_study.write import report, tables
from identify.simulation import INTEGRATORS


def test_an_order_is_measured():
    order = measure_order("rkmk4", LOADED)
    assert abs(order.order - 4.0) < 0.2
    assert order.errors[0] > order.errors[1] > order.errors[2] > 0.0


@pytest.mark.slow
def test_the_report_has_the_tables():
    orders = [measure_order("suzuki", FREE), measure_order(PRINTED, FREE)]
    body = tables(orders, [measure_drift("rkmk4", FREE, 1.0)], measure_costs(["rkmk4"]), 1.0)
    assert "| suzuki | " in body
    assert body in report(body)


def test_every_integrator_is_measured():
    assert tuple(INTEGRATORS) == INTEGRATOR_NAMES
