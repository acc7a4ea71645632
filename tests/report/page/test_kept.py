"""A page from the files of a folder alone."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from fastdecode.config.papers import Paper
from fastdecode.errors import UserError
from fastdecode.files import write_csv
from fastdecode.report.page.kept import kept
from fastdecode.report.page.page import Report, page
from fastdecode.report.tidy import TIDY
from tests.report.page.test_page import ARTIFACT, DRAWING, SLOW, Reader, report

DEFINITIONS = Path(__file__).parents[3] / "config"
PAPER = Paper(
    title="Of Two Systems",
    authors=("A. Nobody",),
    year=2000,
    artifacts={"table1": ARTIFACT, "table2": ARTIFACT, "figure1": DRAWING},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run's files, as if kept: measurements are packed, sentences named as a run names them."""
    folder = tmp_path / "kept run"
    folder.mkdir()
    report(folder)
    tidy = TIDY.read(folder / "measurements.csv").assign(run="made")
    tidy.to_csv(folder / "measurements.csv.gz", index=False)
    (folder / "measurements.csv").unlink()
    (folder / "sentences.csv").rename(folder / "sentences.toy.test.csv")
    (folder / "curve.svg").rename(folder / "learning_curves.svg")
    (folder / "machine.json").write_text("{}")
    (folder / "README.md").write_text("# Kept")
    return folder


def found(folder: Path, papers: dict[str, Paper] | None = None) -> Report:
    """Return what a page beside the folder is made of, where one figure and a table were drawn."""
    out = folder.parent / "out"
    out.mkdir(exist_ok=True)
    drawn = {
        "mine.table1": [out / "mine.table1.md", out / "mine.table1.tex"],
        "mine.figure1": [out / "mine.figure1.svg"],
        "speed.toy.test.S1": [out / "pareto.toy.test.reference.S1.svg"],
    }
    drawn = {name: files for name, files in drawn.items() if (folder / f"{name}.csv").is_file()}
    for files in drawn.values():
        for file in files:
            file.write_text("<svg><!--anew--></svg>")
    return kept(folder, out, drawn, {"mine": PAPER} if papers is None else papers, DEFINITIONS)


def test_everything_is_found_by_its_name(folder: Path) -> None:
    made = found(folder)
    assert (made.name, made.measurements) == ("made", "measurements.csv.gz")
    assert made.splits == [("toy", "test")]
    assert made.speedup_over == {"reference": SLOW}
    assert [list(paper.artifacts) for paper in made.papers] == [["table1", "figure1"]]
    assert made.speeds == ["speed.toy.test.S1.csv"]
    assert made.sentences == ["sentences.toy.test.csv"]
    assert made.languages == {"toy": ("en", "de")}
    assert made.figures == {"learning_curves.svg": "Learning curves"}
    assert made.files[0] == "measurements.csv.gz" and "machine.json" in made.files
    assert not {"README.md", "mine.table1.csv", "claims.mine.csv"} & set(made.files)
    assert "mine.figure2.csv" in made.files  # no paper has it: it would be nowhere else


def test_links_lead_from_the_page_to_what_was_kept_and_what_was_drawn(folder: Path) -> None:
    read = Reader()
    read.feed(page(found(folder)))
    out = folder.parent / "out"
    files = [link for link in read.links if not link.startswith("#")]
    assert {"mine.table1.tex", "mine.figure1.svg"} <= set(files)
    assert {"../kept%20run/mine.table1.csv", "../kept%20run/claims.mine.md"} <= set(files)
    for link in files:
        assert (out / link.replace("%20", " ")).is_file(), link


def test_a_drawing_is_the_one_made_anew(folder: Path) -> None:
    made = found(folder)
    assert page(made) != page(replace(made, place=replace(made.place, drawn=())))


def test_what_is_not_there_is_not_spoken_of(folder: Path) -> None:
    for file in folder.iterdir():
        if not file.name.startswith("measurements"):
            file.unlink()
    made = found(folder)
    assert (made.papers, made.speeds, made.sentences, made.figures) == ([], [], [], {})
    text = page(made)
    assert "Systems on toy, test" in text
    for word in ("Of Two Systems", "Nothing", "nothing was timed", "Claims", "Sentences", "<svg"):
        assert word not in text


def test_claims_are_those_of_whose_paper_they_are(folder: Path) -> None:
    """A folder may have claims without the artifacts they are of, and artifacts without claims."""
    papers = {"mine": PAPER.model_copy(update={"artifacts": {}}), "other": PAPER}
    (folder / "claims.mine.md").unlink()
    made = found(folder, papers)
    assert [paper.key for paper in made.papers] == ["mine"]
    text = page(made)
    assert 'id="mine.claims"' in text and "claims.mine.csv" in text
    assert "claims.mine.md" not in text


def test_a_validation_set_is_no_test(folder: Path) -> None:
    tidy = TIDY.read(folder / "measurements.csv.gz")
    valid = tidy.assign(split="valid")
    trained = tidy.assign(split="", metric="train_updates")
    write_csv(folder / "measurements.csv", pd.concat([tidy, valid, trained]))
    made = found(folder)
    assert made.measurements == "measurements.csv"
    assert made.splits == [("toy", "test")]


def test_a_dataset_that_nobody_knows_has_no_language(folder: Path) -> None:
    for name in ("measurements.csv.gz", "sentences.toy.test.csv"):
        frame = pd.read_csv(folder / name, dtype=str, keep_default_na=False)
        frame.assign(dataset="own").to_csv(folder / name, index=False)
    made = found(folder)
    assert made.splits == [("own", "test")] and made.languages == {}
    assert '<summary lang="">ein Hund</summary>' in page(made)


def test_without_measurements_there_is_no_page(folder: Path) -> None:
    (folder / "measurements.csv.gz").unlink()
    with pytest.raises(UserError, match=r"kept run: no measurements.csv or measurements.csv.gz"):
        found(folder)
