import json

import numpy as np
import pyarrow.csv as pacsv
import pytest

from tests.endtoend.conftest import BODY

OF_WRENCH = ("f", "t")


@pytest.fixture
def columns(log) -> dict[str, np.ndarray]:
    """The small log: the pose of every second row, the wrench of all rows but each seventh."""
    table = pacsv.read_csv(log.path)
    columns = {name: table[name].to_numpy().astype(float) for name in table.column_names}
    index = np.arange(table.num_rows)
    for name, values in columns.items():
        if name != "t":
            values[index % 7 == 0 if name[0] in OF_WRENCH else index % 2 == 1] = np.nan
    return columns


def write(path, columns: dict[str, np.ndarray], rows: np.ndarray) -> None:
    lines = [",".join(columns)]
    for k in np.flatnonzero(rows):
        fields = (values[k] for values in columns.values())
        lines.append(",".join("" if np.isnan(x) else repr(float(x)) for x in fields))
    path.write_text("\n".join(lines) + "\n")


def fitted(cli, path, schema, out) -> dict:
    outcome = cli("fit", path, "--schema", schema, "-o", out)
    assert outcome.status == 0, outcome.message
    assert (out / "report.html").stat().st_size > 10_000
    estimate = json.loads((out / "estimate.json").read_text())
    assert abs(estimate["mass"] - BODY.mass) < 0.01
    return estimate


def test_rows_that_alternate(cli, log, columns, tmp_path):
    write(tmp_path / "all.csv", columns, np.isfinite(columns["px"]) | np.isfinite(columns["fx"]))
    estimate = fitted(cli, tmp_path / "all.csv", log.schema, tmp_path / "out")
    found = [finding["text"] for finding in estimate["findings"]]
    assert "all.csv: its rows are of several streams: 400 pose, 685 wrench." in found
    assert any(text.startswith("streams with clocks of their own (wrench") for text in found)
