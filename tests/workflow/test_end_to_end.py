"""The whole workflow on the micro configuration: what it leaves, and that it can be repeated."""

import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pandas as pd
import torch

import fastdecode.plugin  # noqa: F401  registers what a checkpoint may hold
from fastdecode.commands import main
from fastdecode.provenance import describe_cpu
from tests.workflow.conftest import ROOT, SIZES, Workplace

TEACHER = "micro/raw/transformer-big/seed1"
STUDENT = "micro/transformer-big/transformer/seed1"


def lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def weights(place: Workplace, model: str) -> dict[str, torch.Tensor]:
    return dict(torch.load(place.path(f"{model}/checkpoint.pt"))["model"])


def assert_same_results(one: Workplace, other: Workplace) -> None:
    """Weights, translations and quality of two workplaces are the same."""
    for model in (TEACHER, STUDENT):
        ours, theirs = weights(one, model), weights(other, model)
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)
        for decoder in ("beam5", "greedy"):
            for name in (
                f"{model}/test.{decoder}.jsonl.gz",
                f"{model}/test.{decoder}.quality.json",
            ):
                assert one.path(name).read_bytes() == other.path(name).read_bytes(), name


def test_every_stage_leaves_its_results(finished: Workplace) -> None:
    distilled = lines(finished.path("micro/transformer-big/train.target.gz"))
    links = lines(finished.path("micro/transformer-big/align/symmetrised.gz"))
    report = json.loads(finished.path("corpora/micro/report.json").read_text())
    kept = report["splits"]["train"]["kept"]
    assert SIZES["train"] * 0.9 < kept <= SIZES["train"]
    assert len(distilled) == len(links) == kept

    record = json.loads(finished.path("micro/transformer-big/provenance.json").read_text())
    assert len(record["shards"]) == 2
    assert len(record["provenance"]["teachers"]) == 1
    assert not list(finished.path("micro/transformer-big").glob("shards/*.gz"))  # temporary

    trained = json.loads(finished.path(f"{STUDENT}/train.json").read_text())
    assert trained["epochs"] == 3
    assert trained["parameters"] > 1000
    assert trained["provenance"]["target"] == "transformer-big"
    quality = json.loads(finished.path(f"{STUDENT}/test.beam5.quality.json").read_text())
    assert "tok:13a" in quality["metrics"]["bleu"]["signature"]
    assert quality["provenance"]["decoder"] == "beam5"
    version = quality["scored"]["packages"]["sacrebleu"]
    assert quality["metrics"]["bleu"]["signature"].endswith(f"version:{version}")
    translations = [json.loads(t) for t in lines(finished.path(f"{STUDENT}/test.greedy.jsonl.gz"))]
    assert translations[0]["lines"] == len(translations) - 1 == SIZES["test"]


def test_the_report_has_every_system(finished: Workplace) -> None:
    folder = finished.path("report/micro")
    table = (folder / "systems.micro.test.md").read_text()
    for text in ("transformer-big", "greedy", "BLEU", "×1.00", "tier are over transformer-big"):
        assert text in table
    assert "not run in this configuration" in table  # transformer-12-1
    assert r"\begin{table}" in (folder / "systems.micro.test.tex").read_text()
    curves = pd.read_csv(folder / "learning_curves.csv")
    assert curves.groupby("system").size().to_dict() == {"transformer": 3, "transformer-big": 3}
    assert set(curves["device"]) == {describe_cpu()}
    measurements = pd.read_csv(folder / "measurements.csv")
    assert set(measurements["system"]) == {"transformer-big", "transformer"}
    assert (folder / "data.csv").exists()


def test_every_picture_is_drawn_again_as_it_was(finished: Workplace, tmp_path: Path) -> None:
    folder = finished.path("report/micro")
    main(["redraw", str(folder), "--out", str(tmp_path)])
    pictures = {path.name for path in folder.glob("*.svg")}
    assert len(pictures) > 5
    assert {path.name for path in tmp_path.glob("*.svg")} == pictures
    for name in pictures:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_speed_and_memory_of_every_decoder(finished: Workplace) -> None:
    folder = finished.path("report/micro")
    single = pd.read_csv(folder / "latency/micro.test.reference.S1.threads1.samples.csv")
    assert len(single) == 4 * 3 * 2  # decoders × lines × repeats
    sweep = pd.read_csv(folder / "latency/micro.test.reference.Smax.threads1.samples.csv")
    assert sweep.groupby("batch").size().to_dict() == {2: 4 * 4 * 2, 4: 4 * 2 * 2}
    files = sorted(path.name for path in folder.glob("latency/*.json"))
    assert [name.split(".")[2:5] for name in files] == [
        *(["reference", "S1", "threads1"], ["reference", "Smax", "threads1"]),
    ]
    machine = json.loads((folder / "machine.threads1.json").read_text())
    document = json.loads((folder / "latency" / files[1]).read_text())
    assert document["bandwidth"] == machine["bandwidth"]["1"] > 0.1
    assert document["left_out"][0]["batch"] == 50

    measurements = pd.read_csv(folder / "measurements.csv")
    speeds = measurements[measurements["tier"] == "reference"]
    counts = speeds.groupby(["scenario", "batch"])["metric"].value_counts()
    for setting in (("S1", 1), ("Smax", 2), ("Smax", 4)):
        for metric in ("latency_median", "latency_floor_fraction", "latency_stage_decode"):
            assert counts[*setting, metric] == 4, (setting, metric)
        assert counts[*setting, "memory_peak"] == 4
    assert counts["Smax", 4, "throughput_tokens"] == 4
    assert (speeds["value"] > -1).all()


def test_a_finished_run_has_nothing_to_do(finished: Workplace) -> None:
    done = finished.snakemake()
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout


def test_another_number_of_threads_is_timed_beside_those_that_are(
    finished: Workplace, tmp_path: Path
) -> None:
    place = finished.copy(tmp_path / "copy")
    place.run = place.run | {"latency": place.run["latency"] | {"threads": [1, 2]}}
    place.save()
    jobs = re.findall(r"^(measure_\w+) +(\d+)$", place.told("--dry-run"), re.MULTILINE)
    assert set(jobs) == {("measure_machine", "1"), ("measure_latency", "2")}  # S1 and Smax


def test_beside_a_new_test_set_what_is_there_stays_if_the_text_is_prepared_first(
    finished: Workplace, tmp_path: Path
) -> None:
    place = finished.copy(tmp_path / "copy")
    for language, line in (("en", "Zero one.\n"), ("de", "Null eins.\n")):
        (place.folder / f"text/second.{language}").write_text(line * 5)
    piece = {"kind": "files", "source": "text/second.en", "target": "text/second.de"}
    place.corpus = place.corpus | {"splits": place.corpus["splits"] | {"second": [piece]}}
    place.dataset = place.dataset | {"tests": ["test", "second"]}
    place.save()
    place.told("--until", "prepare_micro")
    asked = place.told("--dry-run")
    jobs = dict(re.findall(r"^(\w+) +(\d+)$", asked, re.MULTILINE))
    assert jobs["translate_split"] == jobs["measure_quality"] == "4"
    assert jobs["measure_latency"] == "2"  # S1 and Smax
    for rule in ("learn_bpe", "binarise_dataset", "train_system", "distill_shard"):
        assert rule not in jobs
    assert "of test of" not in asked


def test_what_tables_are_made_of_is_made_anew_if_it_is_lost(
    finished: Workplace, tmp_path: Path
) -> None:
    place = finished.copy(tmp_path / "lost")
    text = f"{STUDENT}/test.greedy.jsonl.gz"
    place.path(text).unlink()  # as by a killed --forcerun
    done = place.snakemake()
    assert done.returncode == 0, done.stdout
    assert place.path(text).read_bytes() == finished.path(text).read_bytes()
    lost = {
        "measure_quality": f"{STUDENT}/test.beam5.quality.json",
        "measure_latency": "report/micro/latency/micro.test.reference.S1.threads1.json",
        "measure_memory": "report/micro/memory/micro.test.json",
    }
    for name in lost.values():
        place.path(name).unlink()
    asked = place.told("--dry-run")
    assert [rule for rule in lost if rule not in asked] == []


def test_a_run_killed_at_random_gives_the_same_results_as_an_undisturbed_one(
    finished: Workplace, workplace: Workplace
) -> None:
    """`KILLS=10 pytest tests/workflow -k killed` kills more often."""
    moments = random.Random(1)
    for _ in range(int(os.environ.get("KILLS", "3"))):
        process = subprocess.Popen(
            workplace.command(),
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(moments.uniform(6, 13))
        assert process.poll() is None, "there was nothing left to kill"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(workplace.folder / ".snakemake/locks", ignore_errors=True)
    done = workplace.snakemake()
    assert done.returncode == 0, done.stdout
    assert_same_results(finished, workplace)


def test_a_comment_in_a_script_retrains_nothing(finished: Workplace) -> None:
    script = ROOT / "workflow/scripts/train_system.py"
    before = script.stat()
    try:
        os.utime(script)
        assert "Nothing to be done" in finished.snakemake().stdout
    finally:
        os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_snakemakes_own_report_has_categories(finished: Workplace, tmp_path: Path) -> None:
    shown = finished.own_report(tmp_path / "report.html")
    assert set(shown) == {"Data", "Page", "Speed", "Systems", "Training"}
    assert shown["Systems"] == {"significance.micro.test.md", "systems.micro.test.md"}
    assert shown["Training"] == {"learning_curves.svg"}
    assert {"speed.micro.test.S1.md", "pareto.micro.test.reference.S1.svg"} <= shown["Speed"]


def test_a_checkpoint_cut_in_half(finished: Workplace, tmp_path: Path) -> None:
    place = finished.copy(tmp_path / "copy")
    checkpoint = place.path(f"{TEACHER}/checkpoint.pt")
    checkpoint.write_bytes(checkpoint.read_bytes()[: checkpoint.stat().st_size // 2])
    target = f"results/{TEACHER}/test.greedy.jsonl.gz"
    (place.folder / target).unlink()
    done = place.snakemake(target)
    assert done.returncode != 0
    assert f"error: results/{TEACHER}/checkpoint.pt: the checkpoint is truncated" in done.stdout

    checkpoint.unlink()  # as the message says: made again
    assert place.snakemake(target).returncode == 0
    assert (place.folder / target).read_bytes() == finished.path(target[8:]).read_bytes()
