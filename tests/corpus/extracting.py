"""Corpora that are written for a test, and what is extracted of them."""

import gzip
import io
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

from fastdecode.config.corpora import Corpus
from fastdecode.corpus.extract import extract_split
from fastdecode.errors import UserError
from fastdecode.files import read_lines


def corpus(*pieces: dict[str, Any], source: str = "de", target: str = "en") -> Corpus:
    """A corpus whose split `train` has these pieces."""
    return Corpus.model_validate(
        {"source": source, "target": target, "splits": {"train": pieces}, "holdout": {"valid": 2}}
    )


def extract(folder: Path, *pieces: dict[str, Any], **languages: str) -> list[tuple[str, str]]:
    """Extract the pieces, checking what holds of every extraction; return the pairs."""
    row = corpus(*pieces, **languages)
    shutil.rmtree(folder / "out", ignore_errors=True)
    source, target = folder / "out" / "train.de.gz", folder / "out" / "train.en.gz"
    try:
        extract_split(row, "train", folder, source, target)
    except UserError:
        assert not source.parent.exists() or not any(source.parent.iterdir())
        raise
    return list(zip(read_lines(source), read_lines(target), strict=True))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def pack(path: Path, members: dict[str, str | bytes]) -> Path:
    """Write an archive with these members, each below its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    contents = {n: c.encode() if isinstance(c, str) else c for n, c in members.items()}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, content in contents.items():
                zipped.writestr(name, content)
    else:
        with tarfile.open(path, "w:gz") as packed:
            for folder in {str(Path(name).parent) for name in contents} - {"."}:
                entry = tarfile.TarInfo(folder)
                entry.type = tarfile.DIRTYPE
                packed.addfile(entry)
            for name, content in contents.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                packed.addfile(entry, io.BytesIO(content))
    return path


def members(archive: str, source: str, target: str, form: str = "plain") -> dict[str, Any]:
    return {
        "kind": "members",
        "format": form,
        "archive": archive,
        "source": source,
        "target": target,
    }
