"""Names that a family made of docs/template may not have; tests/workflow/ makes one."""

from pathlib import Path

import pytest

from fastdecode.errors import UserError
from fastdecode.template import begin

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("dag", "fastdecode/families/dag is there already: choose another NAME"),
        ("Blinking", "NAME=Blinking: small letters"),
        ("", "NAME=: small letters"),
        ("lambda", "NAME=lambda: it is a word of Python"),
        ("raw", "NAME=raw: the name is taken"),
        ("shards", "NAME=shards: the name is taken"),
        ("on", "NAME=on: the name is taken"),
        ("ctc", "NAME=ctc: a row of config/systems has this name"),
        ("toy", "NAME=toy: a dataset has this name"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, fault: str) -> None:
    places = [ROOT / folder for folder in ("fastdecode/families", "tests/families", "config")]
    before = {path for place in places for path in place.rglob("*")}
    with pytest.raises(UserError, match=fault):
        begin(name, ROOT)
    assert {path for place in places for path in place.rglob("*")} == before
