"""The encoders of drafter and verifier: one after the other, both at once, or one for both.

The paper leaves the second and the third way as future work (section 5.4).
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import torch

from fastdecode.drafting import Batch, Drafter, Drafts
from fastdecode.families.aggressive.sides import Checks, Verifier
from fastdecode.stages import Stopwatch


def begin_both(
    verifier: Verifier, drafter: Drafter, batch: Batch, room: int, how: str, watch: Stopwatch
) -> tuple[Checks, Drafts]:
    """Begin with a batch on both sides; `how` as `encoders` in the decoder's row.

    Stages: encode, the verifier's encoder (and the drafter's, at once), and the drafter's own,
    encode-drafter or, where it drafts all at once, draft.
    """
    if how == "concurrent":
        encoded, drafts = _at_once(verifier, drafter, batch)
        checks = verifier.begin(batch, encoded, room)
        watch.lap("encode")
        return checks, drafts
    encoded = verifier.encode(batch)
    checks = verifier.begin(batch, encoded, room)
    watch.lap("encode")
    drafts = drafter.begin(batch, encoded if how == "shared" else None)
    watch.lap(drafter.begins)
    return checks, drafts


def _at_once(verifier: Verifier, drafter: Drafter, batch: Batch) -> tuple[Any, Drafts]:
    """Run the drafter's encoder beside the verifier's.

    On a CPU they share the threads that there are; with one thread they take turns.
    """
    if batch.tokens.is_cuda:
        main, other = torch.cuda.current_stream(), _other_stream(batch.tokens.device)
        other.wait_stream(main)
        with torch.cuda.stream(other):
            drafts = drafter.begin(batch)
        encoded = verifier.encode(batch)
        main.wait_stream(other)
        return encoded, drafts
    threads = torch.get_num_threads()
    if threads == 1:  # what is timed with one thread has no second one
        return verifier.encode(batch), drafter.begin(batch)
    # PyTorch keeps its modes and its count of threads for each thread by itself.
    begun = _other_thread().submit(_begin, drafter, batch, threads // 2)
    torch.set_num_threads(threads - threads // 2)
    try:
        return verifier.encode(batch), begun.result()
    finally:
        torch.set_num_threads(threads)


def _begin(drafter: Drafter, batch: Batch, threads: int) -> Drafts:
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    with torch.inference_mode():
        return drafter.begin(batch)


@cache
def _other_stream(device: torch.device) -> torch.cuda.Stream:
    """Return the same stream every time: PyTorch keeps memory for every one that there was."""
    return torch.cuda.Stream(device)


@cache
def _other_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "drafter's encoder")
