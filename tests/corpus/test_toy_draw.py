import pytest

from fastdecode.corpus.toy.draw import Draw


def test_a_key_gives_the_same_draws_everywhere_and_for_ever() -> None:
    draw = Draw(1, "train", 0)
    assert [draw.below(1000) for _ in range(6)] == [408, 48, 239, 436, 434, 616]
    assert Draw(1, "train", 1).below(1000) != Draw(1, "valid", 1).below(1000)


def test_weights_and_early_options() -> None:
    draw = Draw("weights")
    drawn = [draw.weighted([(3, "a"), (0, "b"), (1, "c")]) for _ in range(4000)]
    assert drawn.count("b") == 0
    assert drawn.count("a") / len(drawn) == pytest.approx(0.75, abs=0.03)
    early = [draw.early("abcdef") for _ in range(4000)]
    counts = [early.count(letter) for letter in "abcdef"]
    assert counts == sorted(counts, reverse=True)
