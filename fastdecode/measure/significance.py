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
    tests = PairedTests(reference, language, lowercase, shuffles, resamples)
    return tests.compare(tests.score(texts), tests.score(baseline))


@dataclass(frozen=True)
class Scored:
    """What a system's translations are compared by."""

    counts: Counts  # of each line
    drawn: Numbers  # BLEU of every resample

    @property
    def bleu(self) -> float:
        """BLEU of all lines."""
        return score_of(self.counts.sum(axis=0))


@dataclass(frozen=True)
class PairedTests:
    """A reference, and how translations are tested against one another with it."""

    reference: Sequence[str]
    language: str
    lowercase: bool
    shuffles: int = SHUFFLES
    resamples: int = RESAMPLES

    def score(self, texts: Sequence[str]) -> Scored:
        """Count and resample translations, once for all comparisons.

        Raises UserError if they are none, or not as many as the reference has lines.
        """
        if not texts or len(texts) != len(self.reference):
            raise UserError(
                f"{len(texts)} translations and {len(self.reference)} lines of the reference: "
                "compare systems on the same split, which is not empty"
            )
        counts = counts_of_lines(texts, self.reference, self.language, self.lowercase)
        return Scored(counts, resampled_counts(counts, self.resamples))

    def compare(self, own: Scored, baseline: Scored) -> Comparison:
        """Test a system against a baseline."""
        difference = own.bleu - baseline.bleu
        differences = own.drawn - baseline.drawn
        shuffled = _shuffled(own.counts, baseline.counts, self.shuffles)
        (mean, half), (baseline_mean, baseline_half) = map(estimate_ci, (own.drawn, baseline.drawn))
        return Comparison(
            bleu=own.bleu,
            low=float(mean - half),
            high=float(mean + half),
            baseline_bleu=baseline.bleu,
            baseline_low=float(baseline_mean - baseline_half),
            baseline_high=float(baseline_mean + baseline_half),
            difference=difference,
            p_randomisation=_p(shuffled, difference),
            p_bootstrap=_p(differences - differences.mean(), difference),
            lines=len(own.counts),
            changed=int((own.counts != baseline.counts).any(axis=1).sum()),
            shuffles=self.shuffles,
            resamples=self.resamples,
            signature_randomisation=self._signature(f"ar:{self.shuffles}"),
            # sacreBLEU's own p of its bootstrap is one-sided in effect
            signature_bootstrap=self._signature(f"bs:{self.resamples}") + "|p:two-sided",
        )

    def _signature(self, test: str) -> str:
        """Return the signature that sacreBLEU gives a test: of the metric, samples and seed."""
        scorer = text_bleu(self.language, self.lowercase)
        scorer.corpus_score(list(self.reference), [self.reference])
        references, _, rest = str(scorer.get_signature()).partition("|")
        return f"{references}|{test}|seed:{SEED}|{rest}"


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
    tests = PairedTests(reference, language, lowercase)
    systems = []
    for file in files:
        header, _, translations = read_translations(file)
        names = {key: header["provenance"][key] for key in NAMES}
        systems.append((names, tests.score([translation.text for translation in translations])))
    scored = {
        ("{target}/{system}/{decoder}".format(**names), names["seed"]): own
        for names, own in systems
    }
    rows = []
    for baseline in baselines:
        for names, own in track(systems, "significance", "systems", total=len(systems)):
            seed = names["seed"]
            if (baseline, seed) not in scored:
                raise UserError(f"no translations of {baseline} with seed {seed}: add them")
            compared = tests.compare(own, scored[baseline, seed])
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
