import gc
import time
from collections.abc import Callable, Sequence
from itertools import count
from statistics import median

import pytest

from fastdecode.errors import UserError
from fastdecode.measure.disturbance import Usage
from fastdecode.measure.latency import DoesNotFit, Interrupted, Series, measure
from fastdecode.translation import Translation

MS = 1_000_000  # nanoseconds
SINGLES = {1: [["a"], ["bb"]]}
SWEEP = {2: [["cccc", "ccc"], ["bb", "a"]], 4: [["cccc", "ccc", "bb", "a"]]}


class Machine:
    """A device with a clock of its own: work is queued, and done when someone waits for it."""

    def __init__(self) -> None:
        self.now = 0
        self.queued = 0
        self.log: list[str] = []

    def clock(self) -> int:
        self.now += 7 * MS  # reading it takes long: it must not be read in between
        self.log.append("clock")
        return self.now

    def synchronise(self) -> None:
        self.now += self.queued
        self.queued = 0
        self.log.append("synchronise")

    def usage(self) -> Usage:
        self.log.append("usage")
        return Usage(self.now, 0, 0)

    def decoder(
        self, name: str, cost: int, fits: int = 99
    ) -> Callable[[Sequence[str]], list[Translation]]:
        def decode(lines: Sequence[str]) -> list[Translation]:
            if len(lines) > fits:
                raise DoesNotFit(f"{len(lines)} are too many")
            self.queued += cost * max(map(len, lines)) * MS
            self.log.append(f"{name} {' '.join(lines)}")
            timed = self.log.count("clock") % 2
            assert not (timed and gc.isenabled())
            return [
                Translation(line, list(line), None, cost + len(line), stages={"x": 0.5})
                for line in lines
            ]

        return decode


def run(
    machine: Machine,
    workload: dict[int, list[list[str]]] = SINGLES,
    fits: int = 99,
    warmup: int = 3,
    repeats: int = 2,
) -> list[Series]:
    decoders = {"slow": machine.decoder("slow", 10, fits), "fast": machine.decoder("fast", 1)}
    return measure(
        decoders,
        workload,
        warmup,
        repeats,
        machine.synchronise,
        machine.clock,
        machine.usage,
    )


def test_each_sample_is_the_time_of_its_own_sentence() -> None:
    slow, fast = run(Machine())
    for series, cost in ((slow, 10), (fast, 1)):
        assert [sample.milliseconds for sample in series.samples] == [cost + 7, 2 * cost + 7] * 2
        assert [sample.tokens for sample in series.samples] == [1, 2, 1, 2]
        assert [sample.passes for sample in series.samples] == [cost + 1, cost + 2] * 2
        assert {(sample.decoder, sample.batch) for sample in series.samples} == {
            (series.decoder, 1)
        }


def test_order() -> None:
    machine = Machine()
    slow, fast = run(machine)
    timed = ["synchronise", "clock", "{}", "synchronise", "clock"]
    expected = [f"{name} {line}" for name in ("slow", "fast") for line in ("a", "bb", "a")]
    for _ in range(2):
        for name in ("slow", "fast"):
            expected += [f"{name} a", "usage"]  # untimed, at the beginning of a turn
            for line in ("a", "bb"):
                expected += [step.format(f"{name} {line}") for step in timed]
            expected.append("usage")
    assert machine.log == expected
    for series in (slow, fast):
        assert [(s.repeat, s.line) for s in series.samples] == [(0, 0), (0, 1), (1, 0), (1, 1)]
        assert len(series.turns) == 2


def test_a_sweep_goes_from_small_to_large_batches() -> None:
    machine = Machine()
    series = run(machine, dict(reversed(SWEEP.items())), warmup=3, repeats=1)
    assert [(one.decoder, one.batch) for one in series] == [
        ("slow", 2),
        ("fast", 2),
        ("slow", 4),
        ("fast", 4),
    ]
    decoded = [entry for entry in machine.log if entry.startswith("slow")]
    assert decoded == [
        # 3 sentences to warm up are 2 batches of 2
        "slow cccc ccc",
        "slow bb a",
        # a turn begins with one line
        "slow cccc",
        "slow cccc ccc",
        "slow bb a",
        "slow cccc ccc bb a",
        "slow cccc",
        "slow cccc ccc bb a",
    ]
    first, second = series[0].samples
    assert (first.line, first.sentences, first.tokens, first.passes) == (0, 2, 7, 14)
    assert (second.line, second.sentences, second.tokens, second.passes) == (2, 2, 3, 12)
    assert first.milliseconds == 10 * 4 + 7
    assert series[0].stages == {"x": 4 * 0.5}


def test_what_does_not_fit_ends_the_sweep_of_its_decoder_alone() -> None:
    sweep = {**SWEEP, 3: [["a"] * 3], 5: [["a"] * 5]}
    by_name = {(one.decoder, one.batch): one for one in run(Machine(), sweep, fits=2)}
    assert list(by_name) == [
        ("slow", 2),
        ("fast", 2),
        ("slow", 3),
        ("fast", 3),
        ("fast", 4),
        ("fast", 5),
    ]
    assert by_name["slow", 3].stopped == "3 are too many"
    assert by_name["slow", 3].samples == []
    assert len(by_name["slow", 2].samples) == 4
    assert not any(one.stopped for one in by_name.values() if one.decoder == "fast")


def test_what_stops_to_fit_while_it_is_timed_keeps_what_was_timed() -> None:
    machine, calls = Machine(), count()

    def decode(lines: Sequence[str]) -> list[Translation]:
        if next(calls) == 7:  # 2 to warm up; turns of 3, the last of which breaks off
            raise DoesNotFit("memory is full")
        return machine.decoder("x", 1)(lines)

    (series,) = measure({"x": decode}, SINGLES, 2, 3, machine.synchronise, machine.clock)
    assert series.stopped == "memory is full"
    assert [(sample.repeat, sample.line) for sample in series.samples] == [(0, 0), (0, 1), (1, 0)]


def test_the_collector_is_off_while_the_clock_runs_and_on_again_after() -> None:
    assert gc.isenabled()
    run(Machine())  # asserts it in the decoder
    assert gc.isenabled() and gc.get_freeze_count() == 0
    with pytest.raises(ZeroDivisionError):
        measure({"x": lambda lines: [1 // 0]}, SINGLES, 0, 1, lambda: None)  # type: ignore[list-item]
    assert gc.isenabled()


def test_garbage_is_collected_before_every_sentence_and_never_within() -> None:
    machine = Machine()
    readings: list[int] = []  # of the clock, up to each collection

    def note(phase: str, _: object) -> None:
        if phase == "start":
            readings.append(machine.log.count("clock"))

    gc.callbacks.append(note)
    try:
        run(machine)
    finally:
        gc.callbacks.remove(note)
    assert not any(count % 2 for count in readings)
    assert set(range(0, 16, 2)) <= set(readings)  # 8 sentences of 2 readings


def test_a_collection_walks_through_no_more_the_longer_a_run_lasts() -> None:
    tracked: list[int] = []  # objects that a collection would walk through, turn by turn

    def decode(lines: Sequence[str]) -> list[Translation]:
        tracked.append(len(gc.get_objects()))
        return [Translation("", ["a"], None, 2, stages={"encode": 0.1}) for _ in lines]

    sentences, repeats = 20, 30
    measure({"x": decode}, {1: [["a"]] * sentences}, 0, repeats, lambda: None)
    turns = [tracked[turn * (1 + sentences)] for turn in range(repeats)]
    assert max(turns[1:]) - min(turns[1:]) < sentences, "samples of earlier turns are among them"


@pytest.mark.parametrize(
    ("decoders", "workload", "repeats"),
    [(0, SINGLES, 1), (1, {}, 1), (1, {2: []}, 1), (1, SINGLES, 0)],
)
def test_nothing_to_time_is_an_error(
    decoders: int, workload: dict[int, list[list[str]]], repeats: int
) -> None:
    machine = Machine()
    chosen = dict([("x", machine.decoder("x", 1))][:decoders])
    with pytest.raises(UserError, match="nothing to time"):
        measure(chosen, workload, 1, repeats, machine.synchronise, machine.clock)


def test_the_harness_costs_less_than_a_fiftieth_of_a_fast_decoder() -> None:
    duration = 10 * MS
    translations = [Translation("", ["a"] * 30, None, 31, stages={"x": 0.01})]

    def busy(lines: Sequence[str]) -> list[Translation]:
        until = time.perf_counter_ns() + duration
        while time.perf_counter_ns() < until:
            pass
        return translations

    (series,) = measure({"busy": busy}, {1: [["a"]] * 15}, 1, 2, lambda: None)
    # The least: what other processes take away is none of the harness's.
    times = sorted(sample.milliseconds for sample in series.samples)[:5]
    assert 10 <= median(times) < 10.2


class Pressed(Machine):
    """A machine at which Ctrl-C is pressed when the second decoder was asked so often."""

    def __init__(self, asked: int) -> None:
        super().__init__()
        self.left = asked

    def decoder(
        self, name: str, cost: int, fits: int = 99
    ) -> Callable[[Sequence[str]], list[Translation]]:
        decode = super().decoder(name, cost, fits)

        def decode_or_end(lines: Sequence[str]) -> list[Translation]:
            self.left -= name == "fast"
            if not self.left:
                raise KeyboardInterrupt
            return decode(lines)

        return decode_or_end


@pytest.mark.parametrize(
    ("asked", "repeats"),
    [
        (2, []),  # in the warm-up
        (5, []),  # in the first repeat
        (3 + 3 + 2, [1, 1]),
        (3 + 2 * 3 + 1, [2, 2]),  # in the third repeat, in which the other one was timed
    ],
)
def test_whole_repeats_outlive_an_interruption(asked: int, repeats: list[int]) -> None:
    with pytest.raises(Interrupted) as ended:
        run(Pressed(asked), repeats=5)
    assert isinstance(ended.value, KeyboardInterrupt)
    measured = ended.value.measured
    assert [len(series.turns) for series in measured] == repeats
    for series, whole in zip(measured, repeats, strict=True):
        assert [sample.repeat for sample in series.samples] == sorted([*range(whole)] * 2)
        assert len(series.laps) == len(series.samples)
    assert gc.isenabled() and not gc.get_freeze_count()


def test_sizes_that_were_whole_outlive_an_interruption_of_the_next() -> None:
    of_two, warm_up = 2 + 1 + 2, 1
    with pytest.raises(Interrupted) as ended:
        run(Pressed(of_two + warm_up + 1), SWEEP, warmup=3, repeats=1)
    assert [(one.decoder, one.batch) for one in ended.value.measured] == [("slow", 2), ("fast", 2)]


def test_who_does_not_fit_has_no_repeats_that_others_would_be_cut_to() -> None:
    with pytest.raises(Interrupted) as ended:
        run(Pressed(3 + 3 + 1), repeats=2, fits=0)
    slow, fast = ended.value.measured
    assert slow.stopped and not slow.samples
    assert len(fast.turns) == 1 and not fast.stopped
