"""What every resample of the test lines makes of a number that translations have, by its name.

Names are those of fastdecode.measure.quality, without what stands behind a slash or, of precisions,
without the order and the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from fastdecode.corpus.bpe import join
from fastdecode.measure.ends import end_counts
from fastdecode.measure.metrics import word_bleu
from fastdecode.measure.repetition import repeats
from fastdecode.measure.resampling import (
    Numbers,
    check_lines,
    resampled_bleu,
    resampled_bleu_by_length,
    resampled_ratio,
    resampled_seeds,
)
from fastdecode.translation import Translation, read_translations

# Numbers that are one sum over lines by another, and what a line adds to both.
RATIOS: dict[str, Callable[[Translation], tuple[int, int]]] = {
    "passes": lambda line: (line.passes, 1),
    "tokens_per_pass": lambda line: (len(line.tokens) + 1, line.passes) if line.passes else (0, 0),
    "repetition_rate": lambda line: (repeats(line.tokens), len(line.tokens)),
}


@dataclass(frozen=True)
class Reference:
    """The right side of a split, as fastdecode.measure.quality takes it."""

    raw: Sequence[str]
    tokenised: Sequence[str]  # without BPE
    language: str
    lowercase: bool


def resamples(
    name: str, translations: Sequence[Translation], reference: Reference
) -> dict[str, Numbers]:
    """Return the number of every resample, (R,), by what of the lines it is of; "" if of all.

    That is a bucket of lengths, or the order and the end of a precision, which is in percent. What
    is not known, as the passes of translations made elsewhere, is NaN.

    Raises UserError on an empty test set and on numbers of lines that differ.
    """
    check_lines(len(translations), len(reference.raw))
    if name in RATIOS:
        each = np.array(list(map(RATIOS[name], translations)))
        if not any(line.passes for line in translations):  # made elsewhere
            each[:] = 0
        return {"": resampled_ratio(each)}
    if name == "end_precision":
        words = [join(" ".join(line.tokens)) for line in translations]
        counts = end_counts(words, reference.tokenised, word_bleu(reference.lowercase))
        return {end: 100 * resampled_ratio(lines) for end, lines in counts.items()}
    texts = [line.text for line in translations]
    kind = (reference.language, reference.lowercase)
    if name == "bleu_by_length":
        lengths = [len(line.split()) for line in reference.tokenised]
        return resampled_bleu_by_length(texts, reference.raw, lengths, *kind)
    return {"": resampled_bleu(texts, reference.raw, *kind)}


def resample_files(
    name: str,
    files: Sequence[tuple[str, str, Path]],
    reference: Reference,
) -> pd.DataFrame:
    """Return what resamples() finds in translations files of one split, means over seeds.

    `files` are (decoder, what its seeds are drawn as, translations): several of one decoder are its
    seeds. Columns are decoders, a part behind a slash.

    Raises UserError as resamples does.
    """
    drawn_as = {decoder: model for decoder, model, _ in files}
    found: dict[tuple[str, str], list[Numbers]] = {}
    for decoder, _, path in files:
        _, _, translations = read_translations(path)
        for part, numbers in resamples(name, translations, reference).items():
            found.setdefault((decoder, part), []).append(numbers)
    means = {
        f"{decoder}/{part}" if part else decoder: resampled_seeds(
            np.stack(seeds), drawn_as[decoder]
        )
        for (decoder, part), seeds in found.items()
    }
    return pd.DataFrame(means).round(9)
