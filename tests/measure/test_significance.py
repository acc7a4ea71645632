from collections.abc import Sequence
from dataclasses import asdict
from math import comb
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from fastdecode.errors import UserError
from fastdecode.measure.significance import NAMES, Comparison, compare, compare_files
from fastdecode.translation import Translation, write_translations

random = Random(1)
REFERENCE = [" ".join(random.choices("abcdefg", k=random.randint(5, 12))) for _ in range(40)]


def spoil(lines: Sequence[str], count: int, token: str = "x") -> list[str]:
    """Replace the third token of the first `count` lines."""
    return [
        " ".join([*line.split()[:2], token, *line.split()[3:]]) if number < count else line
        for number, line in enumerate(lines)
    ]


def measure(texts: Sequence[str], baseline: Sequence[str], **more: int) -> Comparison:
    samples = {"shuffles": 200, "resamples": 50} | more
    return compare(texts, baseline, REFERENCE, "en", False, **samples)


def bleu(texts: Sequence[str]) -> float:
    return float(BLEU().corpus_score(texts, [REFERENCE]).score)


def test_a_clear_difference() -> None:
    worse, better = spoil(REFERENCE, 30), spoil(REFERENCE, 5)
    found = measure(worse, better)
    assert found.bleu == bleu(worse)
    assert found.baseline_bleu == bleu(better)
    assert found.difference == found.bleu - found.baseline_bleu < 0
    assert found.low < found.bleu < found.high < found.baseline_low
    assert found.baseline_low < found.baseline_bleu < found.baseline_high
    assert found.p_randomisation == pytest.approx(1 / 201, abs=1e-6)
    assert found.p_bootstrap == 1 / 51
    assert (found.lines, found.changed) == (40, 25)


def test_a_difference_of_chance() -> None:
    """Each system errs on ten lines, none of them on which the other does."""
    errs = spoil(REFERENCE, 10)
    other = spoil(REFERENCE[::-1], 10)[::-1]
    found = measure(errs, other)
    assert found.changed == 20
    assert found.p_randomisation > 0.1
    assert found.p_bootstrap > 0.1


def test_the_other_way_round() -> None:
    one, two = spoil(REFERENCE, 8), spoil(REFERENCE, 12, "y")
    there, back = measure(one, two), measure(two, one)
    assert there.difference == -back.difference
    assert (there.bleu, there.low, there.high) == (
        back.baseline_bleu,
        back.baseline_low,
        back.baseline_high,
    )
    assert there.changed == back.changed == 4  # x and y are equally wrong


def noisy(share: float, seed: int) -> list[str]:
    """Each token of the reference is another one with some probability."""
    draw = Random(seed)
    return [
        " ".join(draw.choice("abcdefg") if draw.random() < share else t for t in line.split())
        for line in REFERENCE
    ]


def test_where_many_lines_differ_it_is_sacrebleus_own_p(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    one, two = noisy(0.3, 1), noisy(0.35, 2)
    found = compare(one, two, REFERENCE, "en", False)
    systems = [("two", two), ("one", one)]
    for kind in ("ar", "bs"):
        signatures, results = PairedTest(systems, {"BLEU": BLEU()}, [REFERENCE], kind)()
        own_p = {"ar": found.signature_randomisation, "bs": found.signature_bootstrap}
        assert own_p[kind] == str(signatures["BLEU"]) + ("|p:two-sided" if kind == "bs" else "")
        base, own = results["BLEU"]
        assert (found.baseline_bleu, found.bleu) == pytest.approx((base.score, own.score))
        if kind == "ar":
            assert found.p_randomisation == pytest.approx(own.p_value, abs=1e-9)
            assert 0.01 < own.p_value < 0.99
        else:  # its p of the bootstrap looks at one tail
            assert (found.low, found.high) == pytest.approx((own.mean - own.ci, own.mean + own.ci))
            assert own.p_value < found.p_bootstrap
    assert (found.shuffles, found.resamples) == (10_000, 1_000)


@pytest.mark.parametrize(("lost", "won"), [(9, 1), (8, 2), (5, 1), (7, 3)])
def test_shuffles_that_are_as_great_count_too(lost: int, won: int) -> None:
    """Each line lost or won counts the same, so that p is that of throwing a coin."""
    line = "a b c d e f g"
    reference = [line] * 30
    one = spoil(reference, lost)
    two = spoil(reference, won)[::-1]
    found = compare(one, two, reference, "en", False, 4_000, 50)
    lines = lost + won
    ends = [
        comb(lines, heads) for heads in range(lines + 1) if abs(2 * heads - lines) >= lost - won
    ]
    assert found.p_randomisation == pytest.approx(sum(ends) / 2**lines, abs=0.03)


def test_the_bootstrap_is_two_sided() -> None:
    """Of systems that hardly differ p is near 1, of those that do it is near randomisation's."""
    one, alike, worse = noisy(0.3, 1), noisy(0.3, 2), noisy(0.36, 6)
    found = [compare(one, other, REFERENCE, "en", False) for other in (alike, worse)]
    for each in found:
        assert each.p_bootstrap == pytest.approx(each.p_randomisation, rel=0.2)
    assert found[0].p_bootstrap > 0.8 and 0.1 < found[1].p_bootstrap < 0.3


@given(st.lists(st.sampled_from(REFERENCE), min_size=40, max_size=40))
@settings(max_examples=10)
def test_equal_systems_do_not_differ(texts: list[str]) -> None:
    found = measure(texts, texts)
    assert found.difference == 0
    assert found.p_randomisation == found.p_bootstrap == 1
    assert found.changed == 0
    assert (found.low, found.high) == (found.baseline_low, found.baseline_high)


@pytest.mark.parametrize(
    ("changed", "p"),
    [
        (1, 1),  # to swap it or not to: both give the same difference
        (2, 1 / 2),  # both lines lose: all or nothing
        (3, 1 / 4),
        (6, 1 / 32),
    ],
)
def test_few_lines_prove_little(changed: int, p: float) -> None:
    found = measure(spoil(REFERENCE, changed), REFERENCE, shuffles=4_000)
    assert found.changed == changed
    assert found.p_randomisation == pytest.approx(p, abs=0.03)
    assert found.p_randomisation <= 1


def test_words_that_are_equally_wrong_are_no_difference() -> None:
    found = measure(spoil(REFERENCE, 20, "x"), spoil(REFERENCE, 20, "y"))
    assert (found.changed, found.difference) == (0, 0)
    assert found.p_randomisation == found.p_bootstrap == 1


def test_it_repeats_whatever_seed_the_user_has(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = spoil(REFERENCE, 10), spoil(REFERENCE, 12, "a")
    first = measure(one, two)
    for seed in ("7", "none"):
        monkeypatch.setenv("SACREBLEU_SEED", seed)
        assert measure(one, two) == first
    assert "ar:200|seed:12345" in first.signature_randomisation
    assert "bs:50|seed:12345" in first.signature_bootstrap


def test_case_and_language() -> None:
    loud = [line.upper() for line in REFERENCE]
    assert compare(loud, REFERENCE, REFERENCE, "en", True, 9, 9).changed == 0
    found = compare(loud, REFERENCE, REFERENCE, "zh", False, 9, 9)
    assert found.changed == 40
    assert "tok:zh" in found.signature_bootstrap


@pytest.mark.parametrize(
    ("texts", "baseline", "reference"),
    [([], [], []), (["a"], ["a", "b"], ["a"]), (["a"], ["a"], ["a", "b"])],
)
def test_what_does_not_fit(texts: list[str], baseline: list[str], reference: list[str]) -> None:
    with pytest.raises(UserError, match="compare systems on the same split"):
        compare(texts, baseline, reference, "en", False)


def write(folder: Path, texts: Sequence[str], decoder: str, seed: int) -> Path:
    path = folder / f"{decoder}.{seed}.jsonl.gz"
    names = {"target": "raw", "system": "base", "decoder": decoder, "seed": seed}
    made = [Translation(text, text.split(), None, 1) for text in texts]
    write_translations(path, {"provenance": {**names, "split": "test"}}, REFERENCE, made)
    return path


def test_every_file_is_compared_with_the_baseline_of_its_seed(tmp_path: Path) -> None:
    quality = {("beam5", 1): 4, ("greedy", 1): 9, ("greedy", 2): 12, ("beam5", 2): 6}
    files = [write(tmp_path, spoil(REFERENCE, count), *names) for names, count in quality.items()]
    rows = compare_files(files, ["raw/base/beam5"], REFERENCE, "en", False)
    assert [row["changed"] for row in rows] == [0, 5, 6, 0]
    assert [(row["decoder"], row["seed"]) for row in rows] == list(quality)
    assert [row["baseline_bleu"] for row in rows] == [rows[i]["bleu"] for i in (0, 0, 3, 3)]
    assert list(rows[1]) == [*NAMES, "baseline", *asdict(measure(REFERENCE, REFERENCE))]


def test_every_baseline_is_one_to_compare_with(tmp_path: Path) -> None:
    quality = {"beam5": 4, "greedy": 9}
    files = [write(tmp_path, spoil(REFERENCE, count), name, 1) for name, count in quality.items()]
    baselines = [f"raw/base/{name}" for name in quality]
    rows = compare_files(files, baselines, REFERENCE, "en", False)
    assert [row["baseline"] for row in rows] == [name for name in baselines for _ in files]
    assert [row["changed"] for row in rows] == [0, 5, 5, 0]


def test_a_seed_without_baseline(tmp_path: Path) -> None:
    files = [write(tmp_path, REFERENCE, *names) for names in (("beam5", 1), ("greedy", 2))]
    with pytest.raises(UserError, match="no translations of raw/base/beam5 with seed 2"):
        compare_files(files, ["raw/base/beam5"], REFERENCE, "en", False)


def test_more_words_are_a_change_though_none_of_them_is_right() -> None:
    found = measure([f"{line} x" for line in REFERENCE[:3]] + REFERENCE[3:], REFERENCE)
    assert found.changed == 3
