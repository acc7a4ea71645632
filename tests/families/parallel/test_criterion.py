"""The loss of CTC for a batch: of its sentences, of words, and what cannot be aligned."""

from math import log
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from fairseq.logging import metrics

from fastdecode.families.parallel.criterion import CtcCriterion
from fastdecode.families.parallel.slots import source_slots
from fastdecode.framing import frame_sources
from tests.families.parallel.conftest import untrained

BOS, PAD, EOS, UNK = range(4)
PAIRS = [
    (["w0", "w2", "w5"], [6, 7, 8, 8]),
    (["w1"], [9, 9, 9, 9]),  # needs 7 slots of 6
    (["w1", "w4"], [5]),
    (["w1"], [4, 5, 6, 7, 8, 9]),
]


def sample_of(system: Any, pairs: list[tuple[list[str], list[int]]]) -> dict[str, Any]:
    sources = frame_sources([source for source, _ in pairs], system.source)
    targets = [torch.tensor([BOS, *words, EOS]) for _, words in pairs]
    return {
        "net_input": {"src_tokens": sources, "src_lengths": (sources != PAD).sum(1)},
        "target": torch.nn.utils.rnn.pad_sequence(targets, True, PAD),
        "prev_target": source_slots(sources, 2, system.target),
        "ntokens": sum(len(words) + 2 for _, words in pairs),
        "nsentences": len(pairs),
    }


def test_the_loss_is_that_of_its_sentences_and_the_infeasible_are_counted() -> None:
    system = untrained("ctc")
    (model,) = system.models
    criterion = CtcCriterion(SimpleNamespace(target_dictionary=system.target))
    losses = []
    for pair in PAIRS:
        sample = sample_of(system, [pair])
        inputs = sample["net_input"]
        logits = model(*inputs.values(), sample["prev_target"])["word_ins"]["out"].float()
        slots, words = torch.tensor([logits.shape[1]]), torch.tensor([pair[1]])
        loss = F.ctc_loss(  # infinite where there are too few slots
            logits.log_softmax(-1).transpose(0, 1),
            words,
            slots,
            torch.tensor([len(pair[1])]),
            blank=BOS,
            reduction="sum",
        )
        losses.append(float(loss.detach()))
    assert [loss == float("inf") for loss in losses] == [False, True, False, False]
    loss, words, logged = criterion(model, sample_of(system, PAIRS))
    assert float(loss.detach()) == pytest.approx(sum(losses[:1] + losses[2:]), rel=1e-5)
    assert (words, logged["infeasible"], logged["nsentences"]) == (4 + 1 + 6, 1, 4)
    loss.backward()
    gradients = [w.grad for w in model.parameters() if w.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_a_batch_without_any_feasible_sentence_teaches_nothing() -> None:
    system = untrained("ctc")
    criterion = CtcCriterion(SimpleNamespace(target_dictionary=system.target))
    loss, words, logged = criterion(system.models[0], sample_of(system, PAIRS[1:2]))
    loss.backward()
    assert (float(loss.detach()), words, logged["infeasible"]) == (0, 0, 1)
    gradients = [w.grad for w in system.models[0].parameters() if w.grad is not None]
    assert not any(gradient.any() for gradient in gradients)


def test_what_the_log_says() -> None:
    logs = [
        {"loss": torch.tensor(6.0), "sample_size": 3, "infeasible": 1},
        {"loss": torch.tensor(2.0), "sample_size": 1, "infeasible": 2},
    ]
    with metrics.aggregate() as total:
        CtcCriterion.reduce_metrics(logs)
        CtcCriterion.reduce_metrics(logs[:1])
        CtcCriterion.reduce_metrics([{"loss": 0.0, "sample_size": 0, "infeasible": 1}])
        found = total.get_smoothed_values()
    assert found["loss"] == found["nll_loss"] == pytest.approx(2 / log(2), abs=1e-3)
    assert found["infeasible"] == 5
