"""What several test files share."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from fastdecode.families.autoregressive.bytes import MKL, bytes_overflow
from fastdecode.files import write_lines

if TYPE_CHECKING:  # importing it imports PyTorch
    from fastdecode.train.job import Job

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before PyTorch: tiny models gain from no more
# How long an example takes is the machine's, and what else runs on it.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
if bytes_overflow():  # before CTranslate2, so that int8 is tested here, too
    os.environ[MKL] = "1"

ENGLISH = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
GERMAN = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
MID_EPOCH = {"max_updates": 50, "save_every_updates": 8}  # 50 is within the fourth epoch


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of its own with room for 200 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount a small disk: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="session")
def binarised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 training and 12 validation pairs as fairseq reads them: numbers, reversed."""
    return binarise_numbers(tmp_path_factory.mktemp("binarised") / "bin", seed=1)


def binarise_numbers(out: Path, seed: int) -> Path:
    """Binarise generated pairs from English to German numbers into the folder `out`."""
    from fastdecode.corpus.binarise import binarise

    random = Random(seed)
    pairs = {}
    for split, size in (("train", 300), ("valid", 12)):
        numbers = [random.choices(range(9), k=random.randint(2, 8)) for _ in range(size)]
        pairs[split] = out.with_name(f"{split}.en"), out.with_name(f"{split}.de")
        write_lines(pairs[split][0], (" ".join(ENGLISH[n] for n in line) for line in numbers))
        write_lines(pairs[split][1], (" ".join(GERMAN[n] for n in line[::-1]) for line in numbers))
    binarise(pairs["train"], pairs["valid"], out, "en", "de", joined=True)
    return out


@pytest.fixture(scope="session")
def tiny_job(binarised: Path) -> Callable[..., "Job"]:
    """Makes jobs that train one layer of width 16; an epoch has 15 updates."""
    from fastdecode.config.models import Architecture
    from fastdecode.config.rows import Training
    from fastdecode.train.job import Job

    def make(data: Path = binarised, seed: int = 1, device: str = "cpu", **settings: Any) -> "Job":
        values = {"batch_tokens": 128, "lr": 3e-3, "warmup_updates": 4, "average": 2}
        training = Training.model_validate(values | (settings or MID_EPOCH))
        size = Architecture(16, 32, 2, 1, 1)
        return Job("tiny", "autoregressive", data, "en", "de", True, size, training, seed, device)

    return make


@pytest.fixture(scope="session")
def trained(tiny_job: Callable[..., "Job"], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that nothing disturbed."""
    from fastdecode.train.run import train

    out = tmp_path_factory.mktemp("trained")
    train(tiny_job(), out, {"system": "tiny"})
    return out
