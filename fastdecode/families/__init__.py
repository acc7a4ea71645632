"""The families: one room each, opened by its name.

A room holds at least `rows.py`, whose `Decoder` is the configuration row of its decoders, and
`decoders.py`, whose `build` makes a decoder of such a row and a loaded system. No room imports
another.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fastdecode.config.base import nearest
from fastdecode.config.rows import DecoderRow
from fastdecode.errors import UserError

FAMILIES = ("autoregressive",)


def decoder_row(family: str) -> type[DecoderRow]:
    """Return the class of the family's decoder rows. Raises UserError if there is no family."""
    if family not in FAMILIES:
        raise UserError(
            f'systems/{family}.yaml: there is no family "{family}"{nearest(family, FAMILIES)}'
        )
    row: type[DecoderRow] = import_module(f"{__name__}.{family}.rows").Decoder
    return row


def decoder_builder(family: str) -> Callable[..., Any]:
    """Return the family's `build(system, row, finish, watch)`; imports torch and fairseq."""
    build: Callable[..., Any] = import_module(f"{__name__}.{family}.decoders").build
    return build
