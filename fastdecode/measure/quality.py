"""How good translations are: everything that is measured of one translations file.

Papers differ in which BLEU they report, so every variant is computed from the same translations.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from sacrebleu.metrics.chrf import CHRF

from fastdecode.corpus.bpe import join
from fastdecode.corpus.toy import read_references, share_right
from fastdecode.errors import UserError
from fastdecode.files import read_lines
from fastdecode.measure.ends import end_precisions
from fastdecode.measure.lengths import bleu_by_length
from fastdecode.measure.metrics import Metrics, metric, text_bleu, word_bleu
from fastdecode.measure.repetition import repetition_rate
from fastdecode.translation import Translation

COMPOUND = re.compile(r"(\S)-(\S)", re.ASCII)  # ASCII: a no-break space is not a space here


@dataclass(frozen=True)
class Generated:
    """A split of a corpus that the project writes itself, and so knows all right translations."""

    listed: Path
    """The file that lists right translations, of a line that has many some of them."""
    seed: int
    """Of the corpus."""
    split: str


def split_quality(
    translations: Sequence[Translation],
    raw: Path,
    tokenised: Path,
    generated: Generated | None,
    language: str,
    lowercase: bool,
) -> Metrics:
    """Return every metric of the translations of a split, whose target side two files hold.

    Where it is `generated`, `right` is the share of translations that are right, listed or not.

    Raises UserError as `quality` does, which says what the files are, and if one cannot be read.
    """
    listed = read_references(generated.listed) if generated else ()
    references = [line.references for line in listed] or None
    metrics = quality(
        translations,
        list(read_lines(raw)),
        list(read_lines(tokenised)),
        references,
        language,
        lowercase,
    )
    if generated:
        texts = [translation.text for translation in translations]
        metrics["right"] = metric(share_right(generated.seed, generated.split, texts), "share")
    return metrics


def quality(
    translations: Sequence[Translation],
    reference: Sequence[str],
    tokenised: Sequence[str],
    references: Sequence[Sequence[str]] | None,
    language: str,
    lowercase: bool,
) -> Metrics:
    """Return every metric by its name.

    `reference` holds the raw target lines and `tokenised` the same lines as the corpus was
    tokenised, without BPE; `references` holds, for each line, right translations (raw, any
    number of them), or is None. `language`, the target's code, chooses sacreBLEU's tokeniser: `zh`,
    `ja-mecab`, `ko-mecab`, else `13a`. `lowercase` ignores case, for corpora that were lowercased.

    Raises UserError on an empty test set, on numbers of lines that differ, on a line without any
    right translation, and where the tokeniser's own package is missing.
    """
    _check_counts(len(translations), reference, tokenised, references)
    texts = [translation.text for translation in translations]
    words = [join(" ".join(translation.tokens)) for translation in translations]

    bleu = text_bleu(language, lowercase)
    chrf = CHRF(lowercase=lowercase)
    on_words = word_bleu(lowercase)
    tokenised_score = on_words.corpus_score(words, [tokenised])
    split_score = on_words.corpus_score(split_compounds(words), [split_compounds(tokenised)])
    split = metric(split_score.score, "BLEU", on_words)
    split["signature"] += "|compounds:split"  # on both sides, which sacreBLEU does not know
    metrics: Metrics = {
        "bleu": metric(bleu.corpus_score(texts, [reference]).score, "BLEU", bleu),
        "chrf": metric(chrf.corpus_score(texts, [reference]).score, "chrF", chrf),
        "tokenised_bleu": metric(tokenised_score.score, "BLEU", on_words),
        "compound_split_bleu": split,
        "length_ratio": metric(tokenised_score.ratio, "words/word", on_words),
        "hypotheses": metric(len(texts), "lines"),
        "empty_hypotheses": metric(sum(not text.strip() for text in texts), "lines"),
        **_decoding(translations),
        **bleu_by_length(texts, reference, [len(line.split()) for line in tokenised], bleu),
        **end_precisions(words, tokenised, lowercase),
    }
    if references is not None:
        multi = text_bleu(language, lowercase)
        score = multi.corpus_score(texts, _streams(references)).score
        metrics["multi_reference_bleu"] = metric(score, "BLEU", multi)
        metrics["among_references"] = metric(_share_listed(texts, references, lowercase), "share")
    return metrics


def _decoding(translations: Sequence[Translation]) -> Metrics:
    """Return passes, how many tokens one adds to a line that has words, and repeated tokens.

    `</s>` is counted, so that greedy search adds one; where drafts are verified these are the
    tokens that an iteration accepts, of which the authors of GAD count those before `</s>`. Of
    translations that were made elsewhere, as text, neither passes nor BPE tokens are known.
    """
    written = [line for line in translations if line.passes]
    passes = sum(line.passes for line in written)
    if not passes:
        return {}
    tokens = sum(len(line.tokens) + 1 for line in written)
    return {
        "passes": metric(fmean(line.passes for line in translations), "passes/line"),
        "tokens_per_pass": metric(tokens / passes, "tokens/pass"),
        "repetition_rate": metric(repetition_rate(line.tokens for line in translations), "share"),
    }


def split_compounds(lines: Iterable[str]) -> list[str]:
    """Split tokens at hyphens, `U-Bahn` to `U ##AT##-##AT## Bahn`, as is customary for WMT14 En-De.

    The numbers of Xia et al. (2022) are of text so treated on both sides (ref.sh beside their
    code), mostly to a higher BLEU. One pass from the left leaves `x-y-z` with a hyphen, its `y`
    being spent, and makes three tokens of `@-@`, by which the tokeniser marks a hyphen.
    """
    return [COMPOUND.sub(r"\1 ##AT##-##AT## \2", line) for line in lines]


def _check_counts(
    count: int,
    reference: Sequence[str],
    tokenised: Sequence[str],
    references: Sequence[Sequence[str]] | None,
) -> None:
    if not count:
        raise UserError("no translations to score: the test set is empty; check its split")
    others = {"reference": reference, "tokenised reference": tokenised}
    if references is not None:
        others["list of right translations"] = references  # type: ignore[assignment]
    for name, lines in others.items():
        if len(lines) != count:
            raise UserError(
                f"{count} translations but {len(lines)} lines in the {name}: "
                "score translations of the same split, made from the same data"
            )
    for number, right in enumerate(references or [], 1):
        if not right:
            raise UserError(f"line {number} of the right translations is empty: make them again")


def _streams(references: Sequence[Sequence[str]]) -> list[list[Any]]:
    """Turn lines of references into sacreBLEU's streams; None where a line has no more of them."""
    return [
        [right[rank] if rank < len(right) else None for right in references]
        for rank in range(max(map(len, references)))
    ]


def _share_listed(
    texts: Sequence[str], references: Sequence[Sequence[str]], lowercase: bool
) -> float:
    """Return the share of lines whose text is exactly one of its references."""

    def same(text: str) -> str:
        return text.lower() if lowercase else text

    right = sum(
        same(text) in {same(reference) for reference in line}
        for text, line in zip(texts, references, strict=True)
    )
    return right / len(texts)
