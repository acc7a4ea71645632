import pytest
import torch
from fairseq.data import Dictionary

from fastdecode.framing import end_sentences, frame_sources, mask_of

LINES = [["a"], ["b", "a", "c"]]


@pytest.fixture
def words() -> Dictionary:
    made = Dictionary()
    for word in "abc":
        made.add_symbol(word)
    return made


def test_sources_end_and_are_padded(words: Dictionary) -> None:
    a, b, c = map(words.index, "abc")
    pad, end = words.pad(), words.eos()
    assert end_sentences(LINES, words).tolist() == [[a, end, pad, pad], [b, a, c, end]]
    left = end_sentences(LINES, words, left_pad=True)
    assert left.tolist() == [[pad, pad, a, end], [b, a, c, end]]
    framed = frame_sources(LINES, words)
    assert framed.tolist() == [[words.bos(), a, end, pad, pad], [words.bos(), b, a, c, end]]


def test_a_mask_is_true_where_there_are_tokens(words: Dictionary) -> None:
    mask = mask_of(end_sentences(LINES, words), words, map(len, LINES))
    assert mask is not None and mask.shape == (2, 1, 1, 4)
    assert torch.equal(mask[:, 0, 0].sum(1), torch.tensor([2, 4]))
    assert mask[0, 0, 0].tolist() == [True, True, False, False]


def test_there_is_no_mask_where_nothing_is_padded(words: Dictionary) -> None:
    assert mask_of(end_sentences(LINES[1:] * 2, words), words, [3, 3]) is None
