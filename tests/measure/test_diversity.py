from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from fastdecode.errors import UserError
from fastdecode.measure.diversity import (
    multi_reference_bleu,
    pairwise_bleu,
    resampled_multi_reference_bleu,
    resampled_pairwise_bleu,
)
from fastdecode.measure.resampling import draws

CAT = "the cat sat on the mat ."
DOG = "a dog lay under the old table ."
HYPOTHESES = [[CAT, "the cat sat on it ."], [DOG, "a dog lay under my old table ."]]
REFERENCES = [[CAT, "on the mat sat a cat ."], ["there lay a dog .", DOG]]
SENTENCE = st.lists(st.sampled_from("abcde"), min_size=4, max_size=8).map(" ".join)


def corpus(texts: list[str], *references: list[str]) -> float:
    return float(BLEU().corpus_score(texts, references).score)


def test_pairwise_bleu_takes_every_pair_both_ways() -> None:
    (a, b), (c, d) = HYPOTHESES
    found = pairwise_bleu(HYPOTHESES, "en", False)
    assert found["value"] == pytest.approx(corpus([a, b, c, d], [b, a, d, c]))
    assert found["unit"] == "BLEU" and "tok:13a" in found["signature"]


def test_a_line_with_one_hypothesis_has_no_pair() -> None:
    found = pairwise_bleu([*HYPOTHESES, ["alone ."]], "en", False)
    assert found == pairwise_bleu(HYPOTHESES, "en", False)
    with pytest.raises(UserError, match="no line has two hypotheses"):
        pairwise_bleu([["alone ."]], "en", False)


def test_multi_reference_bleu_leaves_out_each_reference_in_turn() -> None:
    texts = list(chain(*HYPOTHESES))
    first, second = ([line[rank] for line in REFERENCES for _ in range(2)] for rank in range(2))
    found = multi_reference_bleu(HYPOTHESES, REFERENCES, "en", False)
    assert found["value"] == pytest.approx((corpus(texts, first) + corpus(texts, second)) / 2)
    assert "nrefs:1" in found["signature"]
    thrice = [[*line, line[0]] for line in REFERENCES]
    more = multi_reference_bleu(HYPOTHESES, thrice, "en", False)
    expected = 2 * corpus(texts, first, second) + corpus(texts, first)
    assert more["value"] == pytest.approx(expected / 3)
    assert "nrefs:2" in more["signature"]


def test_each_resample_has_the_scores_of_its_lines() -> None:
    hypotheses = [*HYPOTHESES, ["a cat lay on it .", "the dog sat under it ."]]
    references = [*REFERENCES, ["the dog lay under it .", "it lay under the dog ."]]
    pairwise = resampled_pairwise_bleu(hypotheses, "en", False, resamples=10)
    several = resampled_multi_reference_bleu(hypotheses, references, "en", False, resamples=10)
    for lines, alike, good in zip(draws(3, 10), pairwise, several, strict=True):
        texts, right = ([one[i] for i in lines] for one in (hypotheses, references))
        assert alike == pytest.approx(pairwise_bleu(texts, "en", False)["value"])
        assert good == pytest.approx(multi_reference_bleu(texts, right, "en", False)["value"])
    assert pairwise.std() > 0 and several.std() > 0
    alone = resampled_pairwise_bleu([*hypotheses, ["alone ."]], "en", False, resamples=10)
    assert alone.tolist() == pairwise.tolist()


@pytest.mark.parametrize(
    ("hypotheses", "references"), [([], []), ([["a"]], [[]]), ([[]], [["a"]]), ([["a"]], [])]
)
def test_lines_without_anything(hypotheses: list[list[str]], references: list[list[str]]) -> None:
    with pytest.raises(UserError, match="line"):
        multi_reference_bleu(hypotheses, references, "en", False)


def test_case() -> None:
    loud = [[text.upper() for text in line] for line in HYPOTHESES]
    plain = multi_reference_bleu(HYPOTHESES, REFERENCES, "en", False)["value"]
    assert multi_reference_bleu(loud, REFERENCES, "en", True)["value"] == pytest.approx(plain)
    assert multi_reference_bleu(loud, REFERENCES, "en", False)["value"] < plain / 2
    drawn = resampled_multi_reference_bleu(HYPOTHESES, REFERENCES, "en", False, resamples=5)
    lowered = resampled_multi_reference_bleu(loud, REFERENCES, "en", True, resamples=5)
    assert lowered.tolist() == drawn.tolist()


@pytest.mark.parametrize("references", [[["a"], ["b"]], [["a", "b"], ["c", "d", "e"]]])
def test_multi_reference_bleu_needs_equally_many(references: list[list[str]]) -> None:
    with pytest.raises(UserError, match=r"lines have from \d to . references"):
        multi_reference_bleu([["a"], ["b"]], references, "en", False)


@given(st.lists(SENTENCE, min_size=1, max_size=5), st.integers(2, 4))
def test_equal_hypotheses_are_not_diverse(lines: list[str], count: int) -> None:
    found = pairwise_bleu([[line] * count for line in lines], "en", False)
    assert found["value"] == pytest.approx(100)
