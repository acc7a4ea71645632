"""How much memory a system takes to translate, each measured in a process of its own.

The processes are forked from one that has imported PyTorch and fairseq but done nothing with them,
so that the import is paid once. What a child has in memory is then what it loads and computes,
with the parts of the libraries that it touches.
"""

import gc
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from fastdecode.errors import UserError
from fastdecode.measure.child import in_child
from fastdecode.measure.latency import DoesNotFit
from fastdecode.measure.timing import Bench, Entry, build
from fastdecode.progress import track

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # what CLEAR takes to set VmHWM back to VmRSS: man 5 proc


def measure_memory(entries: Sequence[Entry], bench: Bench) -> list[dict[str, Any]]:
    """Return one row for every entry and batch size: 1 and, where Smax is timed, the sweep's.

    The lines are chosen as for latency, of those that all systems can read; there is one thread. A
    row has "name", the entry's labels, "batch", and in bytes:

    - "start" and "loaded": what was resident before and after loading;
    - "peak": the most that was resident while the sample was translated, counted from the begin of
      the "batch size" or, where the system does not allow that, from the "start" of the process
      ("peak_since" says which);
    - on a GPU "allocator_peak" and "allocator_reserved", PyTorch's own, of the batch size.

    A batch size that does not fit has "left_out", the reason, instead of peaks, and is the last.

    Raises UserError if a process ends before it has answered.
    """
    rows = []
    longest = in_child(partial(_longest, entries, bench), "memory")
    for entry in track(entries, "memory", "decoders", len(entries)):
        found = in_child(partial(_measure, entry, bench, longest), f"memory of {entry.name}")
        rows += [{"name": entry.name, **entry.labels, **row} for row in found]
    return rows


def _longest(entries: Sequence[Entry], bench: Bench) -> int:
    """Return how many BPE tokens a line may have that all systems can read; load one by one."""
    checkpoints = (path for e in entries for path in (e.checkpoint, *e.companions.values()))
    return min(bench.load(checkpoint).longest for checkpoint in dict.fromkeys(checkpoints))


def _measure(entry: Entry, bench: Bench, longest: int) -> list[dict[str, Any]]:
    """Load and translate in this process: see measure_memory."""
    torch.set_num_threads(1)
    start = resident("VmRSS")
    system = bench.equip(entry, {})
    decode, _ = build(entry, system, bench.text, staged=False)
    batches = bench.workload(longest, "S1").batches
    if "Smax" in bench.settings.scenarios:
        batches = {**bench.workload(longest, "Smax").batches, **batches}
    del system  # a decoder keeps what it needs of it
    gc.collect()
    loaded = resident("VmRSS")
    rows: list[dict[str, Any]] = []
    for size, some in sorted(batches.items()):
        rows.append({"batch": size, "start": start, "loaded": loaded})
        since = "batch size" if _reset_peak() else "start"
        if bench.device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        try:
            for batch in some:
                decode(bench.raw(batch))
        except DoesNotFit as error:
            rows[-1]["left_out"] = str(error)
            break
        rows[-1] |= {"peak": resident("VmHWM"), "peak_since": since}
        if bench.device == "cuda" and entry.settings.get("engine") != "ctranslate2":
            # CTranslate2 has an allocator of its own, which does not say how much it took
            rows[-1]["allocator_peak"] = torch.cuda.max_memory_allocated()
            rows[-1]["allocator_reserved"] = torch.cuda.max_memory_reserved()
    return rows


def resident(field: str, status: Path = STATUS) -> int:
    """Return bytes of this process in memory: `VmRSS` now, `VmHWM` at most so far.

    Raises UserError where the system does not say.
    """
    try:
        found = re.search(rf"^{field}:\s*(\d+) kB$", status.read_text(), re.MULTILINE)
    except OSError:
        found = None
    if not found:
        raise UserError(f"{status}: no {field}: memory is measured on Linux only")
    return int(found[1]) * 1024


def _reset_peak() -> bool:
    """Let VmHWM begin again with what is resident now; return whether the system allows it."""
    try:
        CLEAR.write_text(RESET_PEAK)
    except OSError:
        return False
    return True
