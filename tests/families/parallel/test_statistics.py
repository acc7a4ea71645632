"""What is measured of a non-autoregressive model against its own scores."""

from itertools import groupby
from math import inf
from random import Random

import pytest
import torch

from fastdecode.families.parallel import statistics
from fastdecode.families.parallel.naive import naive_alignment
from fastdecode.families.parallel.slots import source_slots
from fastdecode.families.parallel.statistics import _drawn, accuracy, recall
from fastdecode.framing import frame_sources
from fastdecode.measure.samples import SEED
from fastdecode.measure.statistic import Split
from fastdecode.system import System
from fastdecode.train.draws import source_ids
from tests.families.parallel.conftest import untrained
from tests.families.parallel.test_decoders import BOS, EOS, PAD, UNK, Sentences, logits

SPECIAL = 4


def test_recall_is_what_the_model_itself_says(dice: System, ragged: Sentences) -> None:
    draw = Random(2)
    words = [*(f"w{number}" for number in range(26)), "unheard"]
    references = [draw.choices(words, k=draw.randint(0, 6)) for _ in ragged]
    points = recall(dice, Split(ragged, {"real": references}))["points"]
    assert [point["k"] for point in points] == [1, 2, 4, 8, 16]  # of 26 words
    assert {point["candidates"] for point in points} == {"model"}

    ranks = []  # of every reference token, how many words are likelier
    for source, reference in zip(ragged, references, strict=True):
        if reference:
            scores = logits(dice, source, len(reference) + 2)[1:-1, SPECIAL:].tolist()
            for slot, token in zip(scores, reference, strict=True):
                index = dice.target.index(token) - SPECIAL
                ranks.append(
                    sum(score > slot[index] for score in slot) if index >= 0 else len(slot)
                )
    for point in points:
        share = sum(rank < point["k"] for rank in ranks) / len(ranks)
        assert point["recall"] == pytest.approx(share)
        assert point["size"] == point["k"]
    assert 0 < points[0]["recall"] < points[-1]["recall"] < 1


def test_slot_by_slot_accuracy_is_that_of_what_may_be_written(
    dice: System, ragged: Sentences
) -> None:
    draw = Random(2)
    words = [*(f"w{number}" for number in range(26)), "unheard"]
    references = [draw.choices(words, k=3) for _ in ragged]
    right, written = [], []
    for source, reference in zip(ragged, references, strict=True):
        scores = logits(dice, source, 5)[1:-1].clone()
        scores[:, [BOS, PAD, EOS]] = -inf
        found = scores.argmax(1).tolist()
        written += found
        right.append(sum(map(int.__eq__, found, map(dice.target.index, reference))))
    assert UNK in written
    named = [dice.target[word] if word != UNK else "unheard" for word in written]
    likeliest = [named[i : i + 3] for i in range(0, len(named), 3)]
    assert accuracy(dice, Split(ragged, {"real": likeliest}))["accuracy"] == 1
    found = accuracy(dice, Split(ragged, {"real": references}))
    assert [list(line) for line in found["by_line"][""]] == [[count, 3] for count in right]
    assert found["accuracy"] == pytest.approx(sum(right) / (3 * len(ragged)))
    assert (found["tokens"], found["lines"]) == (3 * len(ragged), len(ragged))


def test_a_token_with_several_slots_counts_once(ragged: Sentences) -> None:
    """And a reference counts nothing that has no alignment, be it for its repeats alone."""
    system = untrained("ctc")
    blank = system.target.bos()
    draw = Random(4)
    counted: list[tuple[float, int]] = []
    references: Sentences = []
    for number, source in enumerate(ragged):
        scores = ctc_scores(system, source)
        written = [word for word, _ in groupby(scores.argmax(-1).tolist()) if word != blank]
        reference = [system.target[word] for word in written[: draw.randint(1, 9)]]
        reference[-1] = f"w{draw.randint(0, 11)}"
        if number % 4 == 0:
            reference = ["w1"] * len(scores)  # between equal tokens stand blanks
        references.append(reference)
        ids = [system.target.index(token) for token in reference]
        best = naive_alignment(scores.tolist(), ids, blank)
        if best is None:
            counted.append((0, 0))
            continue
        place, right = 0, 0.0
        for word, group in groupby(best):
            size = len(list(group))
            if word != blank:
                said = scores[place : place + size].argmax(-1)
                right += float((said == word).double().mean())
            place += size
        counted.append((right, len(reference)))
    right, tokens = (sum(column) for column in zip(*counted, strict=True))
    assert 0 < right < tokens
    assert counted.count((0, 0)) == 10
    found = accuracy(system, Split(ragged, {"real": references}))
    assert found["tokens"] == tokens
    assert found["accuracy"] == pytest.approx(right / tokens)
    assert found["left_out"] == counted.count((0, 0))
    assert torch.tensor(found["by_line"][""]).tolist() == torch.tensor(counted).tolist()


def ctc_scores(system: System, source: list[str]) -> torch.Tensor:
    """Return log-probabilities (T, V) of the slots of one source."""
    (model,) = system.models
    framed = frame_sources([source], system.source)
    slots = source_slots(framed, 2, system.target)
    with torch.inference_mode():
        answer = model.decoder(
            normalize=False, encoder_out=model.encoder(framed), prev_output_tokens=slots
        )[0]
    never = torch.isin(torch.arange(answer.shape[1]), torch.tensor([PAD, EOS]))
    return answer.masked_fill(never, -inf).log_softmax(-1)


def test_cold_samples_are_the_likeliest_slots(ragged: Sentences) -> None:
    system = untrained("ctc")
    likeliest = system.decoder("parallel", {"search": "ctc"}, " ".join)(ragged)
    cold = _drawn(system, ragged, 1e-4, 2)
    assert cold == [[line.tokens, line.tokens] for line in likeliest]
    warm = _drawn(system, ragged, 1.0, 2)
    assert warm != cold and any(one != other for one, other in warm)
    assert _drawn(system, ragged[:3], 1.0, 2) == warm[:3]  # whatever else is in the batch


def test_samples_are_of_the_nucleus(ragged: Sentences, monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest has one label: the likeliest."""
    system = untrained("ctc")
    cold = _drawn(system, ragged, 1e-4, 1)
    monkeypatch.setattr(statistics, "TOP_P", 1e-6)
    assert _drawn(system, ragged, 1.0, 1) == cold


def test_every_sentence_and_every_sample_has_draws_of_its_own(
    ragged: Sentences, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    draw = statistics.keyed_uniforms

    def spy(ids: torch.Tensor, count: int, seed: int, update: int) -> torch.Tensor:
        asked.extend((number, seed) for number in ids.tolist())
        return draw(ids, count, seed, update)

    monkeypatch.setattr(statistics, "keyed_uniforms", spy)
    _drawn(untrained("ctc"), ragged, 1.0, 2)
    ids = source_ids(ragged).tolist()
    assert sorted(asked) == sorted((number, SEED + n) for number in ids for n in range(2))
    assert len(set(ids)) == len(set(map(tuple, ragged)))
