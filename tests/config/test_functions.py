"""What functions define is read of their modules; traits are of functions that there are."""

from pathlib import Path

import pytest

from fastdecode.config.functions import TRAITS, check_function, defined, traits
from fastdecode.errors import UserError

REPORT = Path(__file__).parents[2] / "fastdecode/report"


def test_traits_are_of_functions_that_there_are() -> None:
    assert all((REPORT / f"{name.replace('.', '/')}.py").is_file() for name in TRAITS)
    assert traits("artifacts.rows").metrics and not traits("artifacts.rows").settings


def test_what_a_function_defines_may_be_written_assigned_or_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/one.py").write_text(
        "from nowhere import cells as made, page\nprinted = page\nraise ValueError\n"
        "def draw() -> None:\n    inside = 1\n"
    )
    monkeypatch.setattr("fastdecode.config.functions.files", lambda _: tmp_path)
    defined.cache_clear()
    assert defined("papers.one") == {"made", "page", "printed", "draw"}
    assert defined("papers.two") is None and defined("one") is None
    defined.cache_clear()


def test_what_is_a_page_too_defines_one() -> None:
    assert all("page" in (defined(name) or ()) for name in TRAITS if traits(name).page)


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        ("nowhere.rows", "table", "x: fastdecode/report has no module nowhere.rows"),
        ("rows", "table", "x: fastdecode/report has no module rows"),
        (
            "artifacts.rows",
            "figure",
            "x: artifacts.rows makes no figure, for which it has to define points and draw",
        ),
        (
            "artifacts.curves",
            "table",
            "x: artifacts.curves makes no table, for which it has to define cells and printed",
        ),
    ],
)
def test_functions_that_do_not_make_what_they_are_to(
    function: str, kind: str, message: str
) -> None:
    with pytest.raises(UserError) as error:
        check_function(function, kind, "x")
    assert str(error.value) == message
    check_function("artifacts.rows", "table", "x")
    check_function("artifacts.curves", "figure", "x")
