"""From BPE text to what fairseq trains on, by `fairseq-preprocess`."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fastdecode.corpus.aside import build_aside
from fastdecode.errors import UserError
from fastdecode.files import open_to_write, read_pairs
from fastdecode.progress import say

LOG = "binarise.log"

Pair = tuple[Path, Path]  # source and target text, plain or .gz


def binarise(
    train: Pair,
    valid: Pair,
    out: Path,
    source: str,
    target: str,
    *,
    joined: bool,
    dictionaries: Path | None = None,
    processes: int = 1,
) -> None:
    """Binarise training and validation text of the languages `source` and `target` into `out`.

    `out` gets `dict.<language>.txt`, `{train,valid}.<source>-<target>.<language>.{bin,idx}` and the
    tool's own words in `binarise.log`. The dictionaries are made from the training text, one for
    both languages if `joined`; or they are those in the folder `dictionaries`, as a distilled
    training set needs, which shares them with the raw one. Files appear together.

    Raises UserError on empty text, sides of unequal length, missing dictionaries, and if
    fairseq-preprocess fails: its words are then in `<out>.log`.
    """
    programs = [sys.executable, "-m", "fastdecode.programs"]
    command = [*programs, "preprocess", "--workers", str(processes)]
    command += ["--source-lang", source, "--target-lang", target]
    if dictionaries:
        for option, language in (("--srcdict", source), ("--tgtdict", target)):
            path = dictionaries / f"dict.{language}.txt"
            if not path.is_file():
                raise UserError(f"{path}: no such dictionary: binarise the raw data set first")
            command += [option, str(path)]
    elif joined:
        command.append("--joined-dictionary")

    with build_aside(out) as part, TemporaryDirectory(dir=part) as name:
        for split, pair in (("train", train), ("valid", valid)):
            _copy(pair, Path(name, f"{split}.{source}"), Path(name, f"{split}.{target}"))
        command += ["--trainpref", f"{name}/train", "--validpref", f"{name}/valid"]
        command += ["--destdir", str(part)]
        log = part / LOG
        with log.open("w") as file:
            done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
        lines = log.read_text(errors="replace").splitlines()
        if done.returncode:
            kept = out.with_name(f"{out.name}.log")
            shutil.copy(log, kept)
            for line in lines[-15:]:
                say("binarise", line)
            last = next((line for line in reversed(lines) if line.strip()), "it said nothing")
            raise UserError(f"fairseq-preprocess failed: {last} (all it said: {kept})")
        (part / "preprocess.log").unlink(missing_ok=True)  # fairseq's own, the same words
    for line in lines:
        if " sents, " in line:  # sentences, tokens, and how many were replaced by <unk>
            say("binarise", line[line.find("[") :].replace(f"{name}/", ""))


def _copy(pair: Pair, source: Path, target: Path) -> None:
    """Copy a parallel text to plain files, as fairseq reads no others."""
    lines = 0
    with open_to_write(source) as left, open_to_write(target) as right:
        for one, other in read_pairs(*pair):
            left.write(one + "\n")
            right.write(other + "\n")
            lines += 1
    if not lines:
        raise UserError(f"{pair[0]}: no lines, nothing to binarise")
