"""Bad input through the whole workflow: one clear line, a status that is not 0, nothing lost."""

import gzip
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fastdecode.devices import own_devices
from tests.gpu import needs_no_gpu
from tests.workflow.conftest import SIZES, Workplace, write

DATA = "results/micro/raw/bin"


def refused(place: Workplace, *targets: str) -> str:
    """Run, which must fail; return its one line of error."""
    place.save()
    done = place.snakemake(*targets)
    assert done.returncode != 0, done.stdout
    errors = set(re.findall(r"^error: .*$", done.stdout, re.MULTILINE))
    assert len(errors) == 1, done.stdout
    return errors.pop()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sytems": []}, 'unknown key "sytems"; did you mean "systems"?'),
        ({"seeds": "one"}, "\"seeds\": input should be a valid list, found 'one'"),
        ({"datasets": ["mikro"]}, 'there is no "mikro"; did you mean "micro"?'),
        ({"name": "toy"}, "datasets are not those of config.yaml, whose name this run has"),
        ({"systems": ["raw/transfomer"]}, 'no "transfomer"; did you mean "transformer"?'),
        (
            {"training": {"batch_token": 1}},
            'unknown key "batch_token"; did you mean "batch_tokens"',
        ),
    ],
)
def test_configuration(workplace: Workplace, change: dict[str, Any], message: str) -> None:
    workplace.run |= change
    assert message in refused(workplace)


def test_a_key_that_stands_twice_in_the_run(workplace: Workplace) -> None:
    with (workplace.folder / "run.yaml").open("a") as run:
        run.write("seeds: [2]\nseeds: [3]\n")
    done = workplace.snakemake(DATA)
    assert done.returncode != 0
    assert 'not valid YAML: the key "seeds" stands twice' in done.stdout


@pytest.mark.parametrize(
    "setting",
    ["--set-threads=a_rule=2", "--set-resources=a_rule:mem_mb=9", "--omit-from=a_rule"],
)
def test_a_setting_of_no_rule(workplace: Workplace, setting: str) -> None:
    workplace.save()
    said = workplace.told(setting, "--dry-run", status=1)
    assert f'error: {setting.partition("=")[0]}: there is no rule "a_rule"' in said


@needs_no_gpu
def test_a_missing_gpu(workplace: Workplace) -> None:
    workplace.run["device"] = "cuda"
    workplace.run["training"] = {"precision": "fp32"}
    message = refused(workplace, "results/micro/raw/transformer-big/seed1/checkpoint.pt")
    assert "device: cuda, but this machine shows no GPU" in message


@needs_no_gpu
def test_a_missing_gpu_that_others_share(
    workplace: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training of a run with jobs_per_gpu does not wait until the GPU is its own."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    workplace.run |= {"device": "cuda", "jobs_per_gpu": 2, "training": {"precision": "fp32"}}
    workplace.save()
    with own_devices("cuda", 1, sharers=2):
        done = workplace.snakemake(
            "results/micro/raw/transformer-big/seed1/checkpoint.pt", timeout=120
        )
    assert "device: cuda, but this machine shows no GPU" in done.stdout
    assert "waiting for" not in done.stdout


def test_a_missing_file(workplace: Workplace) -> None:
    (workplace.folder / "text/valid.de").unlink()
    assert "corpora/micro.yaml: splits.valid: no file text/valid.de" in refused(workplace, DATA)


def test_different_line_counts(workplace: Workplace) -> None:
    with (workplace.folder / "text/valid.de").open("a") as file:
        file.write("Eins zu viel.\n")
    message = refused(workplace, DATA)
    assert "text/valid.en" in message
    assert f"{SIZES['valid']} lines" in message
    assert str(SIZES["valid"] + 1) in message


def test_an_empty_split(workplace: Workplace) -> None:
    for language in ("en", "de"):
        write(workplace.folder / f"text/test.{language}", "")
    message = refused(workplace, DATA)
    assert "text/test.en" in message


def test_invalid_utf8(workplace: Workplace) -> None:
    path = workplace.folder / "text/train.de"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[41] = b"f\xfcnf.\n"
    path.write_bytes(b"".join(lines))
    message = refused(workplace, DATA)
    assert "text/train.de, line 42: invalid UTF-8" in message


def with_downloads(place: Workplace, checksum: str | None = None) -> Path:
    """Have the micro corpus come from gzipped files of a mirror folder; return that folder."""
    mirror = place.folder / "mirror"
    rows = []
    for split in SIZES:
        for language in ("en", "de"):
            path = mirror / f"micro/{split}.{language}.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (place.folder / f"text/{split}.{language}").read_bytes()
            path.write_bytes(gzip.compress(text, mtime=0))
            known = f", sha256: '{checksum}'" if checksum and path.name == "train.de.gz" else ""
            rows.append(f"micro/{path.name}: {{by_hand: from a friend{known}}}")
        place.corpus["splits"][split] = [
            {"kind": "pair", "source": f"micro/{split}.en.gz", "target": f"micro/{split}.de.gz"}
        ]
    write(place.folder / "own/downloads.yaml", "\n".join(rows))
    place.run["mirror"] = "mirror"
    return mirror


def test_a_wrong_checksum(workplace: Workplace) -> None:
    with_downloads(workplace, checksum="0" * 64)
    message = refused(workplace, DATA)
    assert "micro/train.de.gz" in message
    assert "0" * 64 in message


def test_a_file_that_is_put_in_place_by_hand(workplace: Workplace) -> None:
    mirror = with_downloads(workplace)
    (mirror / "micro/test.en.gz").unlink()
    workplace.run["papers"] = ["dag.figure7"]  # of which this run has nothing
    workplace.save()
    said = workplace.snakemake(DATA).stdout
    assert "\n[papers] nothing of this run goes with dag.figure7\n" in said
    # As the run begins, and as the job ends that wants it.
    begun, _, later = said.partition("\n[missing] ")
    assert "error: " not in begun and "Job 1" not in begun
    first = later.splitlines()[0]
    assert first.endswith("(jobs that do not want it go on)")
    errors = re.findall(r"^error: .*$", later, re.MULTILINE)
    assert len(set(errors)) == 1, said
    for message in (first, errors[0]):
        assert "from a friend" in message
        assert "put it at mirror/micro/test.en.gz" in message


def test_a_truncated_archive(workplace: Workplace) -> None:
    mirror = with_downloads(workplace)
    path = mirror / "micro/train.en.gz"
    whole = path.read_bytes()
    path.write_bytes(whole[:-200])
    message = refused(workplace, DATA)
    assert "micro/train.en.gz is truncated or damaged" in message
    path.write_bytes(whole)
    file = "results/downloads/micro/train.en.gz"
    assert workplace.snakemake(file).returncode == 0


def test_a_mirror_that_is_no_folder(workplace: Workplace) -> None:
    mirror = with_downloads(workplace)
    workplace.save()
    files = [f"results/downloads/micro/{path.name}" for path in (mirror / "micro").iterdir()]
    assert workplace.snakemake(*files).returncode == 0
    shutil.rmtree(mirror)  # of no use any more
    assert "Nothing to be done" in workplace.snakemake(*files).stdout
    workplace.path("downloads/micro/test.en.gz").unlink()
    assert "mirror: mirror is not a folder" in refused(workplace, *files)


def test_a_decoder_that_does_not_fit(workplace: Workplace) -> None:
    name = "results/micro/raw/transformer-big/seed1/test.lattice-k64.jsonl.gz"
    assert "lattice-k64 does not decode transformer-big: take" in refused(workplace, name)
    assert not workplace.path("corpora").exists()  # said before anything runs


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB: room for the data, not for the checkpoints of a training."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)]
    if os.geteuid() or shutil.which("mount") is None:
        pytest.skip("mounting a small file system needs root")
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this machine does not allow mounting")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_in_training(small_disk: Path) -> None:
    place = Workplace(small_disk)
    place.preset |= {"width": 64, "ffn": 128, "layers": "4-4"}
    place.save()
    checkpoint = "results/micro/raw/transformer-big/seed1/checkpoint.pt"
    done = place.snakemake(checkpoint)
    assert done.returncode != 0
    assert "the disk is full" in done.stdout
    assert "run the same command again" in done.stdout
    assert place.path("micro/raw/bin/dict.en.txt").exists()  # what was computed is kept

    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    done = place.snakemake(checkpoint)
    assert done.returncode == 0, done.stdout


def test_a_statistic_that_a_system_does_not_have(workplace: Workplace) -> None:
    name = "results/micro/raw/transformer-big/seed1/valid.recall.statistic.json"
    message = refused(workplace, name)
    assert 'transformer-big: family autoregressive has no statistic "recall"' in message
    assert not workplace.path("corpora").exists()  # said before anything runs
