"""Conditions in words: by these a verdict that was kept is known to be on the present claim."""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from fastdecode.config.claims import Check, Claim, Inner, Term

# behind the name of a curve, in a condition at one x
AT_X = re.compile(r"@-?\d[\d.e+-]*(?=[ ,)]|$)")


def in_words(term: Term | Inner) -> str:
    """Return a number as words."""
    if isinstance(term, str):
        return term
    ((operation, parts),) = term.items()
    words = [in_words(part) for part in parts]
    sign = {"sum": " + ", "minus": " − ", "ratio": " / "}.get(operation)
    return f"({sign.join(words)})" if sign else f"{operation}({', '.join(words)})"


def rising(low: Term, high: Term) -> str:
    """Return the words of two neighbours of an order."""
    return f"{in_words(low)} < {in_words(high)}"


def equal(one: Term, other: Term) -> str:
    """Return the words of two numbers that are to be equal."""
    return f"{in_words(one)} = {in_words(other)}"


def bounded(value: Term, bottom: float | None, top: float | None) -> str:
    """Return the words of a number between bounds."""
    text = in_words(value)
    if bottom is not None:
        text = f"{bottom:g} < {text}"
    return text if top is None else f"{text} < {top:g}"


def whole(check: Check) -> str:
    """Return the words of all numbers of a condition, where it could be looked at nowhere."""
    return " < ".join(map(in_words, check.rising)) or ", ".join(map(in_words, check.terms()))


def remaining(claim: Claim, kept: Collection[str]) -> set[str]:
    """Return the conditions that a claim was judged by and still has; none if it now has others.

    On curves a condition was one at each x. Where a condition is looked at (the artifacts, the
    panel, between points, at which share) has no words of its own: who changes that changes the
    claim's reading, which is kept, too.
    """
    known: set[str] = set()
    for check in claim.check:
        wanted, nowhere = {*_texts(check)}, whole(check)
        on_curves = not any("@" in cell for cell in check.cells())
        found = {text: AT_X.sub("", text) if on_curves else text for text in kept}
        if nowhere not in kept and not wanted <= {*found.values()}:
            return set()
        known |= {text for text in kept if found[text] in {*wanted, nowhere}}
    return known


def _texts(check: Check) -> Iterator[str]:
    for low, high in pairwise(check.rising):
        yield rising(low, high)
    for one, other in pairwise(check.equal):
        yield equal(one, other)
    if check.value is not None:
        yield bounded(check.value, check.above, check.below)
