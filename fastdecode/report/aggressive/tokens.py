"""What became of every token of an iteration: of the draft, and of what the verifier says.

`iteration` is one of fastdecode.families.aggressive.statistics.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

GIVEN = "given"  # written in an iteration before
ACCEPTED = "accepted"  # drafted, and the verifier's likeliest
TOLERATED = "tolerated"  # drafted, not its likeliest, and accepted: by β and τ
REFUSED = "refused"  # drafted, the first that is not accepted
OWN = "own"  # the verifier's word, in the place of the refused one or behind a whole draft
DROPPED = "dropped"  # behind the refused one


class Marked(NamedTuple):
    """A token, and what became of it."""

    token: str
    state: str


def prefix(iteration: Mapping[str, Any]) -> list[Marked]:
    """Return the tokens written before."""
    return [Marked(token, GIVEN) for token in iteration["prefix"]]


def drafted(iteration: Mapping[str, Any]) -> list[Marked]:
    """Return the drafted tokens, up to `</s>`."""
    return [
        Marked(token, _accepted(iteration, i) or (REFUSED if _at(iteration, i) else DROPPED))
        for i, token in enumerate(iteration["draft"])
    ]


def verified(iteration: Mapping[str, Any]) -> list[Marked]:
    """Return what the verifier makes of them: its likeliest where it did not accept another."""
    found = []
    for i, candidates in enumerate(iteration["candidates"]):
        if accepted := _accepted(iteration, i):
            found.append(Marked(iteration["draft"][i], accepted))
        elif _at(iteration, i):
            found.append(Marked(iteration["word"], OWN))
        else:
            found.append(Marked(candidates[0][0], DROPPED))
    return found


def candidates(iteration: Mapping[str, Any]) -> list[list[tuple[Marked, float]]]:
    """Return the verifier's β likeliest tokens at each place, with their gaps to the likeliest.

    The one that was kept has its state, those of dropped places have that; all others have none.
    """
    places = []
    for i, (found, chosen) in enumerate(
        zip(iteration["candidates"], verified(iteration), strict=True)
    ):
        behind = i > iteration["accepted"]
        places.append(
            [
                (
                    Marked(
                        token, DROPPED if behind else chosen.state if token == chosen.token else ""
                    ),
                    gap,
                )
                for token, gap in found
            ]
        )
    return places


def _accepted(iteration: Mapping[str, Any], i: int) -> str:
    """Return how the i-th drafted token was accepted; nothing if it was not."""
    if i >= iteration["accepted"]:
        return ""
    best = iteration["candidates"][i][0][0]
    return ACCEPTED if iteration["draft"][i] == best else TOLERATED


def _at(iteration: Mapping[str, Any], i: int) -> bool:
    return bool(i == iteration["accepted"])
