"""The statistic `accuracy`: reference tokens that are predicted where they belong.

Table 2 of Huang et al. (2022). Where they belong is the likeliest assignment of the reference to
the places of a prediction: slot for slot, an alignment, or a path.
"""

from collections.abc import Callable
from typing import Any

from fastdecode.decode import batches
from fastdecode.measure.statistic import Counted, Lines, Split, share
from fastdecode.system import System

MOST_TOKENS = 1024  # of a batch of sources
DEFINITION = (
    "share of reference tokens (BPE, without </s>) that are the likeliest token at their place in "
    "the likeliest assignment of the reference to what is predicted; a mean over its places for a "
    "token that has several; left_out: lines without words, too long, or without any assignment; "
    "by_line: right tokens and all, of every line"
)

Right = Callable[[Lines, Lines], list[Counted]]
"""Takes sources and references of a batch. Returns of each line how many tokens are right, of how
many; of none where it has no assignment."""


def assigned(system: System, split: Split, right: Right) -> dict[str, Any]:
    """Return the statistic: what `right` counts over the corpus's own references of the split.

    Raises UserError if there is no line to measure.
    """
    lines = split.readable(system, "real")
    sources = [split.sources[number] for number in lines]
    references = [split.references["real"][number] for number in lines]
    counted: dict[int, Counted] = {}
    for group in batches(sources, MOST_TOKENS):
        found = right([sources[i] for i in group], [references[i] for i in group])
        counted |= {lines[i]: one for i, one in zip(group, found, strict=True)}
    every = split.by_line(counted)
    used = sum(tokens > 0 for _, tokens in every)
    return {
        "definition": DEFINITION,
        "accuracy": share(every, "accuracy of predictions"),
        "tokens": sum(tokens for _, tokens in every),
        "lines": used,
        "left_out": len(split.sources) - used,
        "by_line": {"": every},
    }
