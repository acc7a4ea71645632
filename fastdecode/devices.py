"""Which GPUs a job uses, where nobody hands them out.

SLURM gives every job its own where its executor starts it. Snakemake alone only counts them
(`--resources gpu=2`) and would let all jobs see all of them, on a workstation as within one
allocation: so each takes its own here, by locks that the kernel lifts when it ends, however it
ends. Small models leave most of a GPU idle: where a run says so (`jobs_per_gpu`), jobs that are not
timed share one.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from fastdecode.errors import UserError
from fastdecode.progress import say


def check_device(device: str) -> None:
    """Raise UserError if `device` is cuda and there is none: nothing falls back silently."""
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UserError(
                "device: cuda, but this machine shows no GPU to PyTorch: set device: cpu, or run "
                "where `python -c 'import torch; print(torch.cuda.is_available())'` prints True"
            )


def looks_are_free(device: Any) -> bool:
    """Whether the host knows the numbers on a torch `device` without waiting for it."""
    return bool(device.type == "cpu")


@contextmanager
def own_devices(device: str, count: int, sharers: int = 1) -> Iterator[None]:
    """Let this process see `count` GPUs alone, which no other job of this user has.

    A job of one GPU shares it with up to `sharers` - 1 others that share by the same number, never
    with one that does not share. Waits until they are free. It must come before CUDA starts, and
    does not start it. On a CPU nothing is done, nor in a SLURM job that has its GPUs on several
    nodes, fewer on each. Raises UserError if there are fewer.
    """
    names = visible_devices() if device == "cuda" else []
    if device != "cuda" or (len(names) < count and "SLURM_JOB_ID" in os.environ):
        yield
        return
    if len(names) < count:
        check_device(device)
        raise UserError(f"a job asks for {count} GPUs, but this machine shows {len(names)}")
    with ExitStack() as held:
        taken = _take(names, count, sharers if count == 1 else 1, held)
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(taken)
        yield


def visible_devices() -> list[str]:
    """Return the GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [name.strip() for name in named.split(",") if name.strip()]
    import torch

    # PyTorch counts without starting CUDA, which would read CUDA_VISIBLE_DEVICES once and for all.
    return [str(number) for number in range(torch.cuda.device_count())]


def _take(
    names: Sequence[str], count: int, sharers: int, held: ExitStack, pause: float = 0.5
) -> list[str]:
    """Lock `count` devices until `held` closes; return their names, in the order of `names`."""
    # Every SLURM job counts its own devices from 0: only jobs within one allocation share them.
    allocation = os.environ.get("SLURM_JOB_ID", "")
    whose = f"{os.getuid()}-{allocation}" if allocation else f"{os.getuid()}"
    folder = Path(tempfile.gettempdir(), f"fastdecode-devices-{whose}")
    folder.mkdir(mode=0o700, exist_ok=True)
    # The second place on a GPU comes after the first of all.
    shares: list[int | None] = [None] if sharers == 1 else list(range(sharers))
    places = [(name, share) for share in shares for name in names]
    taken: set[str] = set()
    # One at a time collects, in turn: two that have half of what they need would wait for ever.
    with (folder / "turn").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        said = False
        while True:
            for name, share in places:
                if len(taken) < count and name not in taken and _lock(folder, name, share, held):
                    taken.add(name)
            if len(taken) == count:
                return [name for name in names if name in taken]
            if not said:
                say("gpu", f"waiting for {count - len(taken)} of {count}: other jobs hold them")
                said = True
            time.sleep(pause)


def _lock(folder: Path, name: str, share: int | None, held: ExitStack) -> bool:
    """Try to lock one device until `held` closes: all of it, or one share of it."""
    whole = folder / name.replace("/", "_")
    if share is None:
        return _hold(whole, fcntl.LOCK_EX, held)
    # Whatever number others share it by, they keep out who wants all of it.
    with ExitStack() as both:
        part = whole.with_name(f"{whole.name}.{share}")
        if _hold(part, fcntl.LOCK_EX, both) and _hold(whole, fcntl.LOCK_SH, both):
            held.enter_context(both.pop_all())
            return True
    return False


def _hold(path: Path, kind: int, held: ExitStack) -> bool:
    """Try to lock a file until `held` closes. Processes that inherit open files hold it too."""
    file = path.open("w")
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    os.set_inheritable(file.fileno(), True)
    held.enter_context(file)
    return True
