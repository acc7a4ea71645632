"""The families: one room each, opened by its name.

A room holds at least `rows.py`, with the configuration rows `System` and `Decoder`; `training.py`,
whose `arguments` say to fairseq-train what is trained; and `decoders.py`, whose `build` makes a
decoder of a row and a loaded system. What registers with fairseq is imported by `plugin.py`, if the
room has one. A room whose training needs files besides (the lattice's tables) names them in
`rows.ASSETS`, and a decoder that needs others in its row. No room imports another.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fastdecode.config.base import nearest
from fastdecode.config.rows import Assets, DecoderRow, System
from fastdecode.errors import UserError

FAMILIES = ("autoregressive", "dag", "lattice", "parallel")


def decoder_row(family: str) -> type[DecoderRow]:
    """Return the class of the family's decoder rows. Raises UserError if there is no family."""
    row: type[DecoderRow] = _rows(family).Decoder
    return row


def system_row(family: str) -> type[System]:
    """Return the class of the family's system rows. Raises UserError if there is no family."""
    row: type[System] = _rows(family).System
    return row


def _rows(family: str) -> Any:
    if family not in FAMILIES:
        raise UserError(
            f'systems/{family}.yaml: there is no family "{family}"{nearest(family, FAMILIES)}'
        )
    return import_module(f"{__name__}.{family}.rows")


def assets(family: str) -> Assets | None:
    """Return what the family's systems need to be trained: a folder of the target, its files."""
    found: Assets | None = getattr(_rows(family), "ASSETS", None)
    return found


def training_arguments(family: str) -> Callable[..., list[str]]:
    """Return the family's `arguments(job)` for fairseq-train."""
    arguments: Callable[..., list[str]] = import_module(f"{__name__}.{family}.training").arguments
    return arguments


def decoder_builder(family: str) -> Callable[..., Any]:
    """Return the family's `build(system, row, finish, watch)`; imports torch and fairseq."""
    build: Callable[..., Any] = import_module(f"{__name__}.{family}.decoders").build
    return build
