"""How good translations are: BLEU in its variants, chrF, lengths, and the share of right ones.

Papers differ in which BLEU they report, so every variant is computed from the same translations.
All scores come from sacreBLEU (Post 2018, arXiv:1804.08771), whose signature stands beside each.
"""

from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from fastdecode.corpus.bpe import join
from fastdecode.errors import UserError
from fastdecode.translation import Translation

Metrics = dict[str, dict[str, Any]]


def quality(
    translations: Sequence[Translation],
    reference: Sequence[str],
    tokenised: Sequence[str],
    references: Sequence[Sequence[str]] | None,
    language: str,
    lowercase: bool,
) -> Metrics:
    """Return every metric as `{name: {"value", "unit", "signature"}}`, unrounded.

    `reference` holds the raw target lines and `tokenised` the same lines as the corpus was
    tokenised, without BPE; `references` holds, for each line, right translations (raw, any
    number of them), or is None. `language`, the target's code, chooses sacreBLEU's tokeniser: `zh`,
    `ja-mecab`, else `13a`. `lowercase` ignores case, for corpora that were lowercased.

    Raises UserError on an empty test set, on numbers of lines that differ, on a line without any
    right translation, and where the tokeniser's own package is missing.
    """
    _check_counts(len(translations), reference, tokenised, references)
    texts = [translation.text for translation in translations]
    words = [join(" ".join(translation.tokens)) for translation in translations]

    bleu = _bleu(language, lowercase)
    chrf = CHRF(lowercase=lowercase)
    tokenised_bleu = BLEU(tokenize="none", lowercase=lowercase, force=True)  # force: no warning
    tokenised_score = tokenised_bleu.corpus_score(words, [tokenised])
    metrics: Metrics = {
        "bleu": _metric(bleu.corpus_score(texts, [reference]).score, "BLEU", bleu),
        "chrf": _metric(chrf.corpus_score(texts, [reference]).score, "chrF", chrf),
        "tokenised_bleu": _metric(tokenised_score.score, "BLEU", tokenised_bleu),
        "length_ratio": _metric(tokenised_score.ratio, "words/word", tokenised_bleu),
        "hypotheses": _metric(len(texts), "lines"),
        "empty_hypotheses": _metric(sum(not text.strip() for text in texts), "lines"),
    }
    if references is not None:
        multi = _bleu(language, lowercase)
        score = multi.corpus_score(texts, _streams(references)).score
        metrics["multi_reference_bleu"] = _metric(score, "BLEU", multi)
        metrics["among_references"] = _metric(_share_listed(texts, references, lowercase), "share")
    return metrics


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


def _bleu(language: str, lowercase: bool) -> BLEU:
    try:
        return BLEU(trg_lang=language, lowercase=lowercase)
    except RuntimeError:
        raise UserError(
            f"sacreBLEU's tokeniser for language {language!r} is not installed: "
            f"run `.venv/bin/pip install -e '.[{language}]'` in the project's folder"
        ) from None


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


def _metric(value: float, unit: str, metric: BLEU | CHRF | None = None) -> dict[str, Any]:
    signature = str(metric.get_signature()) if metric else None
    return {"value": value, "unit": unit, "signature": signature}
