"""Every family's fast decoder on a GPU against the same on a CPU, with random weights in fp64.

A CPU compares what a GPU would record. The lattice's, which wants tables, is tested with its other
decoders.
"""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from fastdecode.system import System
from tests.families.aggressive import conftest as aggressive
from tests.families.bidirectional import conftest as bidirectional
from tests.families.dag import conftest as dag
from tests.families.parallel import conftest as parallel
from tests.gpu import assert_a_gpu_writes_the_same, needs_gpu
from tests.recording import assert_recorded_writes_the_same

Case = tuple[str, Callable[[], System], dict[str, Any]]

CASES: list[Case] = [
    *(("autoregressive", aggressive.untrained, {"beam": beam}) for beam in (1, 4)),
    *(
        ("aggressive", lambda: aggressive.untrained_drafter(aggressive.untrained()), row)
        for row in ({"beta": 5, "tau": 2.0}, {"encoders": "concurrent"}, {"mode": "draft"})
    ),
    ("aggressive", aggressive.untrained_blockwise, {"mode": "blockwise"}),
    *(("bidirectional", bidirectional.untrained, {"beam": beam}) for beam in (1, 4)),
    *(
        ("dag", dag.untrained_graphs, {"search": search})
        for search in ("greedy", "lookahead", "viterbi", "beam", "sample")
    ),
    ("dag", lambda: dag.untrained_graphs(links="gated"), {"search": "lookahead"}),
    ("parallel", lambda: parallel.untrained("nat"), {}),
    ("parallel", lambda: parallel.untrained("glat"), {"length_beam": 3}),
    ("parallel", lambda: parallel.untrained("glat", soft_copy=True), {}),
    *(
        ("parallel", lambda: parallel.untrained("cmlm"), {"search": "mask-predict", **row})
        for row in ({"iterations": 4}, {"iterations": 4, "length_beam": 3})
    ),
    *(
        ("parallel", lambda: parallel.untrained("ctc", soft_copy=True), {"search": "ctc", **row})
        for row in ({}, {"beam": 3})
    ),
]


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    draw = Random(3)
    counts = [draw.choice((1, 2, 5, 9)) for _ in range(12)] + [30, 33, 40]  # one size and more
    return [[f"w{draw.randrange(10)}" for _ in range(count)] for count in counts]


@needs_gpu
@pytest.mark.parametrize(("family", "make", "row"), CASES)
def test_a_gpu_writes_what_a_cpu_writes(
    family: str, make: Callable[[], System], row: dict[str, Any], sentences: list[list[str]]
) -> None:
    assert_a_gpu_writes_the_same(make(), family, row, sentences)


@pytest.mark.parametrize(("family", "make", "row"), CASES)
def test_recorded_passes_write_what_plain_ones_write(
    family: str,
    make: Callable[[], System],
    row: dict[str, Any],
    sentences: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert_recorded_writes_the_same(make(), family, row, sentences, monkeypatch)
