from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fastdecode.config.resampled import RESAMPLED
from fastdecode.errors import UserError
from fastdecode.measure.quality import quality
from fastdecode.measure.resamples import RATIOS, Reference, resample_files, resamples
from fastdecode.measure.resampling import draws, resampled_seeds
from fastdecode.translation import Translation, write_translations

LINES = [  # BPE tokens, passes
    ("a a b c d e f", 3),
    ("a b b@@ c x y z", 4),
    ("", 0),
    (" ".join(f"w{number}" for number in range(33)), 9),
    ("c c c c", 1),
]
RIGHT = ["a b c d e f g", "a b bc x y", "a", " ".join(f"w{n}" for n in range(31)), "c d e f"]
TRANSLATIONS = [
    Translation(line.replace("@@ ", ""), line.split(), None, passes) for line, passes in LINES
]
REFERENCE = Reference(RIGHT, RIGHT, "en", lowercase=False)


@pytest.mark.parametrize("name", [*RATIOS, "end_precision"])
def test_each_resample_is_measured_as_a_split_of_its_lines(name: str) -> None:
    found = resamples(name, TRANSLATIONS, REFERENCE)
    assert all(numbers.shape == (1000,) for numbers in found.values())
    for place, drawn in enumerate(draws(len(LINES))[:40]):
        right = [RIGHT[i] for i in drawn]
        measured = quality([TRANSLATIONS[i] for i in drawn], right, right, None, "en", False)
        for part, numbers in found.items():
            wanted = measured.get(part or name, {"value": np.nan})["value"]
            factor = 100 if part else 1  # precisions are in percent
            assert numbers[place] == pytest.approx(factor * wanted, nan_ok=True)


def test_every_number_that_is_resampled_can_be() -> None:
    for name in RESAMPLED:
        assert any(np.nanstd(found) for found in resamples(name, TRANSLATIONS, REFERENCE).values())


def test_passes_and_tokens_of_translations_made_elsewhere_are_not_known() -> None:
    given = [replace(line, passes=0) for line in TRANSLATIONS]
    for name in RATIOS:
        assert np.isnan(resamples(name, given, REFERENCE)[""]).all()


def test_precisions_are_of_long_lines_too_where_there_are_any() -> None:
    found = resamples("end_precision", TRANSLATIONS, REFERENCE)
    assert {"precision1_last5", "precision4_all/over30"} <= set(found)
    short = Reference(RIGHT[:3], RIGHT[:3], "en", lowercase=False)
    assert not any("/" in part for part in resamples("end_precision", TRANSLATIONS[:3], short))


@pytest.mark.parametrize("name", RESAMPLED)
def test_lines_that_do_not_fit_are_refused(name: str) -> None:
    for some in ([], TRANSLATIONS[:2]):
        with pytest.raises(UserError, match="lines of the reference"):
            resamples(name, some, REFERENCE)


def test_files_of_one_decoder_are_its_seeds(tmp_path: Path) -> None:
    worse = [TRANSLATIONS[0], *TRANSLATIONS[:4]]
    seeds = {"one": TRANSLATIONS, "two": worse, "other": worse}
    for name, translations in seeds.items():
        write_translations(tmp_path / name, {}, RIGHT, translations)
    files = [("raw/a/beam", "raw/a", tmp_path / name) for name in ("one", "two")]
    files.append(("raw/b/beam", "raw/b", tmp_path / "other"))
    frame = resample_files("passes", files, REFERENCE)
    assert list(frame) == ["raw/a/beam", "raw/b/beam"]
    one, two = (resamples("passes", seeds[name], REFERENCE)[""] for name in ("one", "two"))
    mean = resampled_seeds(np.stack([one, two]), "raw/a")
    np.testing.assert_allclose(frame["raw/a/beam"], mean, atol=1e-9)
    np.testing.assert_allclose(frame["raw/b/beam"], two, atol=1e-9)
    parts = resamples("end_precision", TRANSLATIONS, REFERENCE)
    assert list(resample_files("end_precision", files[:1], REFERENCE)) == [
        f"raw/a/beam/{part}" for part in parts
    ]


def test_case_counts_unless_it_was_lowered() -> None:
    loud = [line.upper() for line in RIGHT]
    lowered = Reference(loud, loud, "en", lowercase=True)
    found = resamples("end_precision", TRANSLATIONS, lowered)
    plain = resamples("end_precision", TRANSLATIONS, REFERENCE)
    np.testing.assert_array_equal(found["precision1_all"], plain["precision1_all"])
