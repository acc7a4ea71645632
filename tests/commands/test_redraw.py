"""Tables and figures come from CSV files alone."""

import shutil
from pathlib import Path

import pytest

from fastdecode.commands import main
from fastdecode.commands.redraw import drawable, read_papers
from fastdecode.errors import UserError

ROOT = Path(__file__).parents[2]
PUBLISHED, PAPERS = ROOT / "docs/measurements", ROOT / "config/papers"


def test_published_artifacts_are_redrawn_as_they_are(tmp_path: Path) -> None:
    """A table is printed as it was published; a figure appears in all formats."""
    folder = PUBLISHED / "bidirectional/toy"
    names = ["bidirectional.table2a", "bidirectional.figure3"]
    main(["redraw", str(folder), "--out", str(tmp_path), "--only", *names])
    assert {path.name for path in tmp_path.iterdir()} == {
        *("bidirectional.table2a.md", "bidirectional.table2a.tex"),
        *(f"bidirectional.figure3.{kind}" for kind in ("svg", "png", "pdf")),
    }
    table = "bidirectional.table2a.md"
    assert (tmp_path / table).read_text() == (folder / table).read_text()


def test_beside_the_csv_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(PUBLISHED / "lattice/toy/lattice.table3.csv", tmp_path)
    main(["redraw", str(tmp_path)])
    assert (tmp_path / "lattice.table3.md").is_file()
    assert "1 tables, 0 figures; no page, as" in capsys.readouterr().out
    assert not (tmp_path / "index.html").exists()


def test_pictures_of_a_run(tmp_path: Path) -> None:
    """They come after the papers' artifacts, and can be chosen like them."""
    shutil.copy(PUBLISHED / "lattice/toy/lattice.table3.csv", tmp_path)
    shutil.copy(PUBLISHED / "families/seeds/speed.toy.long.test.S1.csv", tmp_path)
    main(["redraw", str(tmp_path), "--out", str(tmp_path / "all")])
    only = ["--only", "speed.toy.long.test.S1"]
    main(["redraw", str(tmp_path), "--out", str(tmp_path / "one"), *only])
    pictures = {
        f"pareto.toy.long.test.{tier}.S1.{kind}"
        for tier in ("reference", "optimised")
        for kind in ("svg", "png", "pdf")
    }
    assert {path.name for path in (tmp_path / "one").iterdir()} == pictures
    table = {"lattice.table3.md", "lattice.table3.tex"}
    assert {path.name for path in (tmp_path / "all").iterdir()} == pictures | table


def test_a_page_where_there_are_measurements(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It shows what was drawn, and says nothing of the papers that are not there."""
    kept, out = tmp_path / "kept", tmp_path / "out"
    kept.mkdir()
    copied = (
        "measurements.csv.gz",
        "dag.table1.csv",
        "speed.toy.long.test.S1.csv",
        "learning_curves.svg",
    )
    for name in copied:
        shutil.copy(PUBLISHED / "dag/tuned" / name, kept)
    (kept / "dag.figure12.csv").write_text("dataset\n")
    with pytest.raises(SystemExit, match=r"dag.figure12.csv: its columns are not"):
        main(["redraw", str(kept), "--out", str(out)])
    page = out / "index.html"
    assert capsys.readouterr().out.endswith(f"; all of it on one page: {page}\n")
    text = page.read_text()
    assert '<article id="dag.table1"' in text and 'id="dag.figure12"' not in text
    assert '<a href="dag.table1.tex"' in text and '<a href="../kept/dag.table1.csv"' in text
    assert "Systems on toy.long, test" in text and "Learning curves" in text
    assert 'id="lattice"' not in text and "Nothing of it was run" not in text
    page.unlink()
    main(["redraw", str(kept), "--out", str(out), "--only", "dag.table1.csv"])
    assert capsys.readouterr().out.endswith("1 tables, 0 figures\n") and not page.exists()


def test_measurements_alone_have_a_page(tmp_path: Path) -> None:
    shutil.copy(PUBLISHED / "dag/tuned/measurements.csv.gz", tmp_path)
    main(["redraw", str(tmp_path)])
    text = (tmp_path / "index.html").read_text()
    assert "Systems on toy.long, test" in text
    assert "nothing was timed" not in text.lower()  # it was: over what is not known


def test_measurements_that_cannot_be_used_are_said_after_all_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(PUBLISHED / "lattice/toy/lattice.table3.csv", tmp_path)
    (tmp_path / "measurements.csv").write_text("dataset,value\n")
    with pytest.raises(SystemExit, match=r"measurements.csv: its columns are not run, .*again"):
        main(["redraw", str(tmp_path)])
    assert "1 tables, 0 figures" in capsys.readouterr().out
    assert not (tmp_path / "index.html").exists()


def test_what_cannot_be_used_does_not_stop_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("lattice/toy/lattice.table3.csv", "families/seeds/speed.toy.long.test.S1.csv"):
        shutil.copy(PUBLISHED / name, tmp_path)
    (tmp_path / "learning_curves.csv").touch()
    (tmp_path / "stages.x.csv").write_text("decoder,whole\na,1\n")
    said = r"curves.csv: it is empty: delete it and run .*; .*stages.x.csv: it has no column"
    with pytest.raises(SystemExit, match=said):
        main(["redraw", str(tmp_path)])
    assert "1 tables, 2 figures" in capsys.readouterr().out
    assert (tmp_path / "pareto.toy.long.test.optimised.S1.pdf").is_file()


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no CSV file of a table or figure of aggressive, bidir"):
        main(["redraw", str(tmp_path)])
    shutil.copy(PUBLISHED / "lattice/toy/lattice.table3.csv", tmp_path)
    said = 'no lattice.table4.csv in .*did you mean "lattice.table3"'
    with pytest.raises(SystemExit, match=said):
        main(["redraw", str(tmp_path), "--only", "lattice.table4"])


def test_a_picture_of_speeds_is_asked_for_by_its_csv(tmp_path: Path) -> None:
    shutil.copy(PUBLISHED / "families/seeds/speed.toy.long.test.S1.csv", tmp_path)
    said = "only: pareto.toy.long.test.reference.S1 is drawn from (speed.toy.long.test.S1).csv: "
    with pytest.raises(SystemExit, match=rf"{said}take --only \1$"):
        main(["redraw", str(tmp_path), "--only", "pareto.toy.long.test.reference.S1"])
    with pytest.raises(SystemExit, match=r"no pareto.toy.test.reference.S1.csv in"):
        main(["redraw", str(tmp_path), "--only", "pareto.toy.test.reference.S1"])


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    for name, said in (("lattice.table3.csv", ", and --only lattice.table3"), ("x.svg", "")):
        (tmp_path / name).touch()
        with pytest.raises(UserError) as error:
            drawable(tmp_path / name, read_papers(PAPERS))
        here = f"{tmp_path / name}: this is a file: name its folder, {tmp_path}"
        assert str(error.value) == here + said


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none: no such folder"):
        drawable(tmp_path / "none", read_papers(PAPERS))
    with pytest.raises(UserError, match=r"--papers .*none: no such folder"):
        read_papers(tmp_path / "none")


def test_a_folder_without_papers_is_said(tmp_path: Path) -> None:
    (tmp_path / "lattice.yml").touch()
    with pytest.raises(UserError, match=r"--papers .*: no paper \(\*\.yaml\) in it"):
        read_papers(tmp_path)
