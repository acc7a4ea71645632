"""A finished run of one system, small enough for every command."""

import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fastdecode.commands import main
from fastdecode.corpus.bpe import learn

ROOT = Path(__file__).parents[2]
RUN = {
    "name": "numbers",
    "datasets": ["numbers"],
    "systems": ["raw/transformer", "transformer-big/transformer"],
    "decoders": ["greedy", "beam5"],
    "speedup_over": {"reference": "raw/transformer/beam5"},
}
SPLITS = {
    split: [{"kind": "files", "source": f"{split}.en", "target": f"{split}.de"}]
    for split in ("train", "valid", "test")
}
CORPUS = {"source": "en", "target": "de", "lowercase": True, "splits": SPLITS}
DATASET = {"corpus": "numbers", "bpe": {"merges": 40}, "training": {"max_epochs": 4}}


class Place:
    """The results of a run, and calls of the command line that name them."""

    def __init__(self, folder: Path):
        self.results = folder / "results"
        self.configfile = folder / "run.yaml"
        self.definitions = folder / "own"

    def arguments(self, command: str, *more: str) -> list[str]:
        """Return a command line that names the run."""
        named = ["--configfile", str(self.configfile), "--results", str(self.results)]
        return [command, *named, *more]

    def start(self, command: str, *more: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start the command in a process of its own; all its streams are pipes."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        environment.pop("PYTHONUNBUFFERED", None)  # it would hide a missing flush
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [sys.executable, "-m", "fastdecode", *self.arguments(command, *more)],
            env=environment,
            preexec_fn=_heed_ctrl_c,
            **{**pipes, **options},
        )


def _heed_ctrl_c() -> None:
    """A test run in the background of a shell ignores it, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="session")
def place(trained: Path, binarised: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A run whose system raw/transformer is trained with seed 1; an ensemble is trained too."""
    made = Place(tmp_path_factory.mktemp("place"))
    for name, row in (("corpora/numbers.yaml", CORPUS), ("datasets/numbers.yaml", DATASET)):
        (made.definitions / name).parent.mkdir(parents=True)
        (made.definitions / name).write_text(yaml.safe_dump(row))
    run = {**RUN, "definitions": str(made.definitions)}
    made.configfile.write_text(yaml.safe_dump(run))
    raw = made.results / "numbers/raw"
    shutil.copytree(binarised, raw / "bin")
    for model in ("transformer/seed1", *(f"transformer-big/seed{seed}" for seed in (1, 2, 3))):
        (raw / model).mkdir(parents=True)
        shutil.copy(trained / "checkpoint.pt", raw / model)
    (made.results / "numbers/bpe").mkdir()
    learn([binarised.with_name("train.en")], 40, made.results / "numbers/bpe/codes.source")
    return made


Call = Callable[..., str]


@pytest.fixture
def call(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Call:
    """Calls a command in this process, with `stdin` as its input; returns its output."""

    def run(command: str, *more: str, stdin: bytes = b"", terminal: bool = False) -> str:
        file = io.TextIOWrapper(io.BytesIO(stdin))
        monkeypatch.setattr(file, "isatty", lambda: terminal)
        monkeypatch.setattr(sys, "stdin", file)
        main(place.arguments(command, *more))
        return capsysbinary.readouterr().out.decode()

    return run
