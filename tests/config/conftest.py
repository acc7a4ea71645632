"""Small definitions, and a run that reads them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fastdecode import families
from fastdecode.config import definitions as definitions_module
from fastdecode.config import read as read_module
from fastdecode.config.read import Configuration
from fastdecode.errors import UserError
from fastdecode.families.autoregressive.rows import Decoder, System

SPLITS = {
    split: [{"kind": "files", "source": f"{split}.de", "target": f"{split}.en"}]
    for split in ("train", "valid", "test", "extra")
}
DEFINITIONS: dict[str, Any] = {
    "presets.yaml": {
        "tiny": {"width": 16, "ffn": 32, "heads": 2, "layers": "2-1"},
        "large": {
            "width": 32,
            "ffn": 64,
            "heads": 4,
            "layers": "6-6",
            "training": {
                "dropout": 0.3,
                "lr": 0.2,
                "warmup_updates": 2,
                "average": 2,
                "threads": 2,
            },
        },
    },
    "downloads.yaml": {"d/a.gz": {"url": "http://a/b"}},
    "corpora/talks.yaml": {
        "source": "de",
        "target": "en",
        "splits": SPLITS,
    },
    "datasets/talks.8k.yaml": {
        "corpus": "talks",
        "bpe": {"merges": 8000},
        "tests": ["test", "extra"],
        "roles": {"base": "tiny", "big": "large"},
        "training": {"lr": 0.3, "warmup_updates": 3, "average": 3, "max_epochs": 3},
        "families": {"left": {"warmup_updates": 5, "accumulate": 5}, "other": {"accumulate": 6}},
    },
    "datasets/talks.yaml": {
        "corpus": "talks",
        "bpe": {"merges": 90},
        "roles": {"base": "large", "big": "large"},
    },
    "systems/left.yaml": {
        "training": {"dropout": 0.1, "lr": 0.1, "warmup_updates": 1, "average": 1, "threads": 1}
        | {"label_smoothing": 0.0},
        "systems": {
            "teacher": {"role": "big", "training": {"warmup_updates": 4, "average": 4}},
            "student": {"layers": "12-3"},
        },
        "ensembles": {"teacher-x2": {"system": "teacher", "seeds": [4, 2]}},
        "decoders": {"beam5": {}, "greedy": {"beam": 1}, "fast": {"engine": "fastdecode"}},
    },
    "systems/other.yaml": {"systems": {"curious": {}}, "decoders": {"odd": {}}},
}
RUN: dict[str, Any] = {
    "name": "try",
    "datasets": ["talks.8k"],
    "systems": ["raw/teacher", "teacher-x2/student", "teacher/student"],
    "decoders": ["greedy", "odd", "beam5"],
    "seeds": [7, 1],
    "speedup_over": {"reference": "raw/teacher/greedy"},
    "training": {"average": 5},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The definitions; every family of theirs decodes as the autoregressive one does."""
    monkeypatch.setattr(families, "FAMILIES", ("draft", "left", "mine", "other"))
    monkeypatch.setattr(definitions_module, "decoder_row", lambda family: Decoder)
    monkeypatch.setattr(definitions_module, "system_row", lambda family: System)
    monkeypatch.setattr(read_module, "assets", lambda family: None)
    write(tmp_path / "config", DEFINITIONS)
    return tmp_path / "config"


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(yaml.safe_dump(content))


def read(folder: Path, **changes: Any) -> Configuration:
    return Configuration(RUN | changes, folder, "config.yaml")


def over(entry: str) -> dict[str, str]:
    return {"reference": entry}


def fault(folder: Path, **changes: Any) -> str:
    with pytest.raises(UserError) as error:
        read(folder, **changes)
    assert "\n" not in str(error.value)
    return str(error.value)
