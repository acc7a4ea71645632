import time

import pytest

from fastdecode.stages import Stopwatch
from fastdecode.translation import Translation


def test_laps_sum_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 1.5, 4.0, 10.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    watch = Stopwatch()
    watch.start()
    for stage in ("encode", "decode", "encode"):
        watch.lap(stage)
    assert watch.seconds == {"encode": 3.5, "decode": 0.5}
    watch.start()
    assert watch.seconds == {}


def test_it_waits_for_the_device_before_it_reads_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(time, "perf_counter", lambda: calls.append("clock") or 0.0)
    watch = Stopwatch(lambda: calls.append("synchronise"))
    watch.start()
    watch.lap("encode")
    assert calls == ["synchronise", "clock"] * 2


def test_switched_off_it_does_nothing() -> None:
    watch = Stopwatch(lambda: pytest.fail("it waited for the device"), on=False)
    watch.start()
    watch.lap("encode")
    assert watch.share([Translation("", [], None, 0)])[0].stages == {}


def test_a_batch_shares_its_stages() -> None:
    watch = Stopwatch()
    watch.seconds = {"encode": 3.0}
    shared = watch.share([Translation(text, [], None, 0) for text in "abc"])
    assert [(t.text, t.stages) for t in shared] == [(text, {"encode": 1.0}) for text in "abc"]
