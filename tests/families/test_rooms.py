"""What every family's room has to have."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from fastdecode import families
from fastdecode.config.rows import DecoderRow, System
from fastdecode.errors import UserError
from fastdecode.families import FAMILIES, decoder_row, system_row
from fastdecode.families.autoregressive.rows import Decoder


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_its_rows(family: str) -> None:
    assert issubclass(system_row(family), System)
    assert issubclass(decoder_row(family), DecoderRow)


def test_a_room_without_rows_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "quick").mkdir()
    (tmp_path / "quick/__init__.py").touch()
    monkeypatch.setattr(families, "FAMILIES", ("quick",))
    monkeypatch.setattr(families, "__path__", [str(tmp_path)])
    with pytest.raises(UserError, match=r"families/quick/rows\.py: no such file"):
        system_row("quick")


@pytest.mark.parametrize(
    ("has", "said"),
    [
        ({"System": System}, "it has no Decoder, a class that begins as DecoderRow of"),
        ({"System": Decoder, "Decoder": Decoder}, "it has no System, a class that begins as Sys"),
        ({"System": System, "Decoder": DecoderRow}, "Decoder has no engine"),
    ],
)
def test_rows_that_lack_something_are_told_so(
    monkeypatch: pytest.MonkeyPatch, has: dict[str, type], said: str
) -> None:
    name = "fastdecode.families.autoregressive.rows"
    rows = ModuleType(name)
    vars(rows).update(has, __spec__=sys.modules[name].__spec__)
    monkeypatch.setitem(sys.modules, name, rows)
    with pytest.raises(UserError, match=rf"families/autoregressive/rows\.py: {said}"):
        decoder_row("autoregressive")
