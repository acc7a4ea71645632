import csv
import json
from pathlib import Path
from typing import Any

import pytest

from fastdecode.train.curve import COLUMNS, curve, parse, validations, write_curve


def line(kind: str, **values: Any) -> str:
    return f"2026-01-01 00:00:00 | INFO | {kind} | {json.dumps(values)}\n"


def valid(epoch: int, update: int, loss: float) -> str:
    numbers = {"valid_loss": f"{loss}", "valid_nll_loss": f"{loss - 1}", "valid_bleu": "2.5"}
    return line("valid", epoch=epoch, **numbers, valid_num_updates=f"{update}")


def seen(*updates: int) -> dict[int, dict[str, float]]:
    return {
        update: {
            "valid": 2.5,
            "seconds": update / 10,
            "process": 1.0,
            "cpu_seconds": update / 20,
            "train_loss": update / 100,
            "lr": 1e-3,
            "train_nll_loss": update / 200,
            "tokens_per_second": 50.0,
            "train_infeasible": 2.0,
            "train_recomputed": 1.0,
        }
        for update in updates
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (line("train", epoch=1), ("train", {"epoch": 1})),
        (line("train_inner", loss="2.5"), ("train_inner", {"loss": "2.5"})),
        (valid(1, 8, 5)[:40], None),
        (line("train", epoch=1).replace("}", ""), None),
        (line("train", epoch=1).replace("1}", "}"), None),
        (line("fairseq_cli.train", epoch=1), None),
        ("begin training | train | {}\n", None),
        ("\n", None),
    ],
)
def test_a_line_carries_statistics_or_not(text: str, found: object) -> None:
    assert parse(text.rstrip("\n")) == parse(text) == found


def test_a_row_a_validation(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    # 8 is within the first epoch, 10 its end.
    log.write_text(
        valid(1, 8, 5) + line("train_inner", loss="1") + valid(1, 10, 4) + valid(2, 20, 3)
    )
    rows = curve(log, seen(8, 10, 20))
    assert [(row["epoch"], row["update"], row["valid_loss"]) for row in rows] == [
        (1, 8, 5),
        (1, 10, 4),
        (2, 20, 3),
    ]
    assert rows[0] == {
        "epoch": 1,
        "update": 8,
        "train_loss": 0.08,
        "train_nll_loss": 0.04,
        "valid_loss": 5,
        "valid_nll_loss": 4,
        "valid_bleu": 2.5,
        "tokens_per_second": 50,
        "seconds": 0.8,
        "cpu_seconds": 0.4,
        "lr": 1e-3,
        "train_infeasible": 2,
        "train_recomputed": 1,
    }
    assert list(rows[0]) == COLUMNS


def test_an_epoch_trained_twice_counts_once(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(valid(1, 10, 5) + valid(2, 20, 4.5) + "started again\n" + valid(2, 20, 4))
    rows = curve(log, seen(10, 20))
    assert [(row["update"], row["valid_loss"]) for row in rows] == [(10, 5), (20, 4)]


def test_a_line_cut_by_a_kill_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    cut = valid(2, 20, 4.5).encode()[:-20]
    start = "2026-01-01 00:00:00 | INFO | fairseq_cli.train | {'save_dir': 'Bücher'}\n"
    glued = cut + start.encode() + valid(2, 20, 4).encode()
    half_a_character = start.encode()[: start.encode().index(b"\xc3") + 1]
    log.write_bytes(valid(1, 10, 5).encode() + glued + valid(3, 30, 3).encode() + half_a_character)
    rows = curve(log, seen(10, 20, 30))
    assert [(row["update"], row["valid_loss"]) for row in rows] == [(10, 5), (20, 4), (30, 3)]
    assert list(validations(log)) == [10, 20, 30]


def test_a_validation_without_its_checkpoint_is_left_out(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(valid(1, 10, 5) + valid(2, 20, 4) + valid(3, 30, 4))  # stopped after the second
    assert [row["update"] for row in curve(log, seen(10, 20))] == [10, 20]


def test_a_curve_is_written_with_blanks_for_what_was_not_measured(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(valid(1, 10, 5))
    known = seen(10)
    del known[10]["train_nll_loss"]
    write_curve(curve(log, known), tmp_path / "curve.csv")
    with (tmp_path / "curve.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert list(row) == COLUMNS
    assert (row["epoch"], row["lr"], row["train_loss"], row["train_nll_loss"]) == (
        "1",
        "0.001",
        "0.1",
        "",
    )
    assert b"\r" not in (tmp_path / "curve.csv").read_bytes()


def test_cpu_time_is_of_all_processes_of_a_training(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(valid(1, update, 5) for update in (10, 20, 30, 40)))
    known = seen(10, 20, 30, 40)
    # the second process took longer for its first epoch than the first one for two
    for update, (process, spent) in {20: (1, 3.0), 30: (2, 4.0), 40: (2, 6.5)}.items():
        known[update] |= {"process": float(process), "cpu_seconds": spent}
    assert [row["cpu_seconds"] for row in curve(log, known)] == [0.5, 3.0, 7.0, 9.5]
    del known[20]["process"], known[20]["cpu_seconds"]  # by an earlier version
    found = [row["cpu_seconds"] for row in curve(log, known)]
    assert found[0] == 0.5 and all(spent != spent for spent in found[1:])
