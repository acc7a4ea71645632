"""How far a training is: not begun, begun, killed in mid-line, and finished."""

import os
from pathlib import Path

from fastdecode.train.standing import Standing, standing

VALID = (
    '2026-01-01 00:00:00 | INFO | valid | {"epoch": %d, "valid_bleu": "%s", '
    '"valid_num_updates": "%d"}\n'
)


def log(folder: Path, *lines: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "train.log").write_text("".join(lines))
    return folder / "train.log"


def test_what_was_never_begun(tmp_path: Path) -> None:
    assert standing(tmp_path / "seed1") is None
    (tmp_path / "seed1").mkdir()
    assert standing(tmp_path / "seed1") is None


def test_a_training_that_was_killed(tmp_path: Path) -> None:
    best, later = VALID % (1, "12.5", 100), VALID % (2, "11.25", 200)
    log(tmp_path / "work-a", best, later, (VALID % (3, "13.0", 300))[:60])
    assert standing(tmp_path) == Standing(trained=False, validations=2, updates=200, bleu=12.5)


def test_one_that_has_not_validated_yet(tmp_path: Path) -> None:
    log(tmp_path / "work-a", "2026-01-01 00:00:00 | INFO | fairseq_cli.train | begin\n")
    assert standing(tmp_path) == Standing(trained=False, validations=0, updates=0, bleu=None)


def test_the_settings_that_were_written_to_last_count(tmp_path: Path) -> None:
    older = log(tmp_path / "work-b", VALID % (1, "50.0", 900))
    log(tmp_path / "work-a", VALID % (1, "1.0", 10))
    os.utime(older, (1, 1))
    found = standing(tmp_path)
    assert found and found.updates == 10


def test_a_checkpoint_counts_even_without_a_log(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.pt").touch()
    assert standing(tmp_path) == Standing(trained=True, validations=0, updates=0, bleu=None)
