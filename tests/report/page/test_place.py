from pathlib import Path

from fastdecode.report.page.place import Place


def test_files_of_a_run_lie_beside_its_page(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert (place.path("a.svg"), place.link("a.svg")) == (tmp_path / "a.svg", "a.svg")


def test_what_was_drawn_elsewhere_lies_beside_the_page(tmp_path: Path) -> None:
    """A file of the same name that was not drawn now is of something else."""
    place = Place(tmp_path / "50% of #1", tmp_path / "page", ["a.svg"])
    assert place.path("a.svg") == tmp_path / "page/a.svg"
    assert place.link("a.svg") == "a.svg"
    assert place.path("b.svg") == tmp_path / "50% of #1/b.svg"
    assert place.link("b.svg") == "../50%25%20of%20%231/b.svg"


def test_a_link_through_a_folder_that_is_one_itself(tmp_path: Path) -> None:
    (tmp_path / "far/away").mkdir(parents=True)
    (tmp_path / "near").symlink_to(tmp_path / "far/away")
    place = Place(tmp_path, tmp_path / "near")
    assert place.link("a.csv") == "../../a.csv"
