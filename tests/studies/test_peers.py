from dataclasses import replace

import numpy as np
import pytest

from experiments.peers import run
from experiments.peers.method import Method, NotInstalled
from experiments.peers.registry import METHODS
from experiments.peers.rows import Rows, cases
from tests.close import assert_close


@pytest.fixture(scope="module")
def rows() -> Rows:
    return Rows.of(next(cases()[1].logs(1, 3)))


@pytest.mark.filterwarnings("ignore")
def test_methods_find_the_same_body_on_the_same_rows(rows):
    truth = cases()[1].truth
    scale = np.abs(truth).max()
    for method in METHODS:
        try:
            answer = method.estimate(rows)
        except NotInstalled:
            continue
        assert_close(np.asarray(answer.phi) / scale, truth / scale, rtol=2e-3)


def test_missing_method_becomes_row_with_reason(rows, monkeypatch, tmp_path):
    def absent(_):
        raise NotInstalled("pip install another")

    def broken(_):
        raise ValueError("no answer")

    monkeypatch.setattr(
        run, "METHODS", (Method("a", "absent", absent), Method("b", "broken", broken))
    )
    monkeypatch.setattr(run, "cases", lambda: (replace(cases()[0], name="one"),))
    monkeypatch.setattr(run, "_memory", lambda method, first: "–")
    written = tmp_path / "peers.md"
    assert run.main(["-o", str(written)]) == 0
    text = written.read_text(encoding="utf-8")
    assert "| a | not installed: pip install another |" in text
    assert "| b | failed: ValueError: no answer |" in text
    assert "Not the whole study: without a." in text
