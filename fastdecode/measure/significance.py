"""Whether a difference in BLEU is more than chance: two tests over the same test set.

Paired approximate randomisation (Riezler and Maxwell 2005) swaps lines between the two systems,
paired bootstrap (Koehn 2004) draws lines with replacement. Both are two-sided. The bootstrap also
gives the 95% confidence interval of each system's BLEU.

The draws are sacreBLEU's, and its p of randomisation is the same where many lines differ. But it
counts the shuffles whose difference is *greater* than the true one: where few lines differ, or many
by equal amounts, the many that are as great are left out, and p is far too small. Its p of the
bootstrap compares absolute differences, which makes it one-sided in effect, about half of that
here.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.significance import estimate_ci

from fastdecode.errors import UserError
from fastdecode.measure.metrics import text_bleu
from fastdecode.measure.resampling import (
    RESAMPLES,
    SEED,
    Counts,
    Numbers,
    counts_of_lines,
    resampled_counts,
    score_of,
)
from fastdecode.progress import track
from fastdecode.translation import read_translations

SHUFFLES = 10_000  # of approximate randomisation: sacreBLEU's default
AT_ONCE = 1_000  # shuffles
ROUNDING = 1e-9  # of a BLEU
NAMES = ("target", "system", "decoder", "seed")


@dataclass(frozen=True)
class Comparison:
    """A system beside its baseline; BLEU in percent, `low` and `high` ends of its 95% interval."""

    bleu: float
    low: float
    high: float
    baseline_bleu: float
    baseline_low: float
    baseline_high: float
    difference: float  # the system's BLEU less the baseline's
    p_randomisation: float
    p_bootstrap: float
    lines: int
    changed: int  # lines that BLEU counts differently
    shuffles: int
    resamples: int
    signature_randomisation: str
    signature_bootstrap: str


def compare(
    texts: Sequence[str],
    baseline: Sequence[str],
    reference: Sequence[str],
    language: str,
    lowercase: bool,
    shuffles: int = SHUFFLES,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Test translations against those of a baseline; repeated, it gives the same numbers.

    Lines are detokenised; `language` and `lowercase` as in fastdecode.measure.quality.

    Raises UserError on an empty test set and on numbers of lines that differ.
    """
    if not texts or not len(texts) == len(baseline) == len(reference):
        raise UserError(
            f"{len(texts)} translations, {len(baseline)} of the baseline and {len(reference)} "
            "lines of the reference: compare two systems on the same split, which is not empty"
        )
    own, others = (
        counts_of_lines(lines, reference, language, lowercase) for lines in (texts, baseline)
    )
    bleu, baseline_bleu = score_of(own.sum(axis=0)), score_of(others.sum(axis=0))
    drawn, baseline_drawn = (resampled_counts(counts, resamples) for counts in (own, others))
    difference = bleu - baseline_bleu
    differences = drawn - baseline_drawn
    (mean, half), (baseline_mean, baseline_half) = map(estimate_ci, (drawn, baseline_drawn))
    return Comparison(
        bleu=bleu,
        low=float(mean - half),
        high=float(mean + half),
        baseline_bleu=baseline_bleu,
        baseline_low=float(baseline_mean - baseline_half),
        baseline_high=float(baseline_mean + baseline_half),
        difference=difference,
        p_randomisation=_p(_shuffled(own, others, shuffles), difference),
        p_bootstrap=_p(differences - differences.mean(), difference),
        lines=len(texts),
        changed=int((own != others).any(axis=1).sum()),
        shuffles=shuffles,
        resamples=resamples,
        signature_randomisation=_signature(reference, language, lowercase, f"ar:{shuffles}"),
        signature_bootstrap=_signature(reference, language, lowercase, f"bs:{resamples}"),
    )


def compare_files(
    files: Sequence[Path],
    baselines: Sequence[str],
    reference: Sequence[str],
    language: str,
    lowercase: bool,
) -> list[dict[str, Any]]:
    """Compare translations files, of one split, with each baseline's of the same seed among them.

    A baseline is target/system/decoder. Returns, for each of them and each file, its own included,
    a Comparison with the file's target, system, decoder and seed, and the baseline.

    Raises UserError where the baseline of a seed is missing.
    """
    systems = []
    for file in files:
        header, _, translations = read_translations(file)
        texts = [translation.text for translation in translations]
        systems.append(({key: header["provenance"][key] for key in NAMES}, texts))
    translated = {
        ("{target}/{system}/{decoder}".format(**names), names["seed"]): texts
        for names, texts in systems
    }
    rows = []
    for baseline in baselines:
        for names, texts in track(systems, "significance", "systems", total=len(systems)):
            seed = names["seed"]
            if (baseline, seed) not in translated:
                raise UserError(f"no translations of {baseline} with seed {seed}: add them")
            compared = compare(texts, translated[baseline, seed], reference, language, lowercase)
            rows.append({**names, "baseline": baseline, **asdict(compared)})
    return rows


def _shuffled(own: Counts, others: Counts, shuffles: int) -> Numbers:
    """Return the difference of every shuffle that swaps each line or does not, (R,)."""
    swaps = np.random.default_rng(SEED).integers(2, size=(shuffles, len(own)), dtype=bool)
    both, gained = (own + others).sum(axis=0), (others - own).astype(float)
    differences = []
    for some in range(0, shuffles, AT_ONCE):
        moved = swaps[some : some + AT_ONCE].astype(float) @ gained  # whole numbers, exactly
        for row in own.sum(axis=0) + moved.astype(int):
            differences.append(score_of(row) - score_of(both - row))
    return np.array(differences)


def _p(drawn: Numbers, difference: float) -> float:
    """Return how often chance gives a difference as great, either way, with the true one itself."""
    as_great = np.abs(drawn) >= abs(difference) - ROUNDING
    return float((as_great.sum() + 1) / (len(drawn) + 1))


def _signature(reference: Sequence[str], language: str, lowercase: bool, test: str) -> str:
    """Return sacreBLEU's signature of a test: that of the metric, samples and seed."""
    scorer = text_bleu(language, lowercase)
    scorer.corpus_score(list(reference), [reference])
    references, _, rest = str(scorer.get_signature()).partition("|")
    return f"{references}|{test}|seed:{SEED}|{rest}"
