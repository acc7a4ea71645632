"""Whether a decoder writes what it has to, line by line.

A fast one what its naive twin writes, a lossless one what the search does that it speeds up.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fastdecode.errors import UserError
from fastdecode.translation import Translation, read_translations

GAP = 1e-3  # of scores: beyond it two translations are no longer as good as each other
FEW = 0.01  # of the lines: a tie that rounding broke may send greedy search anywhere


class Difference(NamedTuple):
    """A line on which two decoders differ; scores are log probabilities by normalised length."""

    line: int  # from 1
    text: str
    twin_text: str
    score: float | None
    twin_score: float | None
    gap: float | None  # how far the scores lie apart


def differing_lines(
    translations: Sequence[Translation], twins: Sequence[Translation]
) -> list[Difference]:
    """Return the lines whose tokens differ, or whose text, where one side was given as text alone.

    A gap near the precision of the arithmetic is a tie that either decoder may break; a larger one
    is a fault.
    """
    found = []
    for line, (one, other) in enumerate(zip(translations, twins, strict=True), 1):
        text_alone = 0 in (one.passes, other.passes)  # its tokens are words: see fastdecode.given
        if one.text == other.text if text_alone else one.tokens == other.tokens:
            continue
        known = one.score is not None and other.score is not None
        gap = abs(one.score - other.score) if known else None  # type: ignore[operator]
        found.append(Difference(line, one.text, other.text, one.score, other.score, gap))
    return found


def agreement(path: Path, twin: Path) -> dict[str, Any]:
    """Compare two translations files of the same lines, target and seed.

    Returns {target, system, seed, decoder, twin (of another system target/system/decoder), lines,
    identical, largest_gap (None if there is no difference with known scores), differences}.

    Raises UserError if the files do not belong together.
    """
    (header, sources, ours), (other, other_sources, theirs) = map(read_translations, (path, twin))
    origin, twin_origin = header["provenance"], other["provenance"]
    keys = ("target", "system", "seed")
    same = ("target", "seed")
    if sources != other_sources or any(origin[key] != twin_origin[key] for key in same):
        raise UserError(f"{path} and {twin} are not of the same target and lines: compare its twin")
    own = origin["system"] == twin_origin["system"]
    named = ("decoder",) if own else ("target", "system", "decoder")
    found = differing_lines(ours, theirs)
    gaps = [difference.gap for difference in found if difference.gap is not None]
    return {
        **{key: origin[key] for key in keys},
        "decoder": origin["decoder"],
        "twin": "/".join(twin_origin[key] for key in named),
        "lines": len(ours),
        "identical": len(ours) - len(found),
        "largest_gap": max(gaps, default=None),
        "differences": [difference._asdict() for difference in found],
    }


def apart(rows: Iterable[Mapping[str, Any]]) -> set[tuple[str, str, str]]:
    """Return target, system and decoder of what `agreement` found to differ by more than ties.

    That is on more than FEW of the lines, by scores more than GAP apart, or not known.
    """
    return {
        (row["target"], row["system"], row["decoder"])
        for row in rows
        if sum(one["gap"] is None or one["gap"] > GAP for one in row["differences"])
        > FEW * row["lines"]
    }
