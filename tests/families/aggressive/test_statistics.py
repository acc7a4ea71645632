"""Traces: what they say is what the decoder did, and what the naive twin says of it."""

from dataclasses import replace
from math import inf

import pytest
import torch

from fastdecode.errors import UserError
from fastdecode.families import statistics
from fastdecode.families.aggressive import naive
from fastdecode.families.aggressive import statistics as statistics_module
from fastdecode.families.aggressive.rows import Decoder as Row
from fastdecode.families.aggressive.rows import System as SystemRow
from fastdecode.families.aggressive.statistics import (
    KEPT,
    SETTINGS,
    STATISTICS,
    Recorder,
    _wanting,
    traces,
)
from fastdecode.measure.statistic import Split
from fastdecode.system import System
from tests.families.aggressive.conftest import numbered


def test_the_room_names_its_statistics_and_what_they_need() -> None:
    assert statistics("aggressive") == tuple(STATISTICS)
    alone = {"kind": "drafter", "verifier": "transformer", "encoder": "random"}
    assert SystemRow(**alone).measured_with == ("transformer",)
    assert SystemRow(kind="blockwise").measured_with == ()


@pytest.mark.parametrize(
    "settings", [{"beta": 1}, {"beta": 4, "tau": 1.0}, {"beta": 9, "tau": 9.0}]
)
def test_a_trace_is_what_the_decoder_did(
    pair: System, ragged: list[list[str]], settings: dict[str, float]
) -> None:
    row = Row(**settings, block=3)
    recorder = Recorder.of(pair, row)
    for source in ragged:
        (right,) = pair.decoder("aggressive", row.model_dump(), " ".join)([source])
        trace = recorder.trace(source)
        assert trace["translation"] == right.tokens
        written: list[str] = []
        for iteration, count in zip(trace["iterations"], right.accepted, strict=True):
            assert iteration["prefix"] == written
            own = [iteration["word"]] if iteration["word"] else []
            new = iteration["draft"][: iteration["accepted"]] + own
            assert len(new) == count
            written += new
        assert written == [*right.tokens, "</s>"]


def test_candidates_are_those_of_the_naive_twin(pair: System, ragged: list[list[str]]) -> None:
    row = Row(beta=8, tau=2.0, block=3)
    words, (verifier,) = pair.target, pair.companions.values()
    states = set()
    for source in ragged[:4]:
        ids = numbered(pair, source)
        limit = int(row.max_len_a * len(ids) + row.max_len_b)
        scores = naive.scores_of(verifier.models[0], ids, limit, 1, words.pad(), words.eos())
        for iteration in Recorder.of(pair, row).trace(source)["iterations"]:
            draft, kept = iteration["draft"], iteration["accepted"]
            assert "</s>" not in draft[:-1]
            assert len(iteration["candidates"]) == len(draft) + (draft[-1:] != ["</s>"])
            for place, candidates in enumerate(iteration["candidates"]):
                with torch.inference_mode():
                    before = [*iteration["prefix"], *draft[:place]]
                    logs = scores([words.index(token) for token in before])
                best = logs.topk(row.beta)
                likely = [words[i] for log, i in zip(*best, strict=True) if log.isfinite()]
                assert [token for token, _ in candidates] == likely
                gaps = (best.values[0] - best.values)[: len(likely)]
                assert [gap for _, gap in candidates] == pytest.approx(gaps.tolist(), abs=1e-5)
                if place < len(draft):
                    gap = iteration["gaps"][place]
                    right = float(best.values[0] - logs[words.index(draft[place])])
                    assert right == (inf if gap is None else pytest.approx(gap, abs=1e-5))
                    passed = gap is not None and gap <= row.tau and draft[place] in likely
                    if place <= kept:
                        assert passed == (place < kept)
                        states.add((passed, draft[place] == likely[0]))
                if place == kept:
                    assert iteration["word"] == likely[0]
    assert {(True, False), (False, False)} <= states  # tolerated ones, and refused ones


@pytest.mark.parametrize(
    ("words", "strict", "relaxed", "missing"),
    [
        (6, 2, 1, 0),
        (14, 9, 8, 0),
        (5, 2, 1, 1),
        (15, 2, 1, 1),
        (6, 1, 0, 1),
        (6, 2, 2, 1),
        (6, 2, 3, 1),
        (6, 1, 1, 2),
        (5, 1, 1, 3),
    ],
)
def test_what_a_line_does_not_show(words: int, strict: int, relaxed: int, missing: int) -> None:
    """A readable translation, an iteration that goes on, and what is saved by accepting more."""
    traces = {
        name: {"translation": ["w"] * words, "iterations": [{}] * count}
        for name, count in (("gad", strict), ("gadpp", relaxed))
    }
    assert _wanting({"traces": traces}) == missing


def test_the_first_lines_alone_are_tried(
    pair: System, ragged: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics_module, "TRIED", 3)
    lines = traces(pair, Split(ragged, {"real": [[]] * len(ragged)}))["lines"]
    assert sorted(line["line"] for line in lines) == [0, 1, 2]


def test_lines_that_show_most_come_first(pair: System, ragged: list[list[str]]) -> None:
    found = traces(pair, Split([[], *ragged], {"real": [[]] * (len(ragged) + 1)}))
    assert found["settings"] == SETTINGS and found["drawn"] is None
    assert len(found["lines"]) == KEPT
    for line in found["lines"]:
        assert line["source"] == [[], *ragged][line["line"]]
        assert set(line["traces"]) == set(SETTINGS)
    order = [(_wanting(line), line["line"]) for line in found["lines"]]
    assert order == sorted(order)


def test_the_line_that_others_draw_is_traced_too(pair: System, ragged: list[list[str]]) -> None:
    sources = ragged[: KEPT + 4]
    order = [line["line"] for line in traces(pair, _split(sources, drawn=None))["lines"]]
    last = next(number for number in range(len(sources)) if number not in order)
    found = traces(pair, _split(sources, drawn=last))
    assert found["drawn"] == last
    assert [line["line"] for line in found["lines"]] == [*order, last]
    assert traces(pair, _split(sources, drawn=order[0]))["lines"] == found["lines"][:-1]


def _split(sources: list[list[str]], drawn: int | None) -> Split:
    """A split of which no line but one is short on both sides."""
    targets = [["w1"] * (5 if number == drawn else 1) for number in range(len(sources))]
    return Split(sources, {"real": targets})


def test_a_trace_needs_lines_and_a_verifier(pair: System) -> None:
    with pytest.raises(UserError, match="no line of the split has words"):
        traces(pair, Split([[]], {"real": [[]]}))
    with pytest.raises(UserError, match="drafts need a verifier"):
        traces(replace(pair, companions={}), Split([["w1"]], {"real": [["w1"]]}))
