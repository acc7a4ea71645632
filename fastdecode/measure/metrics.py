"""What a metric is, and the sacreBLEU scorers that give most of them (Post 2018, arXiv:1804.08771).

A metric is `{"value", "unit", "signature"}`, its value unrounded; the signature is sacreBLEU's, and
None where the value is no score of sacreBLEU's.
"""

from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from fastdecode.errors import UserError

Metric = dict[str, Any]
Metrics = dict[str, Metric]  # by name


def metric(value: float, unit: str, scorer: BLEU | CHRF | None = None) -> Metric:
    """Return one metric; `scorer` is what computed it, and must have done so already."""
    signature = str(scorer.get_signature()) if scorer else None
    return {"value": value, "unit": unit, "signature": signature}


def text_bleu(language: str, lowercase: bool, effective_order: bool = False) -> BLEU:
    """Return the scorer of detokenised text in `language`.

    Its tokeniser is sacreBLEU's own choice: `zh`, `ja-mecab`, `ko-mecab`, else `13a`.

    `lowercase` ignores case, for corpora that were lowercased. `effective_order` is for sentences
    that are scored alone: orders of n-grams for which one has none do not make its BLEU zero.

    Raises UserError where the tokeniser's own package is missing.
    """
    try:
        return BLEU(trg_lang=language, lowercase=lowercase, effective_order=effective_order)
    except RuntimeError:
        raise UserError(
            f"sacreBLEU's tokeniser for language {language!r} is not installed: "
            f"run `.venv/bin/pip install -e '.[{language}]'` in the project's folder"
        ) from None


def word_bleu(lowercase: bool) -> BLEU:
    """Return the scorer of lines whose tokens stand between spaces."""
    return BLEU(tokenize="none", lowercase=lowercase, force=True)  # force: no warning
