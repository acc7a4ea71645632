"""What the device is and can do at best: memory read bandwidth and matrix throughput.

A decoder pass reads its weights once, so bandwidth sets a floor to its time. A bandwidth that a
decoder can exceed is no floor: so several kernels read, and the best of them counts. Bytes read are
those of the one large operand; the vector beside it and the result are left out.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.progress import say
from fastdecode.provenance import cores, describe, of_cores, processor

MEBIBYTE = 1 << 20
WIDTH = 512  # of the matrix that is multiplied by a vector, as in a base Transformer
MATRIX = {"cpu": 2048, "cuda": 8192}  # rows and columns of the matrices that are multiplied


NOTES = {
    "bandwidth": "the large operand's bytes over the time of one call, the best of all kernels; a "
    "decoder whose weights stay in the caches can exceed it",
    "throughput": "a multiplication and an addition are two operations",
}


class Kernel(NamedTuple):
    """One way to keep the device busy."""

    name: str
    precision: str
    unit: str  # GB/s or GFLOP/s
    amount: int  # bytes read, or operations, in a call
    run: Callable[[], Any]


def threads_of(word: str) -> int:
    """Return how many threads `all` or a number stands for: all cores of this process.

    Raises UserError on more threads than cores, which would wait for each other.
    """
    threads = cores() if word == "all" else int(word)
    if threads > cores():
        raise UserError(
            f"latency.threads: {threads} is more than the {of_cores(cores())} here: take fewer"
        )
    return threads


def synchroniser(device: str) -> Callable[[], None]:
    """Return what waits until `cpu` or `cuda` has done all it was given: before every clock."""
    return torch.cuda.synchronize if device == "cuda" else lambda: None


def bandwidth_of(machine: Path, threads: int, device: str) -> float:
    """Return the memory bandwidth (GB/s) that was measured with so many threads.

    `device` is `cpu`, `cuda`, or a description. Raises UserError where the measurement is another
    machine's, or of other numbers of threads: the floor of a time would be another's.
    """
    found = read_json(machine)
    here = describe(device)
    measured = found["provenance"]["device"]
    if processor(measured) != processor(here) or str(threads) not in found["bandwidth"]:
        raise UserError(
            f"{machine} is of {measured}, threads {', '.join(found['bandwidth'])}, and this is "
            f"{here}, threads {threads}: time everything on machines of one kind, and delete that "
            "file where it is of another"
        )
    return float(found["bandwidth"][str(threads)])


def measure_machine(device: str, threads: Sequence[int]) -> dict[str, Any]:
    """Measure the device with each number of CPU threads; takes a few seconds a number.

    Returns {"bandwidth": {threads: GB/s}, "throughput": {precision: {threads: GFLOP/s}}, "kernels":
    [{threads, kernel, precision, amount, seconds, value, unit}]}: the first two are the best of
    the last. Numbers of threads are text, as keys of JSON are. A multiplication and an addition
    are two operations. Leaves PyTorch with the last number of threads.
    """
    synchronise = synchroniser(device)
    size = array_bytes() if device == "cpu" else 1024 * MEBIBYTE
    calls = 1 if device == "cpu" else 10  # a GPU is so fast that waiting for it would count
    measured = []
    with torch.inference_mode():
        kernels = [*_reading(device, size), *_multiplying(device)]
        for count in threads:
            torch.set_num_threads(count)
            for kernel in kernels:
                seconds = best_time(kernel.run, synchronise, calls)
                value = kernel.amount / seconds / 1e9
                say("machine", f"{count} threads, {kernel.name}: {value:,.1f} {kernel.unit}")
                measured.append(
                    {
                        "threads": count,
                        "kernel": kernel.name,
                        "precision": kernel.precision,
                        "amount": kernel.amount,
                        "seconds": seconds,
                        "value": value,
                        "unit": kernel.unit,
                    }
                )
    return {**best(measured), "kernels": measured}


def best(kernels: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return "bandwidth" by threads and "throughput" by precision and threads: the highest.

    What fewer threads reach counts for more threads too.
    """
    bandwidth: dict[str, float] = {}
    throughput: dict[str, dict[str, float]] = {}
    for threads in sorted({kernel["threads"] for kernel in kernels}):
        for kernel in kernels:
            if kernel["threads"] > threads:
                continue
            reads = kernel["unit"] == "GB/s"
            table = bandwidth if reads else throughput.setdefault(kernel["precision"], {})
            table[str(threads)] = max(table.get(str(threads), 0.0), kernel["value"])
    return {"bandwidth": bandwidth, "throughput": throughput}


def best_time(
    run: Callable[[], Any],
    synchronise: Callable[[], None],
    calls: int = 1,
    duration: float = 0.5,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the seconds of one call: the least of repeats that last `duration`, but at least 3.

    A repeat is the mean of `calls` calls. What else happens on a machine only adds to a time, so
    the least is nearest to the truth. The first repeat, which warms up, does not count.
    """
    times: list[float] = []
    while len(times) < 4 or sum(times) * calls < duration:
        synchronise()
        start = clock()
        for _ in range(calls):
            run()
        synchronise()
        times.append((clock() - start) / calls)
    return min(times[1:])


def array_bytes(cpus: Path = Path("/sys/devices/system/cpu")) -> int:
    """Return the size of arrays that caches do not hold: 4 times all of them, 256 MiB to 1 GiB.

    Linux says what caches there are, if not of every processor; one that several cores share is
    counted once. A server has more than one job's cores can fill: a gibibyte is enough for these.
    """
    caches = {}
    for cache in cpus.glob("cpu[0-9]*/cache/index[0-9]*"):
        try:
            shared, level, size = (
                (cache / n).read_text() for n in ("shared_cpu_list", "level", "size")
            )
            caches[level, shared] = int(size.strip().removesuffix("K")) << 10
        except (OSError, ValueError):
            continue
    return min(max(256 * MEBIBYTE, 4 * sum(caches.values())), 1024 * MEBIBYTE)


def _reading(device: str, size: int) -> Iterator[Kernel]:
    """Yield kernels that read about `size` bytes."""
    matrix = torch.ones(size // 4 // WIDTH, WIDTH, device=device)  # unlike zeros, written to memory
    vector = torch.ones(1, WIDTH, device=device)
    read = ("fp32", "GB/s", matrix.numel() * 4)
    yield Kernel("sum", *read, matrix.sum)
    yield Kernel("matrix-vector", *read, partial(F.linear, vector, matrix))
    if device == "cpu" and torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        onednn = torch.ops.mkldnn
        packed = onednn._reorder_linear_weight(matrix)
        multiply = partial(onednn._linear_pointwise, vector, packed, None, "none", [], "")
        yield Kernel("packed matrix-vector", *read, multiply)


def _multiplying(device: str) -> Iterator[Kernel]:
    """Yield multiplications of square matrices in every precision that decoders use."""
    side = MATRIX[device]
    types = {"fp32": torch.float32}
    if device == "cuda":
        types |= {"fp16": torch.float16, "bf16": torch.bfloat16}
    for precision, dtype in types.items():
        matrix = torch.ones(side, side, dtype=dtype, device=device)
        multiply = partial(torch.mm, matrix, matrix)
        yield Kernel("matrix-matrix", precision, "GFLOP/s", 2 * side**3, multiply)
