"""Where a result comes from: what every JSON result and every translations file carries."""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    "fastdecode",
    "torch",
    "fairseq-fixed",
    "ctranslate2",
    "sacrebleu",
    "sacremoses",
    "subword-nmt",
    "snakemake",
    "numpy",
)

# Where and by what a result was made; all other keys name it.
MADE = ("device", "commit", "packages", "python", "platform", "driver")

CODE = (".", ":/workflow", ":/Snakefile")  # the package, and of the repository around it


def provenance(
    dataset: str | None = None,
    system: str | None = None,
    decoder: str | None = None,
    seed: int | None = None,
    *,
    device: str,
    **more: Any,
) -> dict[str, Any]:
    """Return the origin of a result; two runs of one commit on one machine give the same.

    `dataset`, `system`, `decoder` and `seed` are None where a result has none, or several.
    `device` is `cpu`, `cuda` (see `describe`) or a description. `more` holds what else names the
    result: target, split, tier.
    What passes, load and time of day, belongs into timings alone and comes from `circumstances`.
    """
    return {
        "dataset": dataset,
        "system": system,
        "decoder": decoder,
        "seed": seed,
        "device": describe(device),
        **more,
        "commit": commit(),
        "packages": {name: _version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "driver": gpu_driver() if device == "cuda" else None,
    }


def made(origin: dict[str, Any]) -> dict[str, Any]:
    """Return of a provenance where and by what a result was made, without what names it."""
    return {key: origin[key] for key in MADE}


def circumstances() -> dict[str, Any]:
    """Return what no two runs share: the time (UTC) and the load over 1, 5 and 15 minutes."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_average": list(os.getloadavg()),
    }


def commit(folder: Path = Path(__file__).parent) -> str:
    """Return the git commit of the package in `folder`, with `-dirty-…` if its code is another.

    That is where a file of the package or of the workflow was changed, or is not tracked, such as
    those of a new family. The eight digits behind it stand for all such files, so that results of
    one commit before and after a change are told apart. It is `unknown` where git does not track
    the folder, such as an installed package: a repository that happens to lie around it says
    nothing about this code.
    """
    try:
        if not _git(folder, "ls-files", "--", "."):
            return "unknown"
        found = _git(folder, "rev-parse", "HEAD")
        root = Path(_git(folder, "rev-parse", "--show-toplevel"))
        changed = _git(folder, "diff", "--name-only", "-z", "HEAD", "--", *CODE)
        untracked = ("ls-files", "--others", "--exclude-standard", "--full-name", "-z")
        new = _git(folder, *untracked, "--", *CODE)
    except (OSError, subprocess.CalledProcessError):  # no git, no repository, no commit yet
        return "unknown"
    other = sorted({*changed.split("\0"), *new.split("\0")} - {""})
    return f"{found}-dirty-{_digest(root, other)}" if other else found


def short(commit: str) -> str:
    """Return the first letters of a commit, and what says that the code was another."""
    head, dash, dirty = commit.partition("-")
    return f"{head[:12]}{dash}{dirty}"


def describe(device: str) -> str:
    """Return what `cpu` or `cuda` is on this machine; a description stays what it is."""
    known = {"cpu": describe_cpu, "cuda": describe_gpu}
    return known[device]() if device in known else device


def describe_gpu() -> str:
    """Return the name of the GPU that this process uses, or `cuda` where there is none.

    There may be none where jobs of other machines are only put together. Unless this process
    computes on it already, another one is asked: CUDA, once started, keeps memory until the end.
    """
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_initialized():
        return str(torch.cuda.get_device_name())
    code = "import torch as t; print(t.cuda.get_device_name() if t.cuda.is_available() else 'cuda')"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def gpu_driver() -> str | None:
    """Return the version of NVIDIA's driver, None where nvidia-smi does not say it."""
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(ask, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.partition("\n")[0].strip() or None


def describe_cpu(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor's name and how many of its cores this process may use."""
    name = platform.processor() or platform.machine()
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                name = value.strip()
                break
    return f"cpu: {name}, {of_cores(cores())}"


def is_cpu(device: str) -> bool:
    """Tell whether a device as provenance has it is a processor, and no GPU."""
    return device.startswith("cpu")


def processor(device: str) -> str:
    """Return a device as provenance has it, without the cores that a process could use."""
    return re.sub(r", \d+ cores?$", "", device)


def of_cores(count: int) -> str:
    """Say a number of cores in words."""
    return f"{count} core{'s' * (count != 1)}"


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux: a job of a cluster sees its own share only
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _digest(root: Path, names: Iterable[str]) -> str:
    """Return eight digits for files below `root`, by name and content; some may be no more."""
    found = blake2b(digest_size=4)
    for name in names:
        path = root / name
        content = blake2b(path.read_bytes()).hexdigest() if path.is_file() else "no file"
        found.update(f"{name}\0{content}\0".encode(errors="surrogateescape"))
    return found.hexdigest()


def _git(folder: Path, *arguments: str) -> str:
    # without optional locks: jobs that ask at the same time must not hinder one another
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, errors="surrogateescape"
    )
    return done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
