import numpy as np
import pytest
from numpy.typing import NDArray

from fastdecode.errors import UserError
from fastdecode.measure import resampling
from fastdecode.measure.metrics import text_bleu
from fastdecode.measure.resampling import (
    draws,
    resampled_bleu,
    resampled_bleu_by_length,
    resampled_rate,
    resampled_ratio,
    resampled_seeds,
    resampled_stages,
    resampled_time,
)

REFERENCE = [
    "the old dog sleeps in the house .",
    "a woman sees the red car today .",
    "yes .",
    "my friend has never bought such a beautiful book before .",
]
TEXTS = [
    "the old dog is sleeping in the house .",
    "a woman sees a red car .",
    "yes .",
    "my friend never bought such a beautiful book .",
]


def test_each_resample_has_the_bleu_of_its_lines() -> None:
    scorer = text_bleu("en", lowercase=False)
    found = resampled_bleu(TEXTS, REFERENCE, "en", lowercase=False, resamples=20)
    for drawn, score in zip(draws(len(TEXTS), 20), found, strict=True):
        texts = [TEXTS[i] for i in drawn]
        right = [[REFERENCE[i] for i in drawn]]
        assert score == pytest.approx(scorer.corpus_score(texts, right).score)
    assert found.std() > 0


def test_decoders_are_resampled_alike() -> None:
    worse = [text.replace("the", "this") for text in TEXTS]
    one, other = (resampled_bleu(t, REFERENCE, "en", lowercase=False) for t in (TEXTS, worse))
    assert (one >= other).all() and (one > other).mean() > 0.5
    assert (draws(5) == draws(5)).all() and draws(5).shape == (1000, 5)


def test_each_resample_has_the_bleu_of_its_lines_of_a_bucket() -> None:
    scorer = text_bleu("en", lowercase=False)
    lengths = [9, 12, 2, 11]  # words, of which a tokeniser of its own may make more
    found = resampled_bleu_by_length(TEXTS, REFERENCE, lengths, "en", False, resamples=40)
    assert list(found) == ["1-10", "11-20"]
    empty = 0
    for name, inside in (("1-10", {0, 2}), ("11-20", {1, 3})):
        for drawn, score in zip(draws(len(TEXTS), 40), found[name], strict=True):
            lines = [i for i in drawn if i in inside]
            empty += not lines
            if not lines:
                assert np.isnan(score)  # and not 0, as of a bad translation
                continue
            right = [[REFERENCE[i] for i in lines]]
            assert score == pytest.approx(
                scorer.corpus_score([TEXTS[i] for i in lines], right).score
            )
    assert empty


def test_lines_that_do_not_fit_are_refused() -> None:
    for texts in ([], TEXTS[:2]):
        with pytest.raises(UserError, match="lines of the reference"):
            resampled_bleu(texts, REFERENCE, "en", lowercase=False)
        with pytest.raises(UserError, match="lines of the reference"):
            resampled_bleu_by_length(texts, REFERENCE, [1] * 4, "en", lowercase=False)
    with pytest.raises(ValueError, match="zip"):
        resampled_bleu_by_length(TEXTS, REFERENCE, [1] * 5, "en", lowercase=False)


def test_times_are_medians_over_the_drawn_lines_and_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = {"lines": np.array([[0, 0, 1], [2, 2, 2]]), "repeats": np.array([[0] * 5, [4] * 5])}
    monkeypatch.setattr(resampling, "draws", lambda units, of="lines": drawn[of])
    times = np.array([[1.0, 3, 4, 5, 6], [5, 9, 9, 9, 9], [20, 40, 41, 42, 43]])  # (lines, repeats)
    assert resampled_time(times).tolist() == [1.0, 43.0]
    inside = np.array([True, True, False])
    stages = np.stack([times, 2 * times], axis=2)
    found = resampled_stages(stages, inside)[:2]
    assert found == pytest.approx(np.array([[7 / 3, 14 / 3], [np.nan] * 2]), nan_ok=True)
    assert resampled_rate(np.array([1.0, 2.0, 7.0, 8.0, 9.0])).tolist() == [1.0, 9.0]


def test_drift_between_repeats_widens_the_interval_of_a_time() -> None:
    lines = np.random.default_rng(1).uniform(9, 11, (200, 1))
    steady, drifting = lines + np.zeros(5), lines * np.array([1, 1.1, 1.2, 1.3, 1.4])
    assert resampled_time(steady).std() < 0.1 < 0.5 < resampled_time(drifting).std()
    ratio = resampled_time(2 * drifting) / resampled_time(drifting)  # which take turns
    assert ratio == pytest.approx(np.full(len(ratio), 2.0))


def test_lines_and_repeats_are_drawn_apart() -> None:
    assert (draws(9) != draws(9, of="repeats")).any()


def test_few_repeats_have_no_interval() -> None:
    assert np.isnan(resampled_rate(np.array([1.0, 1.1, 1.2, 1.3]))).all()
    times = np.ones((20, 4))
    assert np.isnan(resampled_time(times)).all()
    assert np.isnan(resampled_stages(times[..., None], np.ones(20, dtype=bool))).all()


def test_seeds_move_a_mean_as_far_as_their_deviation_says() -> None:
    seeds = np.array([[20.0], [23.0], [21.0]]) + np.zeros((3, 20_000))  # lines move nothing
    drawn = resampled_seeds(seeds, "raw/nat")
    assert drawn.mean() == pytest.approx(seeds.mean(), abs=0.05)
    assert drawn.var() == pytest.approx(seeds[:, 0].var(ddof=1) / 3, rel=0.05)


def test_intervals_of_three_seeds_are_too_narrow_as_they_say() -> None:
    """80 to 90 of 100 have the truth, where lines move nothing (claims.printed.CAPTION)."""
    random = np.random.default_rng(1)

    def covered(drawn: list[NDArray[np.float64]]) -> float:
        ends = [np.quantile(each, [0.025, 0.975]) for each in drawn]
        return float(np.mean([low <= 0 <= high for low, high in ends]))

    def seeds() -> NDArray[np.float64]:
        return random.normal(size=(3, 1)) + np.zeros((3, 1000))

    alone = covered([resampled_seeds(seeds(), "raw/dag") for _ in range(1000)])
    apart = covered(
        [
            resampled_seeds(seeds(), "raw/dag") - resampled_seeds(seeds(), "raw/nat")
            for _ in range(1000)
        ]
    )
    assert 0.78 < alone < 0.84 < apart < 0.90


def test_one_seed_is_resampled_by_lines_alone() -> None:
    of_lines = np.array([[20.0, 22.0, 21.0]])
    assert resampled_seeds(of_lines, "raw/nat").tolist() == of_lines[0].tolist()


def test_decoders_of_a_model_share_seeds_and_models_do_not() -> None:
    seeds = np.array([[20.0], [23.0], [21.0]]) + np.zeros((3, 1000))
    greedy, beam = (resampled_seeds(seeds + gain, "raw/dag") for gain in (0.0, 2.0))
    assert beam - greedy == pytest.approx(np.full(1000, 2.0))
    other = resampled_seeds(seeds, "raw/nat")
    assert abs(np.corrcoef(greedy, other)[0, 1]) < 0.1


def test_a_ratio_over_nothing_is_no_number() -> None:
    found = resampled_ratio(np.array([[0, 0], [3, 6]]), resamples=20)
    nothing = (draws(2, 20) == 0).all(axis=1)
    assert nothing.any() and np.isnan(found[nothing]).all()  # and not 0
    assert found[~nothing] == pytest.approx(0.5)


def test_stages_are_of_lines_inside_alone() -> None:
    times = np.array([1.0, 100.0])[:, None, None] + np.zeros((2, 5, 1))  # (lines, repeats, stages)
    found = resampled_stages(times, np.array([True, False]))
    assert set(found[~np.isnan(found)]) == {1.0}


def test_a_rate_is_the_median_of_the_repeats_drawn() -> None:
    rates = np.array([1.0, 2.0, 7.0, 8.0, 90.0])
    drawn = rates[draws(5, of="repeats")]
    assert resampled_rate(rates).tolist() == np.median(drawn, axis=1).tolist()


def test_case_counts_unless_it_was_lowered() -> None:
    loud = [text.upper() for text in TEXTS]
    plain = resampled_bleu(TEXTS, REFERENCE, "en", lowercase=False, resamples=5)
    assert resampled_bleu(loud, REFERENCE, "en", True, resamples=5).tolist() == plain.tolist()
    assert (resampled_bleu(loud, REFERENCE, "en", False, resamples=5) < plain / 2).all()
