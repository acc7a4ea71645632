import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.measure.lengths import NAMES, bleu_by_length, bucket
from fastdecode.measure.metrics import Metrics, text_bleu


def score(texts: list[str], reference: list[str]) -> Metrics:
    scorer = text_bleu("de", lowercase=False)
    return bleu_by_length(texts, reference, [len(line.split()) for line in reference], scorer)


@pytest.mark.parametrize(
    ("length", "name"),
    [
        (0, "1-10"),
        (1, "1-10"),
        (10, "1-10"),
        (11, "11-20"),
        (20, "11-20"),
        (21, "21-30"),
        (30, "21-30"),
        (31, "31-40"),
        (40, "31-40"),
        (41, "41-50"),
        (50, "41-50"),
        (51, "51+"),
        (500, "51+"),
    ],
)
def test_edges(length: int, name: str) -> None:
    assert bucket(length) == name


def words(count: int) -> str:
    return " ".join(f"w{number}" for number in range(count))


def test_each_bucket_is_scored_alone() -> None:
    reference = [words(8), words(15), words(9), words(60)]
    texts = [words(8), words(15)[:-3] + "xyz", "ganz falsch", words(60)]
    metrics = score(texts, reference)
    assert list(metrics) == [
        f"{what}_by_length/{name}"
        for name in ("1-10", "11-20", "51+")
        for what in ("bleu", "lines")
    ]
    assert metrics["lines_by_length/1-10"] == {"value": 2, "unit": "lines", "signature": None}
    alone = text_bleu("de", lowercase=False).corpus_score(texts[:3:2], [reference[:3:2]])
    assert metrics["bleu_by_length/1-10"]["value"] == alone.score
    assert 0 < alone.score < 90 < metrics["bleu_by_length/11-20"]["value"] < 100
    assert metrics["bleu_by_length/51+"]["value"] == pytest.approx(100)
    assert "tok:13a" in metrics["bleu_by_length/51+"]["signature"]


@given(st.lists(st.integers(1, 70)))
def test_buckets_partition_the_lines(lengths: list[int]) -> None:
    reference = [words(length) for length in lengths]
    metrics = score(reference, reference)
    counts = [m["value"] for name, m in metrics.items() if name.startswith("lines_by_length/")]
    assert sum(counts) == len(lengths)
    assert 0 not in counts
    assert len(counts) == len({bucket(length) for length in lengths}) <= len(NAMES)
