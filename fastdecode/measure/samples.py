"""The statistic `samples`: drawn translations at several temperatures, how good and how alike.

Figure 8 of Huang et al. (2022): of every line as many samples as it has references. The measures
are those of diversity.py.
"""

from collections.abc import Callable, Sequence
from random import Random
from statistics import median_low
from typing import TYPE_CHECKING, Any

from fastdecode.errors import UserError
from fastdecode.measure.diversity import (
    multi_reference_bleu,
    pairwise_bleu,
    resampled_multi_reference_bleu,
    resampled_pairwise_bleu,
)
from fastdecode.measure.statistic import Lines, Split

if TYPE_CHECKING:
    from fastdecode.system import System

TEMPERATURES = (0.4, 0.6, 0.8, 1.0)
TOP_P = 0.8  # of the nucleus
MOST = 10  # samples of a line
SEED = 1  # of the first sample
DEFINITION = (
    "samples from a nucleus of 0.8: BLEU of each against the others of its line (pairwise), and "
    "against all but one of the line's references, averaged over that one (multi_reference); as "
    "many samples a line as references, of lines that have so many right translations: the "
    "first that is known (on toy the corpus's own) and others at random; "
    "resamples: the same of every resample of the lines"
)

Draw = Callable[[Lines, float, int], list[Lines]]
"""Takes sources (BPE tokens), a temperature and a number. Returns for each source so many samples,
as BPE tokens."""


def sampled(system: "System", split: Split, draw: Draw) -> dict[str, Any]:
    """Return the statistic: what `draw` draws, measured at each of TEMPERATURES.

    The number of samples is that of references which half of the lines have that have any, at most
    MOST.

    Raises UserError if the split has no several right translations.
    """
    if split.text is None:
        raise UserError(
            "samples are measured against several right translations of each line, and this "
            "split has none: take a corpus that the project writes itself, or one with `references`"
        )
    text = split.text
    count = min(MOST, median_low(map(len, filter(None, text.right))))
    if count < 2:
        raise UserError("half of the lines have one right translation alone: too few to compare")
    lines = [number for number in split.readable(system) if len(text.right[number]) >= count]
    references = [_some(text.right[number], count, number) for number in lines]
    points = []
    for temperature in TEMPERATURES:
        drawn = draw([split.sources[number] for number in lines], temperature, count)
        texts = [[text.finish(tokens) for tokens in samples] for samples in drawn]
        kind = (text.language, text.lowercase)
        moved = {
            "pairwise": resampled_pairwise_bleu(texts, *kind),
            "multi_reference": resampled_multi_reference_bleu(texts, references, *kind),
        }
        points.append(
            {
                "temperature": temperature,
                "pairwise": pairwise_bleu(texts, *kind),
                "multi_reference": multi_reference_bleu(texts, references, *kind),
                "resamples": {name: one.round(6).tolist() for name, one in moved.items()},
            }
        )
    return {
        "definition": DEFINITION,
        "samples": count,
        "lines": len(lines),
        "left_out": len(split.sources) - len(lines),
        "points": points,
    }


def _some(right: Sequence[str], count: int, line: int) -> list[str]:
    """Return the first, on toy the corpus's own, and others drawn at random.

    Where they are enumerated, neighbours are alike but for a word: the first ones would be a
    narrow choice, and punish samples that differ.
    """
    return [right[0], *Random(line).sample(right[1:], count - 1)]
