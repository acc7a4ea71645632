import csv
import gc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.measure.latency import (
    Sample,
    measure,
    stratified_sample,
    summarise,
    summarise_decoder,
    write_latency,
)
from fastdecode.translation import Translation

MS = 1_000_000  # nanoseconds


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

    def decoder(self, name: str, cost: int) -> Callable[[str], Translation]:
        def decode(line: str) -> Translation:
            self.queued += cost * len(line) * MS
            self.log.append(f"{name} {line}")
            assert not gc.isenabled() or "clock" not in self.log
            return Translation(line, list(line), None, cost)

        return decode


def run(machine: Machine, warmup: int = 3, repeats: int = 2) -> list[Sample]:
    decoders = {"slow": machine.decoder("slow", 10), "fast": machine.decoder("fast", 1)}
    return measure(decoders, ["a", "bb"], warmup, repeats, machine.synchronise, machine.clock)


def test_each_sample_is_the_time_of_its_own_sentence() -> None:
    samples = run(Machine())
    expected = {("slow", 0): 10, ("slow", 1): 20, ("fast", 0): 1, ("fast", 1): 2}
    assert len(samples) == 8
    for sample in samples:
        cost = expected[sample.decoder, sample.line]
        assert sample.milliseconds == cost + 7
        assert sample.tokens == sample.line + 1
        assert sample.passes == (10 if sample.decoder == "slow" else 1)


def test_order() -> None:
    machine = Machine()
    samples = run(machine)
    timed = ["synchronise", "clock", "{}", "synchronise", "clock"]
    expected = [f"{name} {line}" for name in ("slow", "fast") for line in ("a", "bb", "a")]
    for _ in range(2):
        for name in ("slow", "fast"):
            expected.append(f"{name} a")  # untimed, at the beginning of a turn
            for line in ("a", "bb"):
                expected += [step.format(f"{name} {line}") for step in timed]
    assert machine.log == expected
    assert [(sample.repeat, sample.decoder, sample.line) for sample in samples] == [
        (repeat, name, line) for repeat in (0, 1) for name in ("slow", "fast") for line in (0, 1)
    ]


def test_the_collector_is_off_while_the_clock_runs_and_on_again_after() -> None:
    assert gc.isenabled()
    run(Machine())  # asserts it in the decoder
    assert gc.isenabled() and gc.get_freeze_count() == 0
    with pytest.raises(ZeroDivisionError):
        measure({"x": lambda line: Translation(line, [], None, 1 // 0)}, ["a"], 0, 1, lambda: None)
    assert gc.isenabled()


@pytest.mark.parametrize(("decoders", "lines", "repeats"), [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_nothing_to_time_is_an_error(decoders: int, lines: int, repeats: int) -> None:
    machine = Machine()
    chosen = dict([("x", machine.decoder("x", 1))][:decoders])
    with pytest.raises(UserError, match="nothing to time"):
        measure(chosen, ["a"] * lines, 1, repeats, machine.synchronise, machine.clock)


def test_summary_of_known_numbers() -> None:
    summary = summarise([float(number) for number in range(101)])
    assert summary == {
        "mean": 50,
        "median": 50,
        "p90": 90,
        "p99": 99,
        "sd": pytest.approx(850**0.5),
        "n": 101,
    }
    assert summarise([3.0])["sd"] == 0
    with pytest.raises(UserError):
        summarise([])


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_percentiles_are_in_order(samples: list[float]) -> None:
    summary = summarise(samples)
    ordered = [min(samples), *(summary[name] for name in ("median", "p90", "p99")), max(samples)]
    assert ordered == pytest.approx(sorted(ordered))


def repeats(*medians: float) -> list[Sample]:
    return [
        Sample("x", repeat, line, median + line - 1, 4, 2)
        for repeat, median in enumerate(medians)
        for line in range(3)
    ]


def test_repeats_that_drift_are_marked() -> None:
    quiet, loud = summarise_decoder(repeats(100, 105, 110)), summarise_decoder(repeats(100, 111))
    assert quiet["repeat_medians"] == [100, 105, 110]
    assert not quiet["disturbed"]
    assert loud["disturbed"]
    assert (loud["tokens"], loud["passes"], loud["n"]) == (4, 2, 6)


def test_files(tmp_path: Path) -> None:
    samples = run(Machine())
    timed = {
        name: {"system": "base", "target": "raw", "decoder": name, "seed": 1}
        for name in ("fast", "slow")
    }
    path, samples_path = tmp_path / "latency.json", tmp_path / "latency.csv"
    write_latency(path, samples_path, {"device": "cpu"}, timed, samples)

    document = read_json(path)
    assert document["provenance"] == {"device": "cpu"}
    assert document["samples"] == "latency.csv"
    assert [row["name"] for row in document["rows"]] == ["fast", "slow"]
    of_slow = [sample for sample in samples if sample.decoder == "slow"]
    assert document["rows"][1] == {"name": "slow", **timed["slow"], **summarise_decoder(of_slow)}

    with samples_path.open() as file:
        raw = list(csv.DictReader(file))
    assert list(raw[0]) == ["decoder", "repeat", "line", "milliseconds", "tokens", "passes"]
    assert [float(row["milliseconds"]) for row in raw] == [s.milliseconds for s in samples]


def test_a_decoder_without_samples_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        write_latency(tmp_path / "l.json", tmp_path / "l.csv", {}, {"x": {}}, [])
    assert not list(tmp_path.iterdir())


@given(st.lists(st.integers(1, 50), min_size=1), st.integers(1, 60))
def test_a_sample_has_lines_of_every_length(lengths: list[int], count: int) -> None:
    chosen = stratified_sample(lengths, count)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(count, len(lengths))
    # the k-th shortest line chosen lies within the k-th part of all lines
    everything = sorted(lengths)
    for rank, length in enumerate(sorted(lengths[index] for index in chosen)):
        first = rank * len(lengths) // len(chosen)
        last = -(-(rank + 1) * len(lengths) // len(chosen)) - 1
        assert everything[first] <= length <= everything[last]


def test_sample_by_hand() -> None:
    assert stratified_sample([9, 1, 5, 2, 8, 4], 3) == [0, 2, 3]
    assert stratified_sample([3, 3, 3], 1) == [1]
    assert stratified_sample([3, 1], 5) == [0, 1]


@pytest.mark.parametrize(("lengths", "count"), [([], 1), ([1], 0)])
def test_no_sample_of_nothing(lengths: list[int], count: int) -> None:
    with pytest.raises(UserError):
        stratified_sample(lengths, count)
