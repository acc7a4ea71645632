"""Blockwise decoding: as greedy search of the first head, whatever the other heads propose."""

from typing import Any

import pytest
import torch

from fastdecode.families.aggressive import naive
from fastdecode.system import System
from tests.families.aggressive.conftest import ENGINES, facts, numbered, untrained_blockwise


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("k", [2, 5])
def test_it_is_greedy_search_of_the_first_head(
    ragged: list[list[str]], engine: str, k: int
) -> None:
    system = untrained_blockwise(k)
    decoder = system.decoder("aggressive", {"mode": "blockwise", "engine": engine}, " ".join)
    words = system.target
    translations = decoder(ragged)
    assert facts(translations) == facts([decoder([sentence])[0] for sentence in ragged])
    for sentence, translation in zip(ragged, translations, strict=True):
        source = numbered(system, sentence)
        limit = int(1.2 * len(source) + 10)
        scores = naive.scores_of(FirstHead(system), source, limit, 1, words.pad(), words.eos())
        with torch.inference_mode():
            ids = naive.greedy(scores, words.eos())
        assert [words[i] for i in ids] == translation.tokens
        assert sum(translation.accepted) == len(ids) + 1
        assert max(translation.accepted) <= k
    assert max(max(t.accepted) for t in translations) > 1  # some proposals were right


class FirstHead:
    """A blockwise model as an autoregressive one."""

    def __init__(self, system: System):
        (self._model,) = system.models

    def __call__(self, *arguments: Any) -> tuple[Any, None]:
        return self._model(*arguments)[0], None


def test_both_engines_propose_with_the_same_heads(ragged: list[list[str]]) -> None:
    system = untrained_blockwise(5)
    for row in ({"beta": 1}, {"beta": 4, "tau": 1.0}):
        eager, fast = (
            system.decoder("aggressive", {**row, "mode": "blockwise", "engine": engine}, " ".join)
            for engine in ENGINES
        )
        assert facts(eager(ragged)) == facts(fast(ragged))
