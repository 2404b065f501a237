import shutil
from pathlib import Path

import numpy as np
import pytest

from identify.commands.main import main
from identify.commands.output import write_results
from identify.estimation.priors import ShapePrior
from identify.estimation.terms import MassBetween
from identify.files import digest
from identify.logs.synthetic import synthetic_recording
from identify.pipeline import fit, load_result
from tests.reporting.conftest import BODY, SENSOR


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    log = synthetic_recording(
        BODY.phi, rng=np.random.default_rng(3), duration=6.0, rate_hz=100.0, noise=SENSOR
    )
    write_results(folder, fit(log), BODY)
    return folder


@pytest.fixture
def folder(fitted, tmp_path) -> Path:
    return Path(shutil.copytree(fitted, tmp_path / "out"))


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("written")]


def test_report_is_rebuilt_without_log(folder, capsys):
    before, estimate = lines(folder / "report.html"), digest(folder / "estimate.json")
    (folder / "report.html").unlink()
    assert main(["report", str(folder)]) == 0
    assert capsys.readouterr().out.split() == [str(folder / "report.html")]
    assert lines(folder / "report.html") == before
    assert "Truth" in (folder / "report.html").read_text()
    assert digest(folder / "estimate.json") == estimate


def test_report_can_be_written_to_another_file(folder, tmp_path):
    assert main(["report", str(folder), "-o", str(tmp_path / "new" / "page.html")]) == 0
    assert (tmp_path / "new" / "page.html").exists()


def test_result_of_another_fit_is_rejected_and_report_kept(folder, capsys):
    (folder / "estimate.json").write_text("{}")
    before = (folder / "report.html").read_bytes()
    assert main(["report", str(folder)]) == 2
    assert "a fit was interrupted, or one of the files was changed" in capsys.readouterr().err
    assert (folder / "report.html").read_bytes() == before


def test_pdf_output_is_rejected(folder, capsys):
    assert main(["report", str(folder), "-o", "page.pdf"]) == 2
    assert "expected the suffix .html" in capsys.readouterr().err


class Anybodys(MassBetween):
    """A term that the toolkit does not have."""


def test_a_result_with_bounds_a_prior_and_terms_is_kept(tmp_path):
    """Whatever a fit may be asked for, its report is made anew without the log."""
    log = synthetic_recording(
        BODY.phi, rng=np.random.default_rng(3), duration=6.0, rate_hz=100.0, noise=SENSOR
    )
    prior = ShapePrior.of_box(np.array([0.4, 0.4, 0.6]))
    term = Anybodys(0.5 * BODY.mass, 2.0 * BODY.mass)
    result = fit(log, prior=prior, terms=[term], bounds=True)
    write_results(tmp_path, result, BODY)
    kept, _ = load_result(tmp_path)
    assert kept.estimate.certified_bounds == result.estimate.certified_bounds
    assert len(kept.estimate.bounds()) == len(result.estimate.bounds()) > 10
    assert kept.estimate.prior_share == result.estimate.prior_share
    before = lines(tmp_path / "report.html")
    assert main(["report", str(tmp_path)]) == 0
    assert lines(tmp_path / "report.html") == before
