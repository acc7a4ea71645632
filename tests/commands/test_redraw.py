"""Tables and figures come from CSV files alone."""

import shutil
from pathlib import Path

import pytest

from fastdecode.commands import main
from fastdecode.commands.redraw import drawable
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
    assert "1 tables, 0 figures" in capsys.readouterr().out


def test_pictures_of_a_run(tmp_path: Path) -> None:
    """They come after the papers' artifacts, and can be chosen like them."""
    shutil.copy(PUBLISHED / "lattice/toy/lattice.table3.csv", tmp_path)
    shutil.copy(PUBLISHED / "families/toy/speed.toy.long.test.S1.csv", tmp_path)
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


def test_what_cannot_be_used_does_not_stop_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("lattice/toy/lattice.table3.csv", "families/toy/speed.toy.long.test.S1.csv"):
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


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none: no such folder"):
        drawable(tmp_path / "none", PAPERS)
    with pytest.raises(UserError, match=r"--papers .*none: no such folder"):
        drawable(tmp_path, tmp_path / "none")
