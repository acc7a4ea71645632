from pathlib import Path

import numpy as np
import pytest

from fastdecode.errors import UserError
from fastdecode.measure.differences import COLUMNS, differences
from fastdecode.measure.metrics import text_bleu
from fastdecode.measure.resampling import resampled_bleu, resampled_seeds
from fastdecode.translation import Translation, write_translations

RIGHT = [f"this is sentence {number} of the test set" for number in range(20)]
WORDS = ["this", "is", "a", "line", "of", "text", "that", "was", "not", "there", "before"]
Files = list[tuple[str, str, Path]]


def changed(seed: int, share: float) -> list[str]:
    """Return the right lines with a share of their words replaced."""
    random = np.random.default_rng(seed)
    return [
        " ".join(word if random.random() > share else random.choice(WORDS) for word in line.split())
        for line in RIGHT
    ]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    found = []
    for seed in (1, 2, 3):
        for entry, share in (("raw/a/greedy", 0.3), ("raw/a/beam", 0.2), ("raw/b/beam", 0.25)):
            path = tmp_path / f"{entry.replace('/', '.')}.{seed}.jsonl.gz"
            texts = changed(seed if "/a/" in entry else seed + 10, share)
            made = [Translation(text, text.split(), None, 1) for text in texts]
            write_translations(path, {}, RIGHT, made)
            found.append((entry, entry.rpartition("/")[0], path))
    return found


def test_every_two_decoders_are_compared_once_over_their_seeds(files: Files) -> None:
    frame = differences(files, RIGHT, "en", lowercase=False)
    assert list(frame) == COLUMNS
    pairs = frame[["system", "other"]].to_numpy().tolist()
    assert pairs == [
        ["raw/a/greedy", "raw/a/beam"],
        ["raw/a/greedy", "raw/b/beam"],
        ["raw/a/beam", "raw/b/beam"],
    ]
    assert (frame["seeds"] == 3).all() and (frame["other_seeds"] == 3).all()
    bleu = text_bleu("en", lowercase=False)
    of_seeds = [bleu.corpus_score(changed(seed, 0.3), [RIGHT]).score for seed in (1, 2, 3)]
    first = frame.iloc[0]
    assert first["bleu"] == pytest.approx(np.mean(of_seeds), abs=1e-4)
    assert first["signature"].startswith("nrefs:1|case:mixed") and "tok:13a" in first["signature"]
    for row in frame.to_dict("records"):
        assert row["difference"] == pytest.approx(row["bleu"] - row["other_bleu"], abs=2e-4)
        assert row["low"] < row["difference"] < row["high"]


def test_the_interval_is_that_of_resampled_lines_and_seeds(files: Files) -> None:
    def resampled(first: int, share: float, model: str) -> np.ndarray:
        each = [
            resampled_bleu(changed(first + s, share), RIGHT, "en", lowercase=False)
            for s in range(3)
        ]
        return resampled_seeds(np.stack(each), model)

    wanted = resampled(1, 0.2, "raw/a") - resampled(11, 0.25, "raw/b")
    row = differences(files, RIGHT, "en", lowercase=False).iloc[2]
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(wanted, [0.025, 0.975]), abs=1e-4)


def test_decoders_of_one_model_share_its_seeds(files: Files) -> None:
    together = differences(files[:2] + files[3:5] + files[6:8], RIGHT, "en", lowercase=False)
    apart = [(entry, f"{model}{entry}", path) for entry, model, path in files if "/a/" in entry]
    alone = differences(apart, RIGHT, "en", lowercase=False)
    one, other = (frame.to_dict("records")[0] for frame in (together, alone))
    assert one["difference"] == other["difference"] and one["low"] != other["low"]


def test_a_single_decoder_has_nothing_to_be_compared_with(files: Files) -> None:
    frame = differences(files[:1], RIGHT, "en", lowercase=False)
    assert frame.empty and list(frame) == COLUMNS


def test_translations_of_another_split_are_refused(files: Files) -> None:
    with pytest.raises(UserError, match="20 translations and 19 lines"):
        differences(files, RIGHT[:19], "en", lowercase=False)
