"""The micro configuration: 200 pairs and a few updates through the whole workflow."""

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ENGLISH = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
GERMAN = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"]
SIZES = {"train": 200, "valid": 12, "test": 12}
SMALL = {"width": 16, "ffn": 32, "heads": 2, "layers": "1-1"}
RUN = {
    "name": "micro",
    "datasets": ["micro"],
    "systems": ["raw/transformer-big", "transformer-big/transformer"],
    "decoders": ["beam5", "greedy"],
    "speedup_over": {"reference": "raw/transformer-big/beam5"},
    "papers": [],
    "definitions": "own",
    "latency": {
        "threads": [1],
        "lines": 3,
        "batches": [2, 4, 50],
        "batch_lines": 8,
        "warmup": 1,
        "repeats": 2,
    },
}
TRAINING = {"max_epochs": 3, "batch_tokens": 256, "lr": 3e-3, "warmup_updates": 10, "average": 2}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Workplace:
    """A folder with a micro corpus and the rows that describe it."""

    root = ROOT  # of the repository whose workflow runs

    def __init__(self, folder: Path):
        self.folder = folder
        for split, size in SIZES.items():
            lines = [self._pair(Random(f"{split} {number}")) for number in range(size)]
            for side, language in enumerate(("en", "de")):
                text = "".join(pair[side] + "\n" for pair in lines)
                write(folder / f"text/{split}.{language}", text)
        piece = {"kind": "files"}
        self.corpus: dict[str, Any] = {
            "source": "en",
            "target": "de",
            "clean": {"max_ratio": None},
            "splits": {
                split: [piece | {"source": f"text/{split}.en", "target": f"text/{split}.de"}]
                for split in SIZES
            },
        }
        roles = {"base": "micro", "big": "micro"}
        self.dataset: dict[str, Any] = {
            "corpus": "micro",
            "bpe": {"merges": 40},
            "roles": roles,
            "training": dict(TRAINING),
        }
        self.preset: dict[str, Any] = dict(SMALL)
        self.run: dict[str, Any] = dict(RUN)
        self.save()

    @staticmethod
    def _pair(random: Random) -> tuple[str, str]:
        numbers = [random.randrange(10) for _ in range(random.randint(3, 9))]
        english, german = (" ".join(names[n] for n in numbers) for names in (ENGLISH, GERMAN))
        return f"{english.capitalize()}.", f"{german.capitalize()}."

    def save(self) -> None:
        """Write the rows."""
        own = self.folder / "own"
        write(own / "presets.yaml", yaml.safe_dump({"micro": self.preset}))
        write(own / "corpora/micro.yaml", yaml.safe_dump(self.corpus))
        write(own / "datasets/micro.yaml", yaml.safe_dump(self.dataset))
        write(self.folder / "run.yaml", yaml.safe_dump(self.run))

    def copy(self, folder: Path) -> "Workplace":
        """Return a copy with all its results, whose files are as old as these."""
        other = copy.copy(self)
        other.folder = shutil.copytree(self.folder, folder)
        return other

    def command(self, *targets: str) -> list[str]:
        """Return the call of snakemake for this folder."""
        return [
            *(sys.executable, "-m", "snakemake", "-s", str(self.root / "Snakefile")),
            *("--directory", str(self.folder), "--cores", "2"),
            *("--configfile", str(self.folder / "run.yaml"), "--", *targets),
        ]

    def snakemake(self, *targets: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run snakemake to its end; its output and errors are in stdout."""
        return subprocess.run(
            self.command(*targets),
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **more,
        )

    def told(self, *options: str, status: int = 0) -> str:
        """Return what snakemake prints with `options` in place of targets, as `--dry-run`.

        Where it is to fail, with another `status`, return its errors.
        """
        command = self.command()
        command[command.index("--") :] = options
        done = subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stderr if status else done.stdout

    def own_report(self, page: Path) -> dict[str, set[str]]:
        """Return category → names of files that the page of `snakemake --report` shows."""
        self.told("--report", str(page))
        found = re.search(r"var categories = (.*?);\n", page.read_text(encoding="utf-8"))
        assert found
        return {
            category: {Path(file).name for files in parts.values() for file in files}
            for category, parts in json.loads(found[1]).items()
        }

    def path(self, name: str) -> Path:
        """Return a path below results/."""
        return self.folder / "results" / name


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    """A fresh micro workplace."""
    return Workplace(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A micro workplace in which everything has run, undisturbed; what was distilled is aligned."""
    place = Workplace(tmp_path_factory.mktemp("finished"))
    done = place.snakemake("all", "results/micro/transformer-big/align/symmetrised.gz")
    assert done.returncode == 0, done.stdout
    return place
