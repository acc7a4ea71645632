"""Whether a difference in BLEU is more than chance: two tests over the same test set.

Both are sacreBLEU's own: paired approximate randomisation (Riezler and Maxwell 2005), which swaps
lines between the two systems, and paired bootstrap (Koehn 2004), which draws lines with
replacement. The bootstrap also gives the 95% confidence interval of each system's BLEU.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from fastdecode.errors import UserError
from fastdecode.measure.metrics import text_bleu
from fastdecode.progress import track
from fastdecode.translation import read_translations

SHUFFLES = 10_000  # of approximate randomisation: sacreBLEU's default
RESAMPLES = 1_000  # of the bootstrap: sacreBLEU's default
SEED = 12345  # sacreBLEU's default
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

    sacreBLEU's randomisation counts the shuffles whose difference is greater than the true one, so
    that a system that differs from its baseline in no line, or in one, gets the smallest p there
    is. Two shuffles always give the true difference, the one that swaps nothing and the one that
    swaps everything; their share, 2 of 2^changed, is added here. It is nothing where many lines
    differ. The bootstrap of equal systems, which has the same fault, is given its p of 1.

    Raises UserError on an empty test set and on numbers of lines that differ.
    """
    if not texts or not len(texts) == len(baseline) == len(reference):
        raise UserError(
            f"{len(texts)} translations, {len(baseline)} of the baseline and {len(reference)} "
            "lines of the reference: compare two systems on the same split, which is not empty"
        )
    scorer = text_bleu(language, lowercase)

    ar_signature, _, shuffled = _test("ar", shuffles, texts, baseline, reference, scorer)
    bs_signature, base, drawn = _test("bs", resamples, texts, baseline, reference, scorer)
    changed = _changed(texts, baseline, reference, language, lowercase)
    return Comparison(
        bleu=drawn.score,
        low=float(drawn.mean - drawn.ci),
        high=float(drawn.mean + drawn.ci),
        baseline_bleu=base.score,
        baseline_low=float(base.mean - base.ci),
        baseline_high=float(base.mean + base.ci),
        difference=drawn.score - base.score,
        p_randomisation=min(1.0, shuffled.p_value + 2.0 ** (1 - changed)),
        p_bootstrap=drawn.p_value if changed else 1.0,
        lines=len(texts),
        changed=changed,
        shuffles=shuffles,
        resamples=resamples,
        signature_randomisation=ar_signature,
        signature_bootstrap=bs_signature,
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


def _test(
    kind: str,
    samples: int,
    texts: Sequence[str],
    baseline: Sequence[str],
    reference: Sequence[str],
    scorer: BLEU,
) -> tuple[str, Any, Any]:
    """Run sacreBLEU's test `ar` or `bs`; return its signature, the baseline's result, the other."""
    systems = [("baseline", baseline), ("system", texts)]
    with _seeded():
        signatures, results = PairedTest(systems, {"BLEU": scorer}, [reference], kind, samples)()
    base, system = results["BLEU"]
    return str(signatures["BLEU"]), base, system


@contextmanager
def _seeded() -> Iterator[None]:
    """Seed sacreBLEU, which reads its seed from the environment alone."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(SEED)
    try:
        yield
    finally:
        del os.environ["SACREBLEU_SEED"]
        if before is not None:
            os.environ["SACREBLEU_SEED"] = before


def _changed(
    texts: Sequence[str],
    baseline: Sequence[str],
    reference: Sequence[str],
    language: str,
    lowercase: bool,
) -> int:
    """Count the lines whose n-grams or length BLEU counts differently for the two systems."""
    scorer = text_bleu(language, lowercase, effective_order=True)

    def counts(text: str, right: str) -> tuple[int, list[int], list[int]]:
        score = scorer.sentence_score(text, [right])
        return score.sys_len, score.counts, score.totals

    return sum(
        text != other and counts(text, right) != counts(other, right)
        for text, other, right in zip(texts, baseline, reference, strict=True)
    )
