"""Estimating the 5-gram language model of the beam search with KenLM.

Heafield et al. (2013). KenLM's Python package only queries (ngrams.py); `lmplz` and `build_binary`,
which estimate, are taken from PATH or built from the same package's source.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from fastdecode.corpus.aside import build_aside
from fastdecode.errors import UserError
from fastdecode.families.dag.ngrams import KENLM, kenlm_package
from fastdecode.files import read_lines

SOURCE_SHA256 = "c4628bb9fb63c8a6f9240035b8b037385cfc404cb72e933cf48878291edac1e8"
ORDER = 5
PRUNE = ("0", "1", "5")  # n-grams seen so often or less are left out, by order; the last for all
TOOLS = ("lmplz", "build_binary")
BOOST = "libboost-{program-options,system,thread,test}-dev"


def build_tools(out: Path) -> None:
    """Put `lmplz` and `build_binary` into the new folder `out`: from PATH, or built from source.

    Raises UserError if they have to be built and cmake, a compiler or Boost is missing, or if it is
    KenLM's package, which asks the model later and is better missed before all trainings.
    """
    kenlm_package()
    with build_aside(out.parent) as part:
        folder = part / out.name
        folder.mkdir()
        found = {tool: shutil.which(tool) for tool in TOOLS}
        if not all(found.values()):
            found = _compile(part / "source")
        for tool, path in found.items():
            shutil.copy(str(path), folder / tool)
        shutil.rmtree(part / "source", ignore_errors=True)


def _compile(folder: Path) -> dict[str, str | None]:
    """Build KenLM's tools in the new folder `folder`; return where they are."""
    for program, package in (("cmake", "cmake"), ("c++", "g++")):
        if not shutil.which(program):
            raise UserError(
                f"lmplz is not on PATH, and to build it there is no {program}: install {package}, "
                f"and Boost ({BOOST} in Debian)"
            )
    build = folder / "build"
    build.mkdir(parents=True)
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{KENLM} --hash=sha256:{SOURCE_SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-build-isolation"]
    _run(
        [*pip, "--no-binary", ":all:", "-r", str(wanted), "-d", str(folder)],
        "KenLM cannot be downloaded",
    )
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        # Python 3.11 has filters since 3.11.4
        filters: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        packed.extractall(folder, **filters)
    (source,) = folder.glob("*/CMakeLists.txt")
    _run(
        ["cmake", "-S", str(source.parent), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release"],
        f"KenLM cannot be configured: is Boost there ({BOOST} in Debian, or BOOST_ROOT)?",
    )
    jobs = str(len(os.sched_getaffinity(0)))
    _run(
        ["cmake", "--build", str(build), "--parallel", jobs, "--target", *TOOLS],
        "KenLM does not compile",
    )
    return {tool: str(build / "bin" / tool) for tool in TOOLS}


def estimate(text: Path, tools: Path, out: Path) -> None:
    """Estimate a model of ORDER-grams from the BPE tokens in `text`; write KenLM's binary `out`.

    Modified Kneser-Ney smoothing; where a text is too small for its discounts, KenLM's own take
    their place. Raises UserError if the text is empty or KenLM fails.
    """
    with build_aside(out.parent) as part:
        plain, arpa = part / "text", part / "arpa"
        with plain.open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in read_lines(text))
        if not plain.stat().st_size:
            raise UserError(f"{text}: empty: there is nothing to estimate a language model from")
        _run(
            [
                *(str(tools / "lmplz"), "-o", str(ORDER), "--prune", *PRUNE),
                *("--discount_fallback", "--skip_symbols", "-S", "1G", "-T", str(part)),
                *("--text", str(plain), "--arpa", str(arpa)),
            ],
            "KenLM cannot estimate the model",
        )
        _run(
            [str(tools / "build_binary"), str(arpa), str(part / out.name)],
            "KenLM cannot write the model",
        )
        plain.unlink()
        arpa.unlink()


def _run(words: list[str], what: str) -> None:
    """Run a command. Raises UserError with its last lines if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = " | ".join((done.stdout + done.stderr).strip().splitlines()[-4:])
        raise UserError(f"{what}: {Path(words[0]).name} ended with {done.returncode}: {said}")
