"""The beam search in C++ against its twin on arrays, and how it is compiled."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fastdecode.errors import UserError
from fastdecode.families.dag import beam, compiled
from fastdecode.families.dag.beam import BeamSettings
from fastdecode.families.dag.compiled import (
    SOURCE,
    best_hypotheses,
    build,
    cache_folder,
)
from tests.families.dag.conftest import one_best, random_graph
from tests.families.dag.test_beam import Bigrams

beam_search = one_best(best_hypotheses)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    beams=st.integers(1, 30),
    per_length=st.integers(1, 8),
    width=st.integers(1, 6),
    alpha=st.sampled_from([0.0, 1.0, 1.4]),
    gamma=st.sampled_from([0.0, 0.3]),
    count=st.integers(1, 5),
)
def test_it_finds_what_its_twin_finds(
    seed: int, beams: int, per_length: int, width: int, alpha: float, gamma: float, count: int
) -> None:
    limits = BeamSettings(beams, per_length, width, alpha, gamma)
    model = Bigrams() if gamma else None
    graph, _ = random_graph(seed, [14, 9, 6, 2], words=4, count=width)
    expected = beam.best_hypotheses(graph, count, limits, model)
    found = best_hypotheses(graph, count, limits, model)
    assert [[tokens for tokens, _ in one] for one in found] == [
        [tokens for tokens, _ in one] for one in expected
    ]
    for one, other in zip(found, expected, strict=True):
        assert [score for _, score in one] == pytest.approx([score for _, score in other])


@pytest.fixture(params=[2, 3, 9])  # 9: more than there are sentences
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_threads_find_what_one_finds(threads: int, gamma: float) -> None:
    graph, _ = random_graph(7, [14, 9, 6, 2, 11], words=4, count=4)
    limits = BeamSettings(12, 4, 4, gamma=gamma)
    model = Bigrams() if gamma else None
    several = best_hypotheses(graph, 3, limits, model)
    torch.set_num_threads(1)
    assert several == best_hypotheses(graph, 3, limits, model)


def test_sentences_are_searched_side_by_side(threads: int) -> None:
    """Each thread waits in the language model until all have come there."""
    waiting = Barrier(min(threads, 4), timeout=20)

    class Meeting(Bigrams):
        def begin(self) -> Any:
            waiting.wait()
            return super().begin()

    graph, _ = random_graph(7, [6, 6, 6, 6], words=2)
    assert len(beam_search(graph, BeamSettings(gamma=0.1), Meeting())) == 4


@pytest.mark.parametrize(
    "limits", [BeamSettings(20, 3, 6), BeamSettings(7, 2, 6, 0.0), BeamSettings(6, 3, 40)]
)
def test_of_equally_good_ones_both_keep_the_first(limits: BeamSettings) -> None:
    graph, _ = random_graph(1, [9, 6, 5], words=4, spread=0.0)
    searches = beam.best_hypotheses, best_hypotheses
    expected, found = (search(graph, 9, limits) for search in searches)
    assert [[tokens for tokens, _ in one] for one in found] == [
        [tokens for tokens, _ in one] for one in expected
    ]
    assert len({round(score, 9) for one in expected for _, score in one}) < 12  # of 27


def test_many_prefixes_outgrow_the_first_table() -> None:
    graph, _ = random_graph(3, [40], words=12, count=5)
    limits = BeamSettings(beams=400, per_length=400, expansions=5)
    assert beam_search(graph, limits)[0][0] == one_best(beam.best_hypotheses)(graph, limits)[0][0]


@pytest.mark.parametrize("count", [1, 2])
def test_an_error_of_the_language_model_is_raised(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: count)

    class Broken(Bigrams):
        def score(self, state: Any, token: int) -> tuple[float, Any]:
            raise KeyError(token)

    graph, _ = random_graph(3, [6, 6], words=2)
    with pytest.raises(KeyError):
        beam_search(graph, BeamSettings(gamma=0.1), Broken())


def test_an_interrupted_answer_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C may come before the callback's first line: ctypes then returns 0."""

    class Interrupted(compiled._Asked):
        def __init__(self, model: Any):
            super().__init__(model)
            self.call = compiled.Ask(lambda *_: 0)

    monkeypatch.setattr(compiled, "_Asked", Interrupted)
    graph, _ = random_graph(3, [6], words=2)
    with pytest.raises(KeyboardInterrupt):
        beam_search(graph, BeamSettings(gamma=0.1), Bigrams())


def test_links_that_lead_out_of_the_graph_are_refused() -> None:
    graph, _ = random_graph(3, [6, 6], words=2)
    cut = replace(graph, sizes=torch.tensor([6, 4]))
    with pytest.raises(IndexError, match="out of the graph"):
        beam_search(cut, BeamSettings())


def test_a_batch_of_nothing_has_nothing() -> None:
    graph, _ = random_graph(3, [6], words=2)
    parts = (graph.links, graph.words, graph.scores, graph.sizes)
    assert beam_search(beam.Graph(*(part[:0] for part in parts)), BeamSettings()) == []


def test_what_lies_otherwise_in_memory_is_read_too() -> None:
    graph, _ = random_graph(11, [9, 6], count=3)
    strided = beam.Graph(
        graph.links.transpose(1, 2).contiguous().transpose(1, 2),
        graph.words.transpose(1, 2).contiguous().transpose(1, 2),
        graph.scores.transpose(1, 2).contiguous().transpose(1, 2),
        graph.sizes.to(torch.int32),
    )
    assert beam_search(strided, BeamSettings(4, 2, 3)) == beam_search(graph, BeamSettings(4, 2, 3))


def test_it_is_compiled_once(tmp_path: Path) -> None:
    library = build(SOURCE, tmp_path / "cache")
    assert library.exists() and list(library.parent.iterdir()) == [library]

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError

    assert build(SOURCE, tmp_path / "cache", never) == library


def test_what_does_not_compile_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "wrong.cpp"
    source.write_text("int wrong( {")
    with pytest.raises(UserError, match=r"wrong\.cpp does not compile: .*error"):
        build(source, tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())
    monkeypatch.setenv("CXX", str(tmp_path / "nothing"))
    with pytest.raises(UserError, match=r"wrong\.cpp cannot be compiled, there is no .*nothing: "):
        build(source, tmp_path / "cache")


def test_a_library_that_does_not_load_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = build(SOURCE, cache_folder())
    path.write_text("half a libr")
    with pytest.raises(UserError, match=r"beam-.*\.so: .*delete it"):
        compiled.library.__wrapped__()


def test_the_cache_may_be_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "fastdecode"
