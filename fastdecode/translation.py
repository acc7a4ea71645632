"""One translation as every decoder returns it, and the file in which translations are kept."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from fastdecode.errors import UserError
from fastdecode.files import open_to_write, read_lines

Finish = Callable[[list[str]], str]
"""What turns the BPE tokens of a translation into its text."""
NOT_FINITE = (
    "the scores of this model are no finite numbers, so that it cannot be searched: train it anew, "
    "or, if its precision is half, decode it with precision: fp32"
)
MEND = "name a file that a run wrote, or, if one left it damaged, delete it and run again"


def finite(scores: Sequence[float]) -> Sequence[float]:
    """Return the scores of translations; raise UserError if one of them is no finite number."""
    if not all(map(isfinite, scores)):
        raise UserError(NOT_FINITE)
    return scores


@dataclass(frozen=True)
class Translation:
    """What a decoder returns for one source line."""

    text: str  # detokenised
    tokens: list[str]  # BPE tokens, without the end of the sentence
    score: float | None  # the decoder's own; None where it has none
    passes: int  # how often the decoder ran
    accepted: list[int] = field(default_factory=list)  # tokens kept, pass by pass; empty: no drafts
    stages: dict[str, float] = field(default_factory=dict)  # seconds by stage; empty: not timed


def write_translations(
    path: Path,
    header: Mapping[str, Any],
    sources: Sequence[str],
    translations: Iterable[Translation],
) -> None:
    """Write translations as JSONL (gzipped if the name ends in `.gz`), in the order of `sources`.

    The first line is `header`, usually `{"provenance": {…}}`, with "lines", the number of
    translations that follow. Each of these has "index" (from 0), "source", "text", "tokens",
    "score", "passes" and "accepted". Stage times are left out, because equal translations have to
    give equal bytes. Raises ValueError unless there is one translation for each source, and
    UserError if a score is no finite number.
    """
    with open_to_write(path) as file:
        file.write(_dump({**header, "lines": len(sources)}))
        for index, (source, translation) in enumerate(zip(sources, translations, strict=True)):
            if translation.score is not None:
                finite([translation.score])
            line = {
                "index": index,
                "source": source,
                "text": translation.text,
                "tokens": translation.tokens,
                "score": translation.score,
                "passes": translation.passes,
                "accepted": translation.accepted,
            }
            file.write(_dump(line))


def read_translations(path: Path) -> tuple[dict[str, Any], list[str], list[Translation]]:
    """Read what write_translations wrote: the header, the sources, the translations.

    Raises UserError on a missing file, a line that is not as written there, and a file that holds
    fewer or more translations than its header says.
    """
    header: dict[str, Any] = {}
    sources: list[str] = []
    translations: list[Translation] = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            entry = json.loads(line)
            if number == 1:
                header, expected = entry, int(entry["lines"])
                continue
            if entry["index"] != len(sources):
                raise ValueError(f"index {entry['index']} where {len(sources)} should be")
            sources.append(entry["source"])
            translations.append(
                Translation(
                    text=entry["text"],
                    tokens=entry["tokens"],
                    score=entry["score"],
                    passes=entry["passes"],
                    accepted=entry["accepted"],
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{path}, line {number}: not a line of a translations file "
                f"({type(error).__name__}: {error}): {MEND}"
            ) from None
    if not header:
        raise UserError(f"{path}: empty file: {MEND}")
    if len(translations) != expected:
        raise UserError(
            f"{path}: its header counts {expected} translations but {len(translations)} "
            f"follow: {MEND}"
        )
    return header, sources, translations


def _dump(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"
