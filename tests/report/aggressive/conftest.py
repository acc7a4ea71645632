"""A made trace: one sentence, strictly and tolerantly verified."""

from typing import Any

import pytest

from fastdecode.report.artifacts.evidence import Evidence, Part

SOURCE = ["the", "old", "dog", "sleeps", "in", "the", "ga@@", "rden", "."]


def iteration(
    prefix: str, draft: str, accepted: int, word: str | None, candidates: list[str], step: float
) -> dict[str, Any]:
    """Return an iteration; candidates of a place are words, each `step` below the one before."""
    ranked = [[(w, n * step) for n, w in enumerate(place.split())] for place in candidates]
    gaps = [
        dict(place).get(token, 7.5) for token, place in zip(draft.split(), ranked, strict=False)
    ]
    return {
        "prefix": prefix.split(),
        "draft": draft.split(),
        "accepted": accepted,
        "word": word,
        "candidates": ranked,
        "gaps": gaps,
    }


STRICT = [
    iteration(
        "",
        "der Hund Hund schläft im",
        1,
        "alte",
        ["der", "alte", "schläft", "im", "Garten", "."],
        1,
    ),
    iteration(
        "der alte",
        "Hund ruht im Gar@@ ten",
        1,
        "schläft",
        ["Hund", "schläft", "im", "Gar@@", "ten", "."],
        1,
    ),
    iteration(
        "der alte Hund schläft",
        "im Gar@@ ten . </s>",
        5,
        None,
        ["im", "Gar@@", "ten", ".", "</s>"],
        1,
    ),
]
RELAXED = [
    STRICT[0],
    iteration(
        "der alte",
        "Hund ruht im Garten Gar@@",
        3,
        "Gar@@",
        [
            "Hund Rüde Köter",
            "schläft ruht döst",
            "im in unter",
            "Gar@@ Park Hof",
            "ten . <unk>",
            ". und ,",
        ],
        0.5,
    ),
    iteration(
        "der alte Hund ruht im Gar@@", "ten . </s>", 3, None, ["ten te t", ". ! ;", "</s> und ,"], 2
    ),
]


@pytest.fixture
def evidence(origin: dict[str, Any]) -> Any:
    """Return what makes the evidence of an artifact."""
    made = {"gad": STRICT, "gadpp": RELAXED, "gad-5": STRICT, "gadpp-5": RELAXED}
    result = {
        "gad": "der alte Hund schläft im Gar@@ ten .",
        "gadpp": "der alte Hund ruht im Gar@@ ten .",
    }
    found = {
        name: {"translation": result[name.removesuffix("-5")].split(), "iterations": steps}
        for name, steps in made.items()
    }
    document = {
        "provenance": {**origin, "statistic": "traces"},
        "settings": {},
        "lines": [{"line": 3, "source": SOURCE, "traces": found}],
    }

    def make(artifact: Any) -> Evidence:
        import pandas as pd

        return Evidence(artifact, pd.DataFrame(), {"toy": Part("test", "test", {})}, [document])

    return make
