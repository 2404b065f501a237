"""Draw the pictures of `gallery.md` and their pages, from the shipped log and the studies.

python docs/gallery.py        # writes docs/_build/extra/gallery, which Sphinx puts beside the pages
"""

import shutil
from pathlib import Path

import matplotlib as mpl
import numpy as np

import identify
from identify.reporting import save_poinsot_animation
from identify.simulation import poinsot_motion

mpl.use("agg")

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "_build" / "extra" / "gallery"
LOG = ROOT / "datasets" / "payload_arm"
STUDIES = {
    "coverage": ("coverage", "accuracy_noise_torque"),
    "stars": ("accuracy_perturbation",),
}
"""Figures of `make study`, as they are in `reports/`, by study."""


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    log = identify.read_log(LOG / "payload_arm.parquet", LOG / "schema.toml")
    result = identify.fit(log)
    identify.report(result, FOLDER / "report.html")
    racket = poinsot_motion(
        np.diag([1.0, 2.0, 2.8]),
        [0.0, 0.0, 0.0, 1.0],
        [0.3, 2.0, 0.3],
        time=np.linspace(0, 20, 600),
    )
    save_poinsot_animation(racket, FOLDER / "poinsot.html")
    drawn = {
        "parameters": identify.plot.parameters(result),
        "wrench": identify.plot.wrench(result),
        "residuals": identify.plot.residuals(result),
        "replay": identify.plot.replay(result),
        "sources": identify.plot.sources(result),
        "poinsot": identify.plot.poinsot(racket),
    }
    for name, figure in drawn.items():
        figure.savefig(FOLDER / f"{name}.png", dpi=110, facecolor="white")
    for study, figures in STUDIES.items():
        copy_study(ROOT / "reports" / study, figures)


def copy_study(made, figures):
    """Copy figures and page of a study; without a page, write one that shows the figures."""
    study, pictures = made.name, []
    for name in figures:
        if (made / f"{name}.png").exists():  # an archive of the source has no reports
            pictures.append(f"{study}-{name}.png")
            shutil.copy(made / f"{name}.png", FOLDER / pictures[-1])
    page = FOLDER / f"{study}.html"
    if (made / "summary.html").exists():
        shutil.copy(made / "summary.html", page)
        return
    shown = "\n".join(f'<p><img src="{name}" alt="{name}" width="900"></p>' for name in pictures)
    page.write_text(
        f"<!DOCTYPE html>\n<html lang='en'><meta charset='utf-8'><title>Study {study}</title>\n"
        f"<h1>Study {study}</h1>\n<p>Its tables are written by "
        f"<code>make study NAME={study}</code>.</p>\n{shown}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
