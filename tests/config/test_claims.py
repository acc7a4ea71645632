from pathlib import Path
from typing import Any

import pytest

from fastdecode.config.base import check, read_yaml
from fastdecode.config.claims import Check, Claim
from fastdecode.config.papers import Paper
from fastdecode.errors import UserError
from tests.config.formulas import holds

PAPERS = Path(__file__).parents[2] / "config/papers"
CLAIMS = [
    (key, name)
    for key in ("aggressive", "bidirectional", "dag", "lattice")
    for name in read_yaml(PAPERS / f"{key}.yaml")["claims"]
]


def paper(key: str) -> Paper:
    return check(Paper, read_yaml(PAPERS / f"{key}.yaml"), key)


@pytest.fixture(scope="module")
def papers() -> dict[str, Paper]:
    return {key: paper(key) for key in dict(CLAIMS)}


@pytest.mark.parametrize(("key", "name"), CLAIMS)
def test_a_formula_says_of_the_published_cells_what_is_on_record(
    key: str, name: str, papers: dict[str, Paper]
) -> None:
    claim = papers[key].claims[name]
    if claim.formula is not None:
        assert holds(claim.formula, papers[key]) is claim.published_holds


def test_a_formula_is_no_program(papers: dict[str, Paper]) -> None:
    lattice = papers["lattice"]
    assert holds("table1[ar].latency_ms > 200", lattice)
    assert not holds("table1[ar].latency_ms > 300", lattice)
    for text in ("__import__('os')", "table1.x", "open('a')", "(lambda: 1)()", "'a' < 'b'"):
        with pytest.raises((ValueError, KeyError)):
            holds(text, lattice)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "one of rising, equal and value"),
        ({"rising": ["a.b", "c.d"], "equal": ["a.b", "c.d"]}, "one of rising, equal and value"),
        ({"rising": ["a.b"]}, "name two"),
        ({"value": "a.b"}, "bounds of a value"),
        ({"rising": ["a.b", "c.d"], "above": 1}, "bounds of a value"),
        ({"value": {"minus": ["a.b"]}, "above": 1}, "minus is of two numbers"),
        ({"value": {"minus": ["a.b", {"ratio": ["a.b"]}]}, "above": 1}, "ratio is of two numbers"),
        ({"value": {"sum": [], "minus": []}, "above": 1}, "one operation at a time"),
        ({"rising": ["a@1", "b@1"], "interpolated": True}, "name them without @"),
        ({"rising": ["a@1", "b@1"], "share": 0.1}, "share is of whole curves"),
        ({"rising": ["a", "b"], "share": 0.1, "interpolated": True}, "share is of whole curves"),
    ],
)
def test_a_check_that_says_nothing_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        check(Check, values, "here")


def test_a_claim_has_a_check_or_says_why_not() -> None:
    with pytest.raises(UserError, match="says in unchecked why"):
        check(Claim, {"statement": "s"}, "here")
    one = {"value": "a.b", "above": 1, "artifacts": ["table2"]}
    with pytest.raises(UserError, match="table2 is not among its artifacts"):
        check(Claim, {"statement": "s", "artifacts": ["table1"], "check": [one]}, "here")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("no_such.bleu", "claims.mine.check: table1 has no row no_such"),
        ("ar.blue", "claims.mine.check: table1 has no column blue"),
        ("table2.ar.bleu", "claims.mine.check: table2 has no row ar"),
    ],
)
def test_cells_of_a_claim_are_checked(cell: str, message: str) -> None:
    values = read_yaml(PAPERS / "lattice.yaml")
    one = {"value": cell, "above": 1}
    values["claims"] = {"mine": {"statement": "s", "artifacts": ["table1"], "check": [one]}}
    with pytest.raises(UserError, match=message):
        check(Paper, values, "here")


def test_a_cell_is_that_of_an_artifact() -> None:
    values = read_yaml(PAPERS / "lattice.yaml")
    for cell, found in (("table1.ar.bleu", True), ("ar.bleu", False)):
        one = {"value": cell, "above": 1}
        values["claims"] = {"mine": {"statement": "s", "check": [one]}}
        if found:
            assert check(Paper, values, "here").claims["mine"]
        else:
            with pytest.raises(UserError, match=r"mine.check: ar\.bleu is a cell of which"):
                check(Paper, values, "here")
