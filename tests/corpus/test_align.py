import random
from pathlib import Path

import pytest

from fastdecode.corpus import align as module
from fastdecode.corpus.align import align
from fastdecode.corpus.links import parse_links
from fastdecode.errors import UserError
from fastdecode.files import read_lines, write_lines
from fastdecode.measure.alignment import alignment_error

NAMES = ["backward.gz", "forward.gz", "symmetrised.gz"]


def write_text(folder: Path, pairs: list[tuple[str, str]]) -> tuple[Path, Path]:
    source, target = folder / "source.gz", folder / "target.gz"
    write_lines(source, (pair[0] for pair in pairs))
    write_lines(target, (pair[1] for pair in pairs))
    return source, target


def links(path: Path) -> list[list[tuple[int, int]]]:
    return [parse_links(line) for line in read_lines(path)]


@pytest.fixture(scope="module")
def text() -> tuple[list[tuple[str, str]], list[list[tuple[int, int]]]]:
    """Pairs in which word w is translated by W, in reverse order if it begins with `not`."""
    draw = random.Random(3)
    pairs, gold = [], []
    for _ in range(300):
        words = draw.sample([f"w{number}" for number in range(40)], k=draw.randint(2, 7))
        order = list(range(len(words)))
        if draw.random() < 0.3:
            words, order = ["not", *words], [0, *range(len(words), 0, -1)]
        pairs.append((" ".join(words), " ".join(words[i].upper() for i in order)))
        gold.append(sorted((i, j) for j, i in enumerate(order)))
    return pairs, gold


def test_finds_the_links_of_a_made_up_language(text, tmp_path: Path) -> None:
    pairs, gold = text
    align(*write_text(tmp_path, pairs), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == NAMES
    for name in NAMES:
        found = links(tmp_path / "out" / name)
        assert found == [sorted(line) for line in found]
        assert alignment_error(found, gold)["aer"] < 0.02
    for line in links(tmp_path / "out" / "forward.gz"):
        assert len({j for _, j in line}) == len(line)
    for line in links(tmp_path / "out" / "backward.gz"):
        assert len({i for i, _ in line}) == len(line)


def test_repeats_exactly_in_any_number_of_processes(text, tmp_path: Path) -> None:
    source, target = write_text(tmp_path, text[0])
    for processes in (1, 2):
        align(source, target, tmp_path / f"out{processes}", processes)
    for name in NAMES:
        assert (tmp_path / "out1" / name).read_bytes() == (tmp_path / "out2" / name).read_bytes()


def test_swapping_the_sides_swaps_the_links(text, tmp_path: Path) -> None:
    source, target = write_text(tmp_path, text[0])
    align(source, target, tmp_path / "there")
    align(target, source, tmp_path / "back")
    swapped = [sorted((i, j) for j, i in line) for line in links(tmp_path / "back/backward.gz")]
    assert swapped == links(tmp_path / "there/forward.gz")


def test_the_separator_may_stand_in_the_text(text, tmp_path: Path) -> None:
    pairs = [*text[0], ("w1 ||| w2", "W1 ||| W2")]
    align(*write_text(tmp_path, pairs), tmp_path / "out")
    assert links(tmp_path / "out" / "symmetrised.gz")[-1] == [(0, 0), (1, 1), (2, 2)]


def test_the_tensions_fitted_last() -> None:
    assert module._fitted([1, 2, 3, 10, 20, 30]) == (3, 30)
    for tensions in ([], [1, 2, 3]):
        with pytest.raises(UserError, match="tensions"):
            module._fitted(tensions)


def test_an_aligner_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIT", "import sys; sys.exit('out of luck')")
    with pytest.raises(UserError, match="systran-align failed: out of luck"):
        align(*write_text(tmp_path, [("a", "x"), ("b", "y")]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_pair_with_an_empty_side_has_no_links(text, tmp_path: Path) -> None:
    """As of a source too long for the teacher, which distilling writes as an empty line."""
    pairs = text[0][:20]
    gaps = [("w1", ""), *pairs[:7], (" ", "W1"), ("", ""), *pairs[7:], ("w2 w3", "")]
    places = [i for i, (source, target) in enumerate(gaps) if source.strip() and target]
    (tmp_path / "gaps").mkdir()
    align(*write_text(tmp_path, pairs), tmp_path / "out")
    align(*write_text(tmp_path / "gaps", gaps), tmp_path / "gaps" / "out")
    for name in NAMES:
        expected, found = (links(folder / "out" / name) for folder in (tmp_path, tmp_path / "gaps"))
        assert len(found) == len(gaps)
        assert [found[i] for i in places] == expected
        assert not any(line for i, line in enumerate(found) if i not in places)


@pytest.mark.parametrize("pairs", [[], [("a", ""), (" ", "x")]])
def test_nothing_to_align(pairs, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"source.gz, .*target.gz: no pair has words on both sides"):
        align(*write_text(tmp_path, pairs), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_sides_of_unequal_length(tmp_path: Path) -> None:
    source, target = write_text(tmp_path, [("a", "x")])
    write_lines(target, ["x", "y"])
    with pytest.raises(UserError, match=r"has 1 lines but .* has 2"):
        align(source, target, tmp_path / "out")
