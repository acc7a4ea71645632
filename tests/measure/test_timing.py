from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fastdecode.errors import UserError
from fastdecode.measure.latency import DoesNotFit
from fastdecode.measure.timing import Bench, Entry, build, time_decoders
from fastdecode.stages import Stopwatch
from fastdecode.system import System
from fastdecode.transformer.weights import Layers
from fastdecode.translation import Translation

Entries = Callable[..., Entry]


def test_all_decoders_of_a_run_are_timed_on_the_same_lines(
    bench: Bench, entry: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    load = Bench.load
    monkeypatch.setattr(Bench, "load", lambda self, path: loaded.append(path) or load(self, path))
    timings = time_decoders([entry("greedy"), entry("beam2", beam=2)], bench, "S1")
    assert len(loaded) == 1  # the checkpoint of both
    assert [(one.decoder, one.batch) for one in timings.measured] == [
        ("raw/tiny/greedy", 1),
        ("raw/tiny/beam2", 1),
    ]
    assert len(timings.lines) == 3 and 0 not in timings.lines  # the blank one
    label = timings.labels["raw/tiny/beam2"]
    assert label["bytes_per_pass"] > 1000
    assert (label["layers_once"], label["layers_per_pass"]) == (1, 1)
    assert {key: label[key] for key in ("target", "system", "seed", "decoder", "precision")} == {
        "target": "raw",
        "system": "tiny",
        "seed": 1,
        "decoder": "beam2",
        "precision": "fp32",
    }
    assert timings.staged is timings.measured
    for one in timings.measured:
        assert len(one.samples) == 3 * 2
        assert {"preprocess", "encode", "decode", "search", "finish"} == set(one.stages)
        whole = sum(sample.milliseconds for sample in one.samples) / 1e3
        assert 0.5 * whole < sum(one.stages.values()) <= whole


def test_no_line_is_timed_that_one_of_the_decoders_cannot_read(
    bench: Bench, entry: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = sorted(map(len, bench.sources))
    systems = {"far": Pretended(), "near": Pretended()}
    for system in systems.values():
        system.device = "cpu"
    systems["near"].longest = lengths[len(lengths) // 2]
    assert systems["near"].longest < lengths[-1] < systems["far"].longest
    monkeypatch.setattr(Bench, "load", lambda self, path: systems[path])
    entries = [replace(entry(name), checkpoint=name) for name in systems]
    bench = replace(bench, settings=bench.settings.model_copy(update={"lines": len(lengths)}))
    timings = time_decoders(entries, bench, "S1")
    read = [len(bench.sources[line]) for line in timings.lines]
    assert max(read) == systems["near"].longest and len(read) > 3


def test_a_model_is_loaded_once_whoever_decodes_with_it(bench: Bench, entry: Entries) -> None:
    alone, other = entry("greedy"), entry("draft")
    checkpoint = alone.checkpoint
    other = replace(other, assets="/folder", companions={"verifier": checkpoint})
    loaded: dict[str, System] = {}
    systems = [bench.equip(one, loaded) for one in (alone, other)]
    assert list(loaded) == [checkpoint]
    assert (systems[0].assets, dict(systems[0].companions)) == (None, {})
    assert systems[1].assets == Path("/folder")
    assert systems[1].companion("verifier").models is systems[1].models is systems[0].models
    made = systems[0].share("what both lay out", lambda: object())
    assert systems[1].share("what both lay out", lambda: object()) is made
    with pytest.raises(UserError, match="this decoder needs verifier too: load the system with"):
        systems[0].companion("verifier")


def test_a_sweep(bench: Bench, entry: Entries) -> None:
    timings = time_decoders([entry()], bench, "Smax")
    assert [(one.batch, len(one.samples)) for one in timings.measured] == [(2, 3 * 2), (4, 2 * 2)]
    assert timings.left_out == [99]
    lengths = [len(bench.text.source_tokens(bench.lines[line])) for line in timings.lines]
    assert len(lengths) == 6 and lengths == sorted(lengths, reverse=True)


class Pretended:
    """A system on a GPU that is none, whose decoders remember their stopwatches."""

    device, longest = "cuda", 99

    def __init__(self) -> None:
        self.watches: list[Stopwatch] = []

    def equipped(self, assets: Any, companions: Any) -> "Pretended":
        return self

    def decoder(self, family: str, settings: Any, finish: Any, watch: Stopwatch) -> Any:
        self.watches.append(watch)

        def decode(sources: Sequence[Sequence[str]]) -> list[Translation]:
            watch.start()
            watch.lap("decode")
            return watch.share([Translation("", [], None, 1)] * len(sources))

        decode.bytes_per_pass = 8  # type: ignore[attr-defined]
        decode.serial_layers = Layers(1, 1)  # type: ignore[attr-defined]
        return decode


def test_on_a_gpu_the_stages_are_timed_apart(
    bench: Bench, entry: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []
    system = Pretended()
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: waits.append(1))
    monkeypatch.setattr(Bench, "load", lambda self, path: system)
    timings = time_decoders([entry()], replace(bench, device="cuda"), "S1")
    (measured,), (staged,) = timings.measured, timings.staged
    assert not measured.stages and len(measured.samples) == 3 * 2
    assert set(staged.stages) == {"preprocess", "decode"} and len(staged.samples) == 3 * 2
    assert len(system.watches) == 2
    # two waits a sample; and in the further passes, also in the warm-up, here of all lines, and
    # at the opening of their turns, start and lap of both stopwatches
    assert len(waits) == 2 * 6 + 2 * 6 + 4 * (3 + 6 + 2)
    batches = time_decoders([entry()], replace(bench, device="cuda"), "Smax").staged
    assert {sample.repeat for one in batches for sample in one.samples} == {0}  # one is enough


def refusing(error: Exception) -> Any:
    def decode(sources: Sequence[Sequence[str]]) -> list[Translation]:
        raise error

    decode.bytes_per_pass = 0  # type: ignore[attr-defined]
    decode.serial_layers = Layers(0, 0)  # type: ignore[attr-defined]
    return SimpleNamespace(device="cpu", decoder=lambda *arguments: decode)


def no_memory() -> Exception:
    try:
        torch.empty(1 << 50)
    except RuntimeError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    "error",
    [
        no_memory(),
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("CUDA failed with error out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("std::bad_alloc"),
    ],
)
def test_too_little_memory_is_told_from_faults(
    bench: Bench, entry: Entries, error: Exception
) -> None:
    decode, _ = build(entry(), refusing(error), bench.text, staged=False)
    with pytest.raises(DoesNotFit) as caught:
        decode(["one"])
    assert type(error).__name__ in str(caught.value) and "\n" not in str(caught.value)
    assert caught.value.__context__ is None  # whose traceback would hold on to tensors


def test_a_fault_stays_a_fault(bench: Bench, entry: Entries) -> None:
    decode, _ = build(entry(), refusing(RuntimeError("shapes differ")), bench.text, staged=False)
    with pytest.raises(RuntimeError, match="shapes differ"):
        decode(["one"])


def test_what_is_not_trained_is_as_long_as_its_reference(bench: Bench, entry: Entries) -> None:
    asked = [9 - number % 4 for number, _ in enumerate(bench.lines)]
    bench = replace(bench, references=asked)
    random = replace(entry("beam2", beam=2), target="untrained", trained=False)
    timings = time_decoders([random, entry("greedy")], bench, "S1")
    held, free = timings.measured
    lengths = [asked[line] for line in timings.lines]
    assert [sample.tokens for sample in held.samples] == lengths * 2
    assert [sample.tokens for sample in free.samples] != lengths * 2
    assert [timings.labels[one.decoder]["trained"] for one in (held, free)] == [False, True]
