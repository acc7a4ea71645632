"""What is revealed, when, and that two passes drop the same units out."""

from math import comb
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.data.iterators import GroupedIterator
from fairseq.models.nat import NATransformerModel
from fairseq.tasks.translation import TranslationTask
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.config.models import Architecture
from fastdecode.glancing import (
    Glances,
    GlancingConfig,
    Schedule,
    dropout_of,
    reveal,
    to_reveal,
)
from fastdecode.measure.untrained import untrained_system
from fastdecode.train.task import DecodesItself

IDS = torch.tensor([4, 9, 2, 7])


def ragged(*lengths: int, width: int | None = None) -> torch.Tensor:
    """Candidates: (B, T), true in the first `lengths[b]` places but the very first."""
    places = torch.arange(width or max(lengths))
    return (places < torch.tensor(lengths)[:, None]) & (places > 0)


# The ratio


def test_the_ratio_goes_in_a_line_and_stays() -> None:
    whole, part = Schedule(0.5, 0.3), Schedule(0.5, 0.1, over=2 / 3)
    assert [whole.at(x) for x in (0, 0.5, 1)] == pytest.approx([0.5, 0.4, 0.3])
    assert [part.at(x) for x in (0, 1 / 3, 2 / 3, 0.9)] == pytest.approx([0.5, 0.3, 0.1, 0.1])


def test_counts_are_cut_or_rounded() -> None:
    wrong = torch.tensor([0, 1, 3, 10])
    assert to_reveal(wrong, 0.3).tolist() == [0, 0, 0, 3]
    assert to_reveal(wrong, 0.5).tolist() == [0, 0, 1, 5]
    assert to_reveal(wrong, 0.3, plus=0.5).tolist() == [0, 0, 1, 3]


# What is revealed


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12)), min_size=1, max_size=6))
def test_as_many_candidates_are_revealed_as_asked(cases: list[tuple[int, int]]) -> None:
    candidates = ragged(*(length for length, _ in cases))
    counts = torch.tensor([count for _, count in cases])
    shown = reveal(counts, candidates, torch.arange(len(cases)), seed=1, update=3)
    assert not (shown & ~candidates).any()
    assert shown.sum(1).tolist() == counts.minimum(candidates.sum(1)).tolist()


def test_a_sentence_sees_the_same_in_any_batch() -> None:
    candidates, counts = ragged(9, 5, 9, 7), torch.tensor([4, 2, 4, 1])
    shown = reveal(counts, candidates, IDS, 1, 3)
    for row, length in enumerate((9, 5, 9, 7)):
        alone = reveal(counts[row, None], ragged(length), IDS[row, None], 1, 3)
        assert torch.equal(alone[0], shown[row, :length])
    wider = reveal(counts, ragged(9, 5, 9, 7, width=20), IDS, 1, 3)
    assert torch.equal(wider[:, :9], shown)


def test_another_seed_update_or_sentence_sees_something_else() -> None:
    candidates, counts = ragged(40, 40, 40, 40), torch.full((4,), 20)
    shown = reveal(counts, candidates, IDS, 1, 3)
    assert torch.equal(shown, reveal(counts, candidates, IDS, 1, 3))
    for other in ((IDS, 2, 3), (IDS, 1, 4), (IDS + 1, 1, 3)):
        assert (shown != reveal(counts, candidates, *other)).any(1).all()


def test_every_choice_is_equally_likely() -> None:
    draws, places, count = 6000, 5, 2
    candidates = torch.ones(draws, places, dtype=torch.bool)
    counts = torch.full((draws,), count)
    shown = reveal(counts, candidates, torch.arange(draws), 1, 1)
    codes = (shown * 2 ** torch.arange(places)).sum(1).bincount()
    codes = codes[codes > 0]
    assert len(codes) == comb(places, count)
    assert ((codes - draws / 10).abs() < 100).all()


# Dropout


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A model in training, with dropout in all places."""
    monkeypatch.setattr("fastdecode.measure.untrained.prepare", lambda *_: None)
    settings: dict[str, Any] = {"dropout": 0.3, "attention_dropout": 0.3, "activation_dropout": 0.3}
    settings |= {"src_embedding_copy": True, "label_smoothing": 0.1}
    size = Architecture(8, 12, 2, 2, 2)
    return untrained_system(size, 30, kind=NATransformerModel, **settings).models[0]


def test_two_passes_drop_the_same_units_out(model: Any) -> None:
    sources = torch.tensor([[0, 5, 6, 7, 2], [0, 8, 9, 2, 1]]), torch.tensor([5, 4])
    blanks = torch.tensor([[0, 3, 3, 2], [0, 3, 2, 1]])

    def outputs(ids: torch.Tensor, update: int) -> torch.Tensor:
        with dropout_of(ids, 1, update):
            out: torch.Tensor = model(*sources, blanks, blanks)["word_ins"]["out"]
            return out

    with torch.no_grad():
        first = outputs(IDS[:2], 3)
    assert torch.equal(outputs(IDS[:2], 3), first)
    assert not torch.allclose(outputs(IDS[:2], 4), first)
    assert not torch.allclose(outputs(IDS[1:3], 3), first)


def test_the_random_state_outside_goes_on() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    with dropout_of(IDS, 1, 3):
        torch.rand(5)
    assert torch.equal(torch.rand(3), expected)


# The end of the training


class Task(Glances, DecodesItself, TranslationTask):  # type: ignore[misc]
    """A task that glances."""


def task(binarised: Path, **ends: Any) -> Task:
    config = GlancingConfig(data=str(binarised), source_lang="en", target_lang="de")
    config.dataset_impl, config.train_subset, config.required_seq_len_multiple = None, "train", 1
    config.glance_from, config.glance_to = 0.5, 0.3
    for key, value in ({"max_epoch": 0, "max_update": 0, "update_freq": [1]} | ends).items():
        setattr(config, key, value)
    found: Task = Task.setup_task(config)
    found.load_dataset("train")
    return found


def updates(task: Task, epoch: int) -> int:
    """Count the updates of an epoch as fairseq groups its batches."""
    iterator = task.get_batch_iterator(
        task.dataset("train"), max_tokens=128, epoch=epoch, update_epoch_batch_itr=True
    ).next_epoch_itr()
    return len(list(GroupedIterator(iterator, task.cfg.update_freq[0])))


@pytest.mark.parametrize("accumulated", [1, 4])
def test_all_epochs_have_as_many_updates(binarised: Path, accumulated: int) -> None:
    found = task(binarised, max_epoch=7, update_freq=[accumulated])
    counted = {(updates(found, epoch), found.total_updates) for epoch in (1, 2, 5)}
    ((count, total),) = counted
    assert total == 7 * count > 7


def test_the_earlier_end_counts(binarised: Path) -> None:
    found = task(binarised, max_epoch=7, max_update=20)
    assert found.total_updates == 20
    updates(found, 1)
    assert found.total_updates == 20
    found.cfg.max_update = 10**6
    assert found.total_updates == 7 * updates(found, 1)


def test_the_ratio_of_an_update(binarised: Path) -> None:
    found = task(binarised, max_update=20)
    assert [found.glancing_ratio(u) for u in (0, 10, 20)] == pytest.approx([0.5, 0.4, 0.3])
    assert found.glances
    found.cfg.glance_from = 0.0
    assert found.glances
    found.cfg.glance_to = 0.0
    assert not found.glances
    with pytest.raises(ValueError, match="no end of the training is known"):
        task(binarised, max_epoch=7).glancing_ratio(1)


def test_batches_of_the_validation_set_are_no_updates(binarised: Path) -> None:
    found = task(binarised, max_epoch=7)
    count = updates(found, 1)
    found.load_dataset("valid")
    found.get_batch_iterator(found.dataset("valid"), max_tokens=128)
    assert found.total_updates == 7 * count
