"""The statistic `accuracy`: reference tokens that are predicted where they belong.

Table 2 of Huang et al. (2022). Where they belong is the likeliest assignment of the reference to
the places of a prediction: slot for slot, an alignment, or a path.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastdecode.decode import batches
from fastdecode.errors import UserError
from fastdecode.measure.statistic import Lines, Split

if TYPE_CHECKING:
    from fastdecode.decode import System

MOST_TOKENS = 1024  # of a batch of sources
DEFINITION = (
    "share of reference tokens (BPE, without </s>) that are the likeliest token at their place in "
    "the likeliest assignment of the reference to what is predicted; a mean over its places for a "
    "token that has several; left_out: lines without words, too long, or without any assignment"
)

Right = Callable[[Lines, Lines], tuple[float, int, int]]
"""Takes sources and references of a batch. Returns how many tokens are right, of how many, and how
many lines have an assignment."""


def assigned(system: "System", split: Split, right: Right) -> dict[str, Any]:
    """Return the statistic: what `right` counts over the corpus's own references of the split.

    Raises UserError if there is no line to measure.
    """
    lines = split.readable(system, "real")
    sources = [split.sources[number] for number in lines]
    references = [split.references["real"][number] for number in lines]
    found, tokens, used = 0.0, 0, 0
    for group in batches(sources, MOST_TOKENS):
        more = right([sources[i] for i in group], [references[i] for i in group])
        found, tokens, used = found + more[0], tokens + more[1], used + more[2]
    if not tokens:
        raise UserError("no reference tokens to measure the accuracy of predictions with")
    return {
        "definition": DEFINITION,
        "accuracy": found / tokens,
        "tokens": tokens,
        "lines": used,
        "left_out": len(split.sources) - used,
    }
