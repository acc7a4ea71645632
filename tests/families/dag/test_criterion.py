"""The loss of graphs, what it shows of the target, and the tensors that it is given."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.logging import metrics

from fastdecode.families.dag.criterion import GraphLoss
from fastdecode.families.dag.glance import Glance
from fastdecode.families.dag.naive import max_paths, sum_paths
from fastdecode.families.dag.task import GraphConfig, GraphTask
from fastdecode.files import read_lines
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.scores import token_scores
from tests.families.dag.conftest import BOS, EOS, PAD, UNK, dictionary
from tests.families.dag.learners import batch_of, learner, loss_of


@pytest.fixture(scope="module")
def task(binarised: Path) -> GraphTask:
    config = GraphConfig(data=str(binarised), source_lang="en", target_lang="de")
    config.dataset_impl = None
    config.seed, config.max_update, config.max_epoch, config.update_freq = 1, 100, 0, [1]
    config.glance_from, config.glance_to = 0.5, 0.1
    found = GraphTask.setup_task(config)
    found.load_dataset("valid")
    return found


def test_training_and_decoding_frame_alike(task: GraphTask) -> None:
    batch = batch_of(task, list(range(12)))
    lines = [line.split() for line in read_lines(Path(task.cfg.data).with_name("valid.en"))]
    sources = [lines[i] for i in batch["id"].tolist()]
    assert torch.equal(batch["net_input"]["src_tokens"], frame_sources(sources, task.src_dict))
    assert (batch["target"][:, 0] == BOS).all()
    assert torch.equal(batch["net_input"]["src_lengths"], torch.tensor([*map(len, sources)]) + 2)


def test_graphs_have_lambda_vertices_for_every_token() -> None:
    decoder = learner("softmax").decoder
    decoder.factor, decoder.max_positions = 2.5, lambda: 20
    sizes = decoder.sizes(torch.tensor([3, 4, 9]))
    assert sizes.tolist() == [7, 10, 20]
    words = dictionary(2)
    assert blank_slots(torch.tensor([4, 3]), words).tolist() == [
        [BOS, UNK, UNK, EOS],
        [BOS, UNK, EOS, PAD],
    ]


@pytest.mark.parametrize("links", ["softmax", "gated"])
def test_padding_changes_nothing_that_is_learned(task: GraphTask, links: str) -> None:
    model = learner(links).eval()
    criterion = loss_of(task)
    together = batch_of(task, list(range(12)))
    with torch.inference_mode():
        total, count, _ = criterion(model, together)
        singles = [criterion(model, batch_of(task, [i]))[0] for i in range(12)]
    assert count == 12
    assert float(total) == pytest.approx(float(sum(singles)), rel=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"marginalise": "max"},
        {"glancing": "uniform"},
        {"glancing": "none"},
        {"force_emission": True},
        {"force_emission": True, "marginalise": "max"},
        {"divide_by_length": True},
    ],
)
def test_every_objective_has_a_gradient_and_repeats(
    task: GraphTask, options: dict[str, Any]
) -> None:
    model = learner("gated")
    criterion, batch = loss_of(task, **options), batch_of(task, list(range(12)))
    model.set_num_updates(5)
    state = torch.get_rng_state()
    losses = []
    for _ in range(2):
        model.zero_grad()
        torch.set_rng_state(state)
        loss, _, log = criterion(model, batch)
        loss.backward()
        losses.append(loss.item())
        assert all(weight.grad.isfinite().all() for weight in model.decoder.parameters())
    assert losses[0] == losses[1]
    assert log["infeasible"] == log["recomputed"] == 0


def test_vertices_that_are_shown_are_forced_in_the_loss(task: GraphTask) -> None:
    model, batch = learner(), batch_of(task, list(range(12)))
    model.set_num_updates(5)
    state, seen, losses = torch.get_rng_state(), [], []
    for force in (False, True):
        criterion = loss_of(task, force_emission=force)
        of_paths = criterion._losses

        def noted(tokens: torch.Tensor, *rest: torch.Tensor, of_paths: Any = of_paths) -> Any:
            seen.append(tokens.detach())
            return of_paths(tokens, *rest)

        criterion._losses = noted
        torch.set_rng_state(state)
        losses.append(criterion(model, batch)[0].item())
    free, forced = seen
    banned = forced.isneginf() & ~free.isneginf()
    assert 0 < int(banned.any(1).sum()) < banned.any(1).numel()  # some vertices, not all
    assert torch.equal(forced[~banned], free[~banned])
    assert losses[1] > losses[0]  # fewer paths remain


def test_the_loss_is_the_mean_over_sentences_of_all_paths(task: GraphTask) -> None:
    model = learner().eval()
    batch = batch_of(task, list(range(12)))
    loss, count, log = loss_of(task)(model, batch)
    source, counts = (batch["net_input"][k] for k in ("src_tokens", "src_lengths"))
    sizes = model.decoder.sizes(counts)
    vertices = blank_slots(sizes, task.target_dictionary)
    logits, links = model.decoder(vertices, model.encoder(source, counts), sizes)
    lengths = (batch["target"] != PAD).sum(1)
    total = sum_paths(token_scores(logits, batch["target"]), links, lengths, sizes)
    assert loss.item() == pytest.approx(-total.sum().item(), rel=1e-5)
    assert (count, log["ntokens"]) == (12, int(lengths.sum()))
    shorter, _, log = loss_of(task, divide_by_length=True)(model, batch)
    assert shorter.item() == pytest.approx(-(total / lengths).sum().item(), rel=1e-5)
    assert float(log["nll_loss"]) == pytest.approx(loss.item())
    with metrics.aggregate() as logged:
        GraphLoss.reduce_metrics([log, log])
    bits = shorter.item() / 12 / math.log(2)
    assert logged["loss"].avg == pytest.approx(bits, abs=1e-3)
    best, _, _ = loss_of(task, marginalise="max")(model, batch)
    greatest = max_paths(token_scores(logits, batch["target"]), links, lengths, sizes)
    assert best.item() == pytest.approx(-greatest.sum().item(), rel=1e-5)
    assert best.item() > loss.item()


def test_a_glance_counts_what_the_first_pass_has_wrong_on_its_path(task: GraphTask) -> None:
    model, batch = learner().eval(), batch_of(task, list(range(12)))
    source, counts = (batch["net_input"][k] for k in ("src_tokens", "src_lengths"))
    sizes = model.decoder.sizes(counts)
    vertices = blank_slots(sizes, task.target_dictionary)
    logits, _ = model.decoder(vertices, model.encoder(source, counts), sizes)
    predicted = logits.argmax(-1)
    path = torch.arange(4).expand(12, -1) + torch.tensor([0, 0, 2, 3] * 3)[:, None]
    targets = predicted.gather(1, path)  # on another path than the best one, that of a random model
    lengths = torch.full((12,), 4)
    glance = Glance(targets, lengths, batch["id"], 1, 3, ratio=1.0)
    model(source, counts, targets, glance)
    assert not torch.equal(glance.path, path)
    wrong = (predicted.gather(1, glance.path) != targets).sum(1)
    assert torch.equal(glance.shown.sum(1), wrong)
    assert int((wrong < 4).sum()) > 0  # some of them are right


def test_a_target_longer_than_its_graph_is_counted_and_left_out(task: GraphTask) -> None:
    model = learner()
    batch = batch_of(task, [0, 1, 2])
    expected, count, log = loss_of(task, glancing="none")(model, batch)
    long = torch.full((3, 60), 5)
    long[:, : batch["target"].shape[1]] = batch["target"]
    long[:2, batch["target"].shape[1] :] = PAD
    for glancing in ("none", "adaptive", "uniform"):
        found, count, log = loss_of(task, glancing=glancing)(model, {**batch, "target": long})
        assert (count, log["infeasible"], log["sample_size"]) == (2, 1, 2)
        with metrics.aggregate() as logged:
            GraphLoss.reduce_metrics([log])
        nats = float(log["nll_loss"])  # of what has a path
        bits = nats / int((batch["target"][:2] != PAD).sum()) / math.log(2)
        assert logged["nll_loss"].avg == pytest.approx(bits, abs=1e-3)  # a token
        assert found.item() == pytest.approx(nats)
        assert logged["loss"].avg == pytest.approx(nats / 2 / math.log(2), abs=1e-3)  # a sentence
        assert found.isfinite()
        found.backward()
    none, count, log = loss_of(task)(model, {**batch, "target": long.clamp(min=5)})
    assert (none.item(), count, log["infeasible"]) == (0.0, 0, 3)
    none.backward()
    assert expected.item() > 0


@pytest.mark.parametrize("glancing", ["adaptive", "uniform"])
def test_what_is_shown_changes_with_every_update(
    task: GraphTask, glancing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = learner()
    seen: list[Any] = []
    model.decoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    ratios: list[int] = []

    def ratio(update: int) -> float:
        ratios.append(update)
        return 0.5

    monkeypatch.setattr(task, "glancing_ratio", ratio)
    criterion, batch = loss_of(task, glancing=glancing), batch_of(task, list(range(12)))
    optimizer = SimpleNamespace(backward=lambda loss: None)
    shown = {}
    for update in (0, 1, 7, 0):
        seen.clear()
        with torch.random.fork_rng():
            torch.manual_seed(1)  # the encoder's dropout, that nothing else makes a difference
            task.train_step(batch, model, criterion, optimizer, update)
        before = shown.setdefault(update, seen[-1])
        assert torch.equal(before, seen[-1])  # as it was
    assert not torch.equal(shown[0], shown[1]) and not torch.equal(shown[1], shown[7])
    assert ratios == ([0, 1, 7, 0] if glancing == "adaptive" else [])


def test_the_second_pass_sees_what_is_shown(task: GraphTask) -> None:
    model = learner()
    seen: list[Any] = []
    model.decoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    loss_of(task)(model, batch_of(task, [0, 1, 2]))
    first, second = seen
    assert (first != second).any()
    assert (first[first != second] == UNK).all()
    seen.clear()
    loss_of(task, glancing="none")(model, batch_of(task, [0, 1, 2]))
    model.eval()
    loss_of(task)(model, batch_of(task, [0, 1, 2]))
    assert len(seen) == 2


def test_both_passes_drop_the_same_units_out(
    task: GraphTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GraphTask, "glancing_ratio", lambda self, update: 0.0)  # nothing is shown
    model = learner("gated")
    seen: list[Any] = []
    model.decoder.register_forward_hook(lambda _, inputs, outputs: seen.append(outputs))
    loss_of(task)(model, batch_of(task, [0, 1, 2]))
    (first, links), (second, links_again) = seen
    assert torch.equal(first, second) and torch.equal(links, links_again)
    model.eval()
    loss_of(task)(model, batch_of(task, [0, 1, 2]))
    assert not torch.allclose(seen[-1][0], first)  # in training something is dropped


def test_the_ratio_of_glancing_follows_the_task() -> None:
    ratios = []
    task = SimpleNamespace(
        target_dictionary=dictionary(26),
        glancing_ratio=lambda update: ratios.append(update) or 0.5,  # type: ignore[func-returns-value]
    )
    model = learner()
    model.set_num_updates(17)
    words = torch.tensor([[BOS, 5, 6, EOS]])
    sample = {
        "id": torch.tensor([3]),
        "net_input": {"src_tokens": words, "src_lengths": torch.tensor([4])},
        "target": words,
        "ntokens": 4,
    }
    loss_of(task)(model, sample)
    assert ratios == [17]
