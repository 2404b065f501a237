import pytest

from experiments.integrators_study.cases import FREE, LOADED
from experiments.integrators_study.measure import (
    INTEGRATOR_NAMES,
    measure_costs,
    measure_drift,
    measure_order,
)
from experiments.integrators_study.printed_euler import NAME as PRINTED
from experiments.integrators_study.write import BEGIN, END, put_into, report, tables
from identify.simulation import INTEGRATORS


def test_an_order_is_measured():
    order = measure_order("rkmk4", LOADED)
    assert abs(order.order - 4.0) < 0.2
    assert order.errors[0] > order.errors[1] > order.errors[2] > 0.0


@pytest.mark.slow
def test_the_tables_go_into_the_documentation(tmp_path):
    orders = [measure_order("suzuki", FREE), measure_order(PRINTED, FREE)]
    body = tables(orders, [measure_drift("rkmk4", FREE, 1.0)], measure_costs(["rkmk4"]), 1.0)
    assert "| suzuki | " in body
    assert report(body).startswith("# Integrators")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    for _ in range(2):
        put_into(page, body)
        assert page.read_text() == f"before\n{BEGIN}\n\n{body}\n\n{END}\nafter\n"
    page.write_text("no marks")
    with pytest.raises(ValueError, match="expected the marks"):
        put_into(page, body)


def test_every_integrator_is_measured():
    assert tuple(INTEGRATORS) == INTEGRATOR_NAMES
