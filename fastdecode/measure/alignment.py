"""How many links of word alignments are wrong, where the true ones are known."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from fastdecode.corpus.bpe import MARK
from fastdecode.corpus.links import Link, parse_links
from fastdecode.errors import UserError
from fastdecode.files import read_lines, read_pairs


def project_to_words(links: Iterable[Link], source: str, target: str) -> list[Link]:
    """Turn links between the pieces of two BPE lines into links between their words, sorted."""
    source_words, target_words = _word_of_piece(source), _word_of_piece(target)
    return sorted({(source_words[i], target_words[j]) for i, j in links})


def _word_of_piece(line: str) -> list[int]:
    words, word = [], 0
    for piece in line.split():
        words.append(word)
        word += not piece.endswith(MARK)
    return words


def alignment_error(
    predicted: Iterable[Sequence[Link]], gold: Iterable[Sequence[Link]]
) -> dict[str, float]:
    """Compare alignments, one a sentence pair, with gold ones whose links are all sure.

    Returns `precision` and `recall` over all links, and `aer`, the alignment error rate (Och and
    Ney, 2003), 1 - 2 |A ∩ G| / (|A| + |G|).

    Raises UserError if there is no gold link, or not the same number of sentence pairs.
    """
    found = right = sure = 0
    try:
        for ours, theirs in zip(predicted, gold, strict=True):
            found += len(set(ours))
            sure += len(set(theirs))
            right += len(set(ours) & set(theirs))
    except ValueError:
        raise UserError("predicted and gold alignments differ in their number of lines") from None
    if not sure:
        raise UserError("the gold alignment has no links: nothing to compare with")
    return {
        "precision": right / found if found else 0.0,
        "recall": right / sure,
        "aer": 1 - 2 * right / (found + sure),
    }


def alignment_errors(
    alignments: Sequence[Path],
    source: Path,
    target: Path,
    kept: Path,
    gold: Iterable[Sequence[Link]],
) -> dict[str, dict[str, float]]:
    """Compare alignments of a training text with the true links; return their errors by name.

    `alignments` are of BPE pieces, `gold` of words: of every pair of the raw text, of which the
    file `kept` has the numbers of those that are in `source` and `target`.

    Raises UserError as alignment_error does, and on sides of unequal length.
    """
    of_raw = list(gold)
    true = [of_raw[int(number)] for number in read_lines(kept)]
    pairs = list(read_pairs(source, target))
    return {
        path.name.removesuffix(".gz"): alignment_error(
            (
                project_to_words(parse_links(line), *pair)
                for line, pair in zip(read_lines(path), pairs, strict=True)
            ),
            true,
        )
        for path in alignments
    }
