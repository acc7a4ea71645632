"""Traits are of functions that there are."""

from pathlib import Path

from fastdecode.config.functions import TRAITS, traits

REPORT = Path(__file__).parents[2] / "fastdecode/report"


def test_traits_are_of_functions_that_there_are() -> None:
    assert all((REPORT / f"{name.replace('.', '/')}.py").is_file() for name in TRAITS)
    assert traits("artifacts.rows").metrics and not traits("artifacts.rows").settings
