"""What the drafter's and the blockwise model's outputs depend on, and what they learn."""

import json
import math
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.logging import metrics
from fairseq.modules import LearnedPositionalEmbedding
from torch import Tensor

from fastdecode.drafting import Prefixes
from fastdecode.families.aggressive.blocks import Blocks, blocks_after
from fastdecode.families.aggressive.criteria import BlockwiseCriterion, DrafterCriterion
from fastdecode.families.aggressive.decoders import batch_of
from fastdecode.families.aggressive.drafter import (
    DrafterModel,
    copy_encoder,
    drafter_architecture,
)
from fastdecode.families.aggressive.fast import FastDrafter
from fastdecode.glancing import reveal, to_reveal
from fastdecode.system import System
from tests.families.aggressive.conftest import untrained, untrained_blockwise, untrained_drafter
from tests.recording import record_on_this_cpu

PAD, EOS, UNK = 1, 2, 3
SOURCE = torch.tensor([[5, 9, 4, 7, EOS], [8, EOS, PAD, PAD, PAD]])
TARGET = torch.tensor([[11, 4, 12, 9, 5, EOS], [5, 13, EOS, PAD, PAD, PAD]])
SAMPLE: dict[str, Any] = {
    "id": torch.tensor([7, 3]),
    "nsentences": 2,
    "ntokens": 9,
    "net_input": {"src_tokens": SOURCE, "src_lengths": torch.tensor([5, 2])},
    "target": TARGET,
}


@pytest.fixture(params=[True, False], ids=["prenorm", "postnorm"])
def drafter(request: pytest.FixtureRequest) -> Any:
    (model,) = untrained_drafter(untrained(prenorm=request.param), prenorm=request.param).models
    return model


def fill(model: Any, rows: list[int], lengths: list[int], tokens: Tensor = TARGET) -> Tensor:
    """Return the logits (B, k, V) of the slots after prefixes of these lengths."""
    source = SOURCE[rows]
    source = source[:, : int((source != PAD).sum(1).max())]
    known = torch.tensor(lengths)
    blocks = blocks_after(tokens[rows], known, max(lengths), model.decoder.block, PAD, UNK)
    logits: Tensor = model(source, (source != PAD).sum(1), blocks)
    return logits


def test_a_block_may_reach_over_the_last_position() -> None:
    (model,) = untrained_drafter(untrained(), decoder_learned_pos=True).models
    most = int(model.max_decoder_positions())
    prefix = TARGET[:1, :1].repeat(1, most)
    cut = fill(model, [0], [most - 2], prefix)
    weights = model.decoder.embed_positions.weight
    longer = LearnedPositionalEmbedding(len(weights) + 2, weights.shape[1], PAD).double()
    with torch.no_grad():  # further slots have the last position
        longer.weight.copy_(weights[torch.arange(len(weights) + 2).clamp(max=len(weights) - 1)])
    model.decoder.embed_positions = longer
    assert torch.allclose(fill(model, [0], [most - 2], prefix), cut)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_both_engines_reach_over_the_last_position_alike(positions: str) -> None:
    most, learned = 12, positions == "learned"
    options = {"decoder_learned_pos": learned, "max_target_positions": most}
    system = untrained_drafter(untrained(), **options)
    (model,) = system.models
    assert model.max_decoder_positions() == most
    batch = batch_of([["w1", "w2", "w3"], ["w4"]], system.source, torch.device("cpu"))
    sources = batch.tokens, torch.tensor([4, 2])
    tokens = torch.arange(2 * most).view(2, most) % 10 + 4
    with torch.inference_mode():
        fast = FastDrafter(system).begin(batch)
        for longest in range(most - 6, most):  # from all within to three of four slots behind
            lengths = torch.tensor([longest, longest - 2])
            eager = model(*sources, blocks_after(tokens, lengths, longest, 4, PAD, UNK))
            prefixes = Prefixes(tokens, lengths, longest)
            found = fast._decoder.fill(prefixes, fast._source, 4)
            assert torch.allclose(found, eager, atol=1e-6)  # fairseq's sinusoids are of fp32


def test_a_slot_depends_on_prefix_and_source_alone(drafter: Any) -> None:
    both = fill(drafter, [0, 1], [3, 1])
    assert torch.allclose(both[0], fill(drafter, [0], [3])[0], atol=1e-12)
    assert torch.allclose(both[1], fill(drafter, [1], [1])[0], atol=1e-12)
    behind, within = TARGET.clone(), TARGET.clone()
    behind[:, 3:], within[:, 0] = 6, 6
    assert torch.equal(fill(drafter, [0, 1], [3, 1], behind)[0], both[0])
    assert not torch.allclose(fill(drafter, [0, 1], [3, 1], within), both)
    slots = both[0]
    assert not torch.allclose(slots[0], slots[1])  # they differ by their places alone


def test_slots_see_each_other(drafter: Any) -> None:
    lengths = torch.tensor([1, 1])
    blocks = blocks_after(TARGET, lengths, 1, 4, PAD, UNK)
    shown = blocks.show(TARGET[:, 1:5], torch.tensor([[False, False, True, False]] * 2))
    lengths = (SOURCE != PAD).sum(1)
    hidden, seen = (drafter(SOURCE, lengths, one) for one in (blocks, shown))
    assert not torch.allclose(hidden[:, 0], seen[:, 0])


@pytest.mark.parametrize("as_bert", [True, False])
@pytest.mark.parametrize("start", ["random", "initialised", "shared"])
def test_linear_layers_and_the_encoder_begin_as_they_are_told(
    start: str, as_bert: bool, tmp_path: Path
) -> None:
    system = untrained()
    verifier = system.models[0].float()
    torch.save({"model": verifier.state_dict()}, tmp_path / "verifier.pt")
    companions = json.dumps({"theirs": str(tmp_path / "verifier.pt")})
    task = SimpleNamespace(
        source_dictionary=system.source,
        target_dictionary=system.target,
        cfg=SimpleNamespace(companions=companions),
    )
    sizes = {"embed_dim": 16, "ffn_embed_dim": 24, "attention_heads": 2, "layers": 2}
    both = {f"{side}_{key}": n for side in ("encoder", "decoder") for key, n in sizes.items()}
    arguments = Namespace(**both, encoder_start=start, verifier="theirs")
    arguments.encoder_normalize_before = arguments.decoder_normalize_before = True
    arguments.share_all_embeddings = True
    arguments.no_bert_init = not as_bert
    drafter_architecture(arguments)
    model = DrafterModel.build_model(arguments, task)

    def small(layer: torch.nn.Linear) -> bool:
        return 0.015 < float(layer.weight.std()) < 0.025

    first, last = model.decoder.layers
    for layer in (first.fc1, last.self_attn.k_proj, model.decoder.copy.query):
        assert small(layer) == as_bert
    ours, theirs = model.encoder.state_dict(), verifier.encoder.state_dict()
    taken = [torch.equal(ours[key], theirs[key]) for key in ours]
    assert len(taken) > 20 and all(taken) == (start != "random")
    if start == "random":
        assert small(model.encoder.layers[0].fc1) == as_bert
    learned = {weight.requires_grad for weight in model.encoder.parameters()}
    assert learned == {start != "shared"}
    assert model.decoder.layers[0].fc1.weight.requires_grad


def test_the_encoder_begins_as_the_verifiers() -> None:
    verifier, drafter = untrained().models[0], untrained_drafter(untrained()).models[0]
    copy_encoder(drafter, {f"{key}": w for key, w in verifier.state_dict().items()})
    lengths = torch.tensor([5, 2])
    states = [m.encoder(SOURCE, lengths)["encoder_out"][0] for m in (drafter, verifier)]
    assert torch.equal(*states)
    output = drafter.decoder.output_projection.weight
    assert torch.equal(output, verifier.decoder.output_projection.weight)  # one embedding for all


# The loss


def criterion(kind: Any, system: System, ratio: float = 0.5, **options: Any) -> Any:
    task = SimpleNamespace(target_dictionary=system.target, glancing_ratio=lambda update: ratio)
    return kind(task, False, 0.1, 0, False, **options)


def test_the_loss_is_that_of_the_slots_that_hold_a_word() -> None:
    system = untrained_drafter(untrained())
    (model,) = system.models
    loss = criterion(DrafterCriterion, system, seed=1)
    blocks, targets = loss.blocks(SAMPLE, 4, 0)
    value, size, log = loss(model, SAMPLE)
    words = targets != PAD
    logits = model(**SAMPLE["net_input"], blocks=blocks).float().log_softmax(-1)
    chosen = logits.gather(2, targets[..., None])[..., 0]
    assert size == words.sum() == log["sample_size"]
    assert size < targets.numel()  # some hold no word
    nll = -chosen[words].sum()
    assert float(log["nll_loss"]) == pytest.approx(float(nll), rel=1e-5)
    smooth = -logits[words].sum() * 0.1 / (logits.shape[-1] - 1)
    expected = float(nll * (0.9 - 0.1 / (logits.shape[-1] - 1)) + smooth)
    assert float(value) == pytest.approx(expected, rel=1e-5)
    for update in range(8):
        model.num_updates = update
        assert float(loss(model, SAMPLE)[0]) == float(value)  # validation draws nothing anew
    with metrics.aggregate() as logged:
        loss.reduce_metrics([log])
    assert logged["nll_loss"].avg == pytest.approx(float(nll / size) / math.log(2), abs=1e-3)
    assert log["ntokens"] == 9 > size  # fairseq counts them for its speed


def test_draws_are_of_the_update_and_the_sentence_alone() -> None:
    system = untrained_drafter(untrained())
    loss = criterion(DrafterCriterion, system, seed=1)
    turned = {"id": SAMPLE["id"].flip(0), "target": TARGET.flip(0)}
    places = [loss.blocks(SAMPLE, 4, update)[0].places[:, 0].tolist() for update in range(40)]
    other = [loss.blocks(turned, 4, update)[0].places[:, 0].tolist() for update in range(40)]
    assert [row[::-1] for row in other] == places
    assert {row[0] for row in places} == set(range(6)) and {row[1] for row in places} == {0, 1, 2}


def test_where_a_prefix_ends_says_nothing_of_what_is_shown() -> None:
    """Of four slots the first is the one that is shown in a quarter of cases, wherever it is."""
    many = 4000
    ids = torch.arange(many)
    loss = criterion(DrafterCriterion, untrained_drafter(untrained()), 1.0, seed=1)
    blocks, _ = loss.blocks({"id": ids, "target": TARGET[:1].expand(many, -1)}, 4, 5)
    one, anywhere = torch.ones(many, dtype=torch.long), torch.ones(many, 4, dtype=torch.bool)
    first = reveal(one, anywhere, ids, loss.seed, 5)[:, 0].double()
    for place in range(6):
        chosen = first[blocks.places[:, 0] == place]
        assert float(chosen.mean()) == pytest.approx(1 / 4, abs=0.08)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_glancing_learns_from_what_is_not_shown(
    ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastdecode.measure.untrained.prepare", lambda model, *_: model.double())
    system = untrained_drafter(untrained(), dropout=0.3)
    (model,) = system.models
    loss = criterion(DrafterCriterion, system, ratio, seed=1)
    model.train()
    model.num_updates = 5
    state = torch.get_rng_state()
    value, size, _ = loss(model, SAMPLE)
    assert torch.equal(torch.get_rng_state(), state)
    hidden = int((loss.blocks(SAMPLE, 4, 5)[1] != PAD).sum())
    assert size == hidden if ratio == 0.0 else size < hidden
    assert float(loss(model, SAMPLE)[0]) == float(value)  # dropout too repeats
    value.backward()
    assert model.decoder.copy.query.weight.grad.abs().sum() > 0


def test_the_ratio_and_the_dropout_of_both_passes_are_the_updates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fastdecode.measure.untrained.prepare", lambda model, *_: model.double())
    system = untrained_drafter(untrained(), dropout=0.3)
    (model,) = system.models
    asked: list[int] = []
    loss = criterion(DrafterCriterion, system, seed=1)
    loss.task.glancing_ratio = lambda update: asked.append(update) or 0.5
    encoded: list[Tensor] = []
    model.encoder.register_forward_hook(lambda *call: encoded.append(call[-1]["encoder_out"][0]))
    model.train()
    for update in (5, 6):
        model.num_updates = update
        loss(model, SAMPLE)
    first, second, other, _ = encoded
    assert asked == [5, 6]
    assert torch.equal(first, second)
    assert not torch.equal(first, other)  # there is dropout


def test_a_second_pass_sees_what_is_shown_and_learns_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fastdecode.measure.untrained.prepare", lambda model, *_: model.double())
    system = untrained_drafter(untrained(), dropout=0.0)
    (model,) = system.models
    loss = criterion(DrafterCriterion, system, seed=1)
    model.train()
    model.num_updates = 5
    seen: list[Blocks] = []
    forward = model.forward

    def noted(**inputs: Any) -> Any:
        seen.append(inputs["blocks"])
        return forward(**inputs)

    monkeypatch.setattr(model, "forward", noted)
    rows: list[int] = []  # that logits are made of
    output = model.decoder.output_layer
    monkeypatch.setattr(
        model.decoder, "output_layer", lambda states: rows.append(len(states)) or output(states)
    )
    _, size, _ = loss(model, SAMPLE)
    blocks, targets = loss.blocks(SAMPLE, 4, 5)
    first, second = seen
    assert rows == [(targets != PAD).sum(), size]  # and none of slots that hold nothing
    assert torch.equal(first.tokens, blocks.tokens) and torch.equal(first.blank, blocks.blank)
    shown = ~second.of(second.blank[..., None])[..., 0]
    assert shown.any() and size == (targets != PAD).sum() - shown.sum()
    assert torch.equal(second.of_ids()[shown], targets[shown])
    guesses = forward(**SAMPLE["net_input"], blocks=blocks).argmax(-1)
    wrong = ((guesses != targets) & (targets != PAD)).sum(1)
    assert torch.equal(shown.sum(1), to_reveal(wrong, 0.5))


def test_every_head_learns_its_own_distance() -> None:
    system = untrained_blockwise(3)
    (model,) = system.models
    prev = torch.cat([torch.full((2, 1), EOS), TARGET[:, :-1]], 1)
    sample = {**SAMPLE, "net_input": {**SAMPLE["net_input"], "prev_output_tokens": prev}}
    value, size, log = criterion(BlockwiseCriterion, system)(model, sample)
    assert size == 9
    totals = []
    for distance, logits in enumerate(model(**sample["net_input"])):
        logs, total = logits.float().log_softmax(-1), 0.0
        for b in range(2):
            words = [token for token in TARGET[b].tolist() if token != PAD]
            for t in range(len(words) - distance):
                total -= float(logs[b, t, words[t + distance]])
        totals.append(total)
    assert float(log["nll_loss"]) == pytest.approx(totals[0], rel=1e-5)  # the verifier's
    plain = criterion(BlockwiseCriterion, system)
    plain.eps = 0.0
    assert float(plain(model, sample)[0]) == pytest.approx(sum(totals) / 3, rel=1e-5)
    assert float(value) != pytest.approx(sum(totals) / 3, rel=1e-5)


def test_the_last_sentence_of_a_batch_is_drafted_for_as_alone(
    pair: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a sentence alone would be recorded: it still has the padding of the batch."""
    sources = [["w1", "w2"], ["w3"] * 9]
    words = torch.tensor([[5, 6, 7, 8, 9, 6]])
    known = [Prefixes(words, torch.tensor([length]), length) for length in range(6)]
    found = []
    for several, record in ((False, False), (True, False), (False, True), (True, True)):
        if record:
            record_on_this_cpu(monkeypatch)
        drafter = FastDrafter(replace(pair, _shared={}))
        with torch.inference_mode():
            drafts = drafter.begin(
                batch_of(sources if several else sources[:1], pair.source, torch.device("cpu"))
            )
            if several:
                drafts.keep(torch.tensor([0]))
            found.append([drafts.propose(prefixes, 4).tolist() for prefixes in known])
    assert len({str(proposed) for proposed in found[0]}) > 2
    for proposed in found[1:]:
        assert proposed == found[0]
