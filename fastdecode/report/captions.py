"""What those pictures show that belong to no paper, by what the names of their files begin with.

Nothing is imported that draws, since the workflow reads this before it knows whether it will.
"""

from collections.abc import Iterable
from pathlib import Path

LATENCY_FIGURES = {
    "latency_by_length": "latency by output length",
    "speedup_distribution": "speed-up line by line",
    "stages": "where the time goes",
}
CURVES = "learning_curves"


def captions(names: Iterable[str]) -> dict[str, str]:
    """Return name → caption of those that a page shows; a chart of its own takes pareto's place."""
    found = {}
    for name in names:
        kind, _, place = Path(name).stem.partition(".")
        if kind == CURVES:
            found[name] = "Learning curves"
        elif kind in LATENCY_FIGURES:
            what = LATENCY_FIGURES[kind]
            found[name] = f"{what[0].upper()}{what[1:]}: {place}"
    return found
