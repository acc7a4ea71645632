"""By how much any two decoders of a run differ in BLEU, over their seeds, and how sure that is.

Intervals are those of the claims: other lines and other trainings would have moved both decoders
(see fastdecode.measure.resampling). With one seed they know nothing of other trainings.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd

from fastdecode.measure.metrics import text_bleu
from fastdecode.measure.resampling import interval, resampled_seeds
from fastdecode.measure.significance import PairedTests, Scored
from fastdecode.progress import track
from fastdecode.translation import read_translations

COLUMNS = [
    *("system", "seeds", "bleu"),
    *("other", "other_seeds", "other_bleu"),
    *("difference", "low", "high", "signature"),
]


def differences(
    files: Sequence[tuple[str, str, Path]],
    reference: Sequence[str],
    language: str,
    lowercase: bool,
) -> pd.DataFrame:
    """Return a row, with COLUMNS, for every two decoders: BLEU of the first less the second's.

    `files` are (target/system/decoder, the target/system whose seeds move it, translations), all of
    one split: several of one decoder are its seeds, over which BLEU is a mean. `reference` has the
    raw target lines; `language` and `lowercase` as in fastdecode.measure.quality. `low` and `high`
    are the ends of the 95% interval of the difference.

    Raises UserError on an empty test set and on numbers of lines that differ.
    """
    drawn_as = {decoder: model for decoder, model, _ in files}
    tests = PairedTests(reference, language, lowercase)
    scored: dict[str, list[Scored]] = {}
    for decoder, _, path in track(files, "differences", "translations", total=len(files)):
        _, _, translations = read_translations(path)
        found = tests.score([translation.text for translation in translations])
        scored.setdefault(decoder, []).append(found)
    bleu = {decoder: fmean(one.bleu for one in seeds) for decoder, seeds in scored.items()}
    moved = {
        decoder: resampled_seeds(np.stack([one.drawn for one in seeds]), drawn_as[decoder])
        for decoder, seeds in scored.items()
    }
    signature = _signature(language, lowercase)
    rows = [
        (
            *(one, len(scored[one]), bleu[one]),
            *(other, len(scored[other]), bleu[other]),
            *(bleu[one] - bleu[other], *interval(moved[one] - moved[other]), signature),
        )
        for one, other in combinations(bleu, 2)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).round(4)


def _signature(language: str, lowercase: bool) -> str:
    scorer = text_bleu(language, lowercase)
    scorer.corpus_score(["a"], [["a"]])  # knows the number of references by now
    return str(scorer.get_signature())
