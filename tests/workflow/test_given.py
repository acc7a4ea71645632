"""A run takes what exists from there: a teacher, its distilled text, translations of others."""

import gzip
import json
import os
from pathlib import Path

import pandas as pd

from tests.workflow.conftest import Workplace, write
from tests.workflow.test_end_to_end import STUDENT, TEACHER, lines


def test_a_teacher_and_what_it_distilled(finished: Workplace, workplace: Workplace) -> None:
    """The student learns what it learned where all was made; the teacher is not trained."""
    workplace.run["systems"] = ["transformer-big/transformer", "raw/transformer-big"]
    workplace.run["given"] = {
        "models": {TEACHER: str(finished.path(TEACHER))},
        "distilled": {
            "micro/transformer-big": str(finished.path("micro/transformer-big/train.target.gz"))
        },
    }
    workplace.save()
    wanted = f"results/{STUDENT}/test.beam5.jsonl.gz", f"results/{TEACHER}/curve.csv"
    done = workplace.snakemake(*wanted, f"results/{TEACHER}/train.json")
    assert done.returncode == 0, done.stdout
    assert "distill_shard" not in done.stdout and "take_distilled" in done.stdout
    name = f"{STUDENT}/test.beam5.jsonl.gz"
    assert workplace.path(name).read_bytes() == finished.path(name).read_bytes()
    record = json.loads(workplace.path(f"{TEACHER}/train.json").read_text())
    trained = json.loads(finished.path(f"{TEACHER}/train.json").read_text())
    assert (record["trained"], record["updates"]) == ("elsewhere", trained["updates"])


def test_translations_alone(finished: Workplace, workplace: Workplace) -> None:
    """A folder of text is scored and tested beside the rest, and not timed."""
    text = workplace.folder / "theirs"
    for decoder in ("beam5", "greedy"):
        _, *found = map(json.loads, lines(finished.path(f"{STUDENT}/test.{decoder}.jsonl.gz")))
        write(text / f"test.{decoder}.txt", "".join(one["text"] + "\n" for one in found))
    workplace.run["given"] = {
        "models": {TEACHER: str(finished.path(f"{TEACHER}/checkpoint.pt"))},
        "translations": {STUDENT: "theirs"},
    }
    workplace.run["latency"] = {**workplace.run["latency"], "scenarios": ["S1"]}
    workplace.save()
    done = workplace.snakemake()
    assert done.returncode == 0, done.stdout
    assert "train_system" not in done.stdout
    score, ours = (
        json.loads(place.path(f"{STUDENT}/test.beam5.quality.json").read_text())["metrics"]["bleu"]
        for place in (workplace, finished)
    )
    assert score == ours
    measured = pd.read_csv(workplace.path("report/micro/measurements.csv"))
    timed = measured[measured["metric"] == "latency_median"]
    assert set(timed["system"]) == {"transformer-big"}
    table = workplace.path("report/micro/systems.micro.test.md").read_text()
    (row,) = (
        line
        for line in table.splitlines()
        if line.startswith("| transformer | ") and "beam5" in line
    )
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert f"{ours['value']:.2f}" in cells
    assert cells[4] == cells[-1] == cells[-2] == "–"  # parameters, speed-up and time are not known


def test_a_file_that_takes_anothers_place_is_read_again_though_it_is_older(
    finished: Workplace, workplace: Workplace
) -> None:
    """As `mv` and `rsync -t` leave it, where Snakemake alone would see nothing new."""
    theirs = workplace.folder / "theirs"
    for name in ("checkpoint.pt", "train.json", "curve.csv"):
        write(theirs / name, "")
    workplace.run["given"] = {"models": {TEACHER: "theirs"}}
    workplace.save()
    wanted = [f"results/{TEACHER}/curve.csv", "results/corpora/micro/raw/valid.en.gz"]
    for change in ("one", "another"):
        for file in (theirs / "curve.csv", workplace.folder / "text/valid.en"):
            text = file.read_text()
            write(file, text.replace(text.partition("\n")[0], change, 1) if text else change)
            os.utime(file, (1e9, 1e9))
        done = workplace.snakemake(*wanted)
        assert done.returncode == 0, done.stdout
        assert workplace.path(f"{TEACHER}/curve.csv").read_text() == change
        assert next(iter(lines(workplace.path("corpora/micro/raw/valid.en.gz")))) == change
    assert "Nothing to be done" in workplace.snakemake(*wanted).stdout


def test_a_model_of_another_vocabulary(finished: Workplace, tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.dataset["bpe"] = {"merges": 10}
    place.run["given"] = {"models": {TEACHER: str(finished.path(TEACHER))}}
    place.save()
    done = place.snakemake(f"results/{TEACHER}/checkpoint.pt")
    assert done.returncode != 0
    assert "no model for the vocabulary of results/micro/raw/bin" in done.stdout
    assert not place.path(f"{TEACHER}/checkpoint.pt").exists()


def test_translations_that_are_too_few(workplace: Workplace) -> None:
    write(workplace.folder / "theirs/test.beam5.txt.gz", "")
    with gzip.open(workplace.folder / "theirs/test.beam5.txt.gz", "wt") as file:
        file.write("Eins.\n")
    workplace.run["given"] = {"translations": {STUDENT: "theirs"}}
    workplace.save()
    done = workplace.snakemake(f"results/{STUDENT}/test.beam5.jsonl.gz")
    assert done.returncode != 0
    assert "theirs/test.beam5.txt.gz has 1 lines but" in done.stdout
    missing = workplace.snakemake(f"results/{STUDENT}/test.greedy.jsonl.gz")
    assert missing.returncode != 0
    assert (
        "error: given.translations: theirs has no test.greedy.jsonl.gz (or .txt, .txt.gz)"
        in missing.stdout
    )
