"""Sequence-level distillation (Kim and Rush, 2016) in parts that can run apart."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from fastdecode.errors import UserError
from fastdecode.files import count_lines, read_lines, sha256, write_json, write_lines

T = TypeVar("T")


def shard_of(lines: Sequence[T], shard: int, shards: int) -> Sequence[T]:
    """Return the `shard`-th (from 0) of `shards` contiguous parts of nearly equal size."""
    return lines[len(lines) * shard // shards : len(lines) * (shard + 1) // shards]


def join_shards(
    shards: Sequence[Path], source: Path, text: Path, record: Path, provenance: dict[str, Any]
) -> None:
    """Join distilled shards into `text`, and write `record`: provenance and shard checksums.

    Raises UserError if they do not hold one line for each line of their part of `source`.
    """
    wanted = count_lines(source)
    counts = [count_lines(shard) for shard in shards]
    if counts != [len(shard_of(range(wanted), i, len(shards))) for i in range(len(shards))]:
        found = ", ".join(f"{s}: {count}" for s, count in zip(shards, counts, strict=True))
        raise UserError(
            f"{source} has {wanted} lines but its distilled parts do not ({found}): delete the "
            "parts and run again"
        )
    write_lines(text, (line for shard in shards for line in read_lines(shard)))
    checksums = {shard.name: sha256(shard) for shard in shards}
    write_json(record, {"provenance": provenance, "lines": wanted, "shards": checksums})
