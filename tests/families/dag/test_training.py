"""What is trained, on what, and how it is validated."""

import csv
import math
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.criterions import FairseqCriterion
from fairseq.logging import metrics
from pydantic import ValidationError

from fastdecode.decode import load_system
from fastdecode.families.dag.criterion import GraphLoss, GraphLossConfig
from fastdecode.families.dag.glance import Glance
from fastdecode.families.dag.model import GraphModel, graph_architecture
from fastdecode.families.dag.naive import max_paths, sum_paths
from fastdecode.families.dag.rows import System as Row
from fastdecode.families.dag.task import GraphConfig, GraphTask
from fastdecode.files import read_lines
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.scores import token_scores
from fastdecode.train.job import Job
from fastdecode.train.run import train
from tests.families.dag.conftest import BOS, EOS, PAD, UNK, dictionary
from tests.train.trainings import appears, assert_same, kill_and_resume

SETTINGS: dict[str, Any] = {"max_epochs": 6, "lr": 1e-2}


@pytest.fixture(scope="session")
def graph_job(tiny_job: Callable[..., Job]) -> Callable[..., Job]:
    """Makes jobs that train a tiny model of this family."""

    def make(options: dict[str, Any] | None = None, **settings: Any) -> Job:
        row = Row(factor=3, **(options or {})).model_dump()
        return replace(tiny_job(**settings), label="tiny-dag", family="dag", options=row)

    return make


@pytest.fixture(scope="module")
def trained_graphs(graph_job: Callable[..., Job], tmp_path_factory: pytest.TempPathFactory) -> Path:
    from fastdecode.train.run import train

    out = tmp_path_factory.mktemp("dag")
    train(graph_job(**SETTINGS), out, {"system": "dag"})
    return out


@pytest.fixture(scope="module")
def task(binarised: Path) -> GraphTask:
    config = GraphConfig(data=str(binarised), source_lang="en", target_lang="de")
    config.dataset_impl = None
    config.seed, config.max_update, config.max_epoch, config.update_freq = 1, 100, 0, [1]
    config.glance_from, config.glance_to = 0.5, 0.1
    found = GraphTask.setup_task(config)
    found.load_dataset("valid")
    return found


def begun(links: str = "softmax", as_bert: bool = False) -> GraphModel:
    """A model in fp64 before its training."""
    sizes = {"embed_dim": 16, "ffn_embed_dim": 24, "layers": 1, "attention_heads": 2}
    sides = {f"{side}_{k}": v for side in ("encoder", "decoder") for k, v in sizes.items()}
    positions = {"max_source_positions": 1024, "max_target_positions": 1024}
    more = {"graph_factor": 2.0, "links": links, "share_all_embeddings": True}
    settings = Namespace(**sides, **positions, **more, apply_bert_init=as_bert)
    graph_architecture(settings)
    words = dictionary(26)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        task = SimpleNamespace(source_dictionary=words, target_dictionary=words)
        model: GraphModel = GraphModel.build_model(settings, task).double()
    return model


def learner(links: str = "softmax") -> GraphModel:
    """A random model in fp64, in training."""
    model = begun(links)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(6)
        for weight in model.parameters():
            weight += 0.3 * torch.randn_like(weight)
    return model


def batch_of(task: GraphTask, numbers: list[int]) -> dict[str, Any]:
    data = task.dataset("valid")
    return data.collater([data[i] for i in numbers])  # type: ignore[no-any-return]


def loss_of(task: Any, **options: Any) -> FairseqCriterion:
    settings = {"marginalise": "sum", "glancing": "adaptive", "seed": 1} | options
    return GraphLoss(GraphLossConfig(**settings), task)


@pytest.mark.parametrize("links", ["softmax", "gated"])
def test_wide_models_begin_as_bert_but_for_the_positions_of_vertices(
    graph_job: Callable[..., Job], links: str
) -> None:
    job = graph_job(max_epochs=1)
    assert "--apply-bert-init" not in job.arguments()
    wide = replace(job, architecture=replace(job.architecture, width=512))
    assert "--apply-bert-init" in wide.arguments()
    plain, as_bert = (begun(links, choice) for choice in (False, True))
    for side in ("encoder", "decoder"):
        weight = getattr(as_bert, side).layers[0].fc1.weight
        assert float(weight.std()) == pytest.approx(0.02, rel=0.2)
        assert not getattr(as_bert, side).layers[0].fc1.bias.any()
        assert getattr(plain, side).layers[0].fc1.weight.std() > 0.1
    positions = [model.decoder.embed_positions.weight for model in (plain, as_bert)]
    assert torch.equal(*positions) and positions[0].std() > 0.5


def test_the_command_says_what_is_trained(graph_job: Callable[..., Job]) -> None:
    words = graph_job(max_epochs=1).arguments()
    for option, value in {
        "--arch": "fastdecode_dag",
        "--task": "fastdecode_dag",
        "--criterion": "fastdecode_dag",
        "--family": "dag",
        "--graph-factor": "3.0",
        "--links": "softmax",
        "--marginalise": "sum",
        "--glancing": "adaptive",
        "--glance-from": "0.5",
        "--glance-to": "0.1",
        "--glance-over": str(200_000 / 300_000),
        "--eval-bleu-args": '{"search": "lookahead", "engine": "fastdecode"}',
    }.items():
        assert words[words.index(option) + 1] == value
    assert not {"--force-emission", "--divide-by-length"} & set(words)
    other = graph_job({"force_emission": True, "divide_by_length": True}, max_epochs=1).arguments()
    assert {"--force-emission", "--divide-by-length"} <= set(other)


def test_a_training_learns_and_is_validated(trained_graphs: Path, binarised: Path) -> None:
    with (trained_graphs / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    for column in ("valid_loss", "valid_nll_loss", "train_loss"):
        assert float(rows[-1][column]) < float(rows[0][column])
    assert float(rows[-1]["valid_bleu"]) > 0
    assert {(row["train_infeasible"], row["train_recomputed"]) for row in rows} == {("0", "0")}
    system = load_system([trained_graphs / "checkpoint.pt"], binarised, "cpu")
    (translation,) = system.decoder("dag", {}, " ".join)([["one", "two", "three"]])
    assert translation.tokens


def test_a_killed_training_ends_like_an_undisturbed_one(
    graph_job: Callable[..., Job], trained_graphs: Path, tmp_path: Path
) -> None:
    kill_and_resume(graph_job(**SETTINGS), tmp_path, appears("checkpoint3.pt"))
    assert_same(tmp_path, trained_graphs)


def test_two_processes_validate_graphs(graph_job: Callable[..., Job], tmp_path: Path) -> None:
    train(graph_job(max_epochs=1, gpus=2), tmp_path, {})  # the model is wrapped
    assert (tmp_path / "checkpoint.pt").exists()


def test_a_checkpoint_is_the_model_that_was_trained(trained_graphs: Path, binarised: Path) -> None:
    (model,), config, _ = checkpoint_utils.load_model_ensemble_and_task(
        [str(trained_graphs / "checkpoint.pt")], arg_overrides={"data": str(binarised)}
    )
    assert model.decoder.factor == 3
    assert config.model.activation_fn == "gelu"
    assert model.decoder.layers[0].activation_fn.__name__ == "gelu"
    assert isinstance(model.decoder.embed_positions, torch.nn.Embedding)  # learned


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
        bits = float(log["nll_loss"]) / int((batch["target"][:2] != PAD).sum()) / math.log(2)
        assert logged["nll_loss"].avg == pytest.approx(bits, abs=1e-3)  # of what has a path
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


def test_a_ratio_that_no_glance_reads_is_refused() -> None:
    for glancing in ("uniform", "none"):
        with pytest.raises(ValidationError, match="glancing_ratio is for glancing: adaptive"):
            Row(glancing=glancing, glancing_ratio=(0.3, 0.1))


def test_emission_that_nothing_forces_is_refused() -> None:
    with pytest.raises(ValidationError, match="force_emission is of what glancing shows"):
        Row(glancing="none", force_emission=True)


def test_a_setting_that_the_loss_does_not_read_is_refused() -> None:
    assert Row(training={"dropout": 0.3})
    with pytest.raises(ValidationError, match="its loss has no label_smoothing: another value"):
        Row(training={"label_smoothing": 0.0})
