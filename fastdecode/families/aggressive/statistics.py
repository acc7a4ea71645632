"""What is shown of draft and verify beside its translations.

Xia et al. (2022): `traces` is for table 11 and for figures 2 and 3.
"""

from typing import Any

from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.aggressive.decoders import DraftAndVerify, Look
from fastdecode.families.aggressive.eager import EagerDrafter, EagerVerifier
from fastdecode.families.aggressive.growth import Growth
from fastdecode.families.aggressive.rows import Decoder as Row
from fastdecode.families.aggressive.sides import verifier_of
from fastdecode.families.aggressive.verify import Accepted
from fastdecode.measure.statistic import Split, Statistic
from fastdecode.progress import track
from fastdecode.stages import Stopwatch
from fastdecode.system import System

RELAXED: dict[str, Any] = {"beta": 3, "tau": 1.0}
SETTINGS: dict[str, dict[str, Any]] = {
    "gad": {"beta": 1, "block": 10},  # table 11
    "gadpp": {**RELAXED, "block": 10},
    "gad-5": {"beta": 1, "block": 5},  # figures 2 and 3
    "gadpp-5": {**RELAXED, "block": 5},
}
TRIED = 100  # lines
KEPT = 8  # of them
SHORTEST, LONGEST = 6, 14  # tokens of a translation that is easily read
DEFINITION = (
    f"of the first {TRIED} lines those {KEPT} that show most: a translation by GAD of {SHORTEST} "
    f"to {LONGEST} tokens, in two iterations or more, and in fewer by GAD++; the earlier line of "
    "equals; and that which all drawings show, the number `drawn`. draft: tokens up to `</s>`, of "
    "which the first `accepted` are kept; word: the verifier's own behind them; candidates: its β "
    "likeliest tokens at each drafted token, and behind a draft without `</s>`, each with its "
    "log-probability below the highest; gaps: the same of the drafted tokens, null where a token "
    "may not stand"
)


def traces(system: System, split: Split) -> dict[str, Any]:
    """Return how a few sentences are drafted and verified, iteration by iteration.

    Raises UserError if there is no line to show, or no verifier.
    """
    recorders = {name: Recorder.of(system, Row(**row)) for name, row in SETTINGS.items()}
    chosen = split.readable(system)[:TRIED]
    if not chosen:
        raise UserError("no line of the split has words that fit into the model: nothing to trace")
    drawn = split.drawn if split.drawn in chosen else None
    lines = []
    for number in track(chosen, "traces", "lines", total=len(chosen)):
        source = split.sources[number]
        found = {name: recorder.trace(source) for name, recorder in recorders.items()}
        lines.append({"line": number, "source": source, "traces": found})
    lines.sort(key=_wanting)  # stable: of equals the earlier one
    kept = lines[:KEPT] + [line for line in lines[KEPT:] if line["line"] == drawn]
    return {"definition": DEFINITION, "settings": SETTINGS, "drawn": drawn, "lines": kept}


def _wanting(line: dict[str, Any]) -> int:
    """Count what a line does not show."""
    strict, relaxed = (line["traces"][name] for name in ("gad", "gadpp"))
    readable = SHORTEST <= len(strict["translation"]) <= LONGEST
    passes, fewer = len(strict["iterations"]), len(relaxed["iterations"])
    return sum((not readable, passes < 2, fewer >= passes))


class Recorder(DraftAndVerify):
    """The reference decoder, of one sentence at a time, which also keeps what it looked at."""

    @classmethod
    def of(cls, system: System, row: Row) -> "Recorder":
        """Return the recorder of a drafter with its verifier. Raises UserError without one."""
        models = EagerVerifier(verifier_of(system)), EagerDrafter(system)
        return cls(system, row, " ".join, Stopwatch(on=False), *models)

    def trace(self, source: list[str]) -> dict[str, Any]:
        """Return the translation of a sentence and the iterations in which it was written."""
        self._seen: list[dict[str, Any]] = []
        (translation,) = self([source])
        return {"translation": translation.tokens, "iterations": self._seen}

    def _decide(self, growth: Growth, *given: Tensor) -> Accepted:
        look = self._look(growth, *given)
        new = self._accept(look)
        prefix = growth.tokens[0, : int(growth.lengths)].tolist()
        written = new.tokens[0, : int(new.counts)].tolist()
        self._seen.append(self._described(prefix, look, written))
        return new

    def _described(self, prefix: list[int], look: Look, written: list[int]) -> dict[str, Any]:
        """Return an iteration that added `written`, the last of which may be the verifier's own."""
        drafted = look.drafts[0].tolist()
        kept = 0
        while kept < min(len(drafted), len(written)) and drafted[kept] == written[kept]:
            kept += 1
        eos = self._rules.eos
        if eos in drafted:
            drafted = drafted[: drafted.index(eos) + 1]
        places = len(drafted) + (eos not in drafted)
        logits = look.logits[0, :places]  # (n', V)
        highest = logits.topk(self._row.beta)  # (n', β)
        gaps = highest.values[:, :1] - logits  # (n', V)
        words = self._target
        own = written[kept:]  # a single one, or nothing behind an accepted `</s>`
        return {
            "prefix": [words[i] for i in prefix],
            "draft": [words[i] for i in drafted],
            "gaps": [_finite(gaps[place, i]) for place, i in enumerate(drafted)],
            "candidates": [
                [
                    (words[i], _finite(gaps[place, i]))
                    for i in best
                    if _finite(gaps[place, i]) is not None
                ]
                for place, best in enumerate(highest.indices.tolist())
            ],
            "accepted": kept,
            "word": words[own[0]] if own else None,
        }


def _finite(gap: Tensor) -> float | None:
    return float(gap) if gap.isfinite() else None


STATISTICS: dict[str, Statistic] = {"traces": traces}
