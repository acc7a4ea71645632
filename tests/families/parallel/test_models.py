"""What the models of ours add to fairseq's."""

from typing import Any

import torch
from torch import Tensor

from fastdecode.families.parallel.alignment import best_alignment, collapse
from fastdecode.families.parallel.slots import source_slots
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.scores import token_scores
from fastdecode.system import System
from tests.families.parallel.conftest import untrained

Sentences = list[list[str]]
BOS, PAD, EOS, UNK = range(4)
SOURCES = [["w0", "w2", "w5"], ["w1", "w1"]]
TARGETS = torch.tensor([[BOS, 6, 7, 8, 8, EOS], [BOS, 9, 9, EOS, PAD, PAD]])


def embedded(system: System, slots: Tensor, embed_sources: Tensor) -> Tensor:
    decoder = system.models[0].decoder
    with torch.no_grad():
        found: Tensor = decoder.forward_embedding(slots, embed_sources)[0]
    return found


def test_a_slot_that_is_shown_begins_with_its_word() -> None:
    system = untrained("glat")
    decoder: Any = system.models[0].decoder
    slots = torch.tensor([[BOS, UNK, 7, UNK, EOS]])
    sources = torch.randn(1, 5, 8, dtype=torch.float64)
    words = decoder.embed_scale * decoder.embed_tokens(slots)
    found = embedded(system, slots, sources.clone())
    plain = embedded(untrained("nat"), slots, sources.clone())
    assert torch.equal(found[:, [1, 3]], plain[:, [1, 3]])
    expected = words + decoder.embed_positions(slots)
    assert torch.allclose(found[:, [0, 2, 4]], expected[:, [0, 2, 4]])


def test_a_slot_of_a_soft_copy_begins_with_a_mixture_of_the_source() -> None:
    system = untrained("glat", soft_copy=True)
    (model,) = system.models
    decoder: Any = model.decoder
    sources = frame_sources(SOURCES, system.source)  # the second one is shorter
    slots = torch.tensor([[BOS, UNK, 7, UNK, EOS]]).expand(2, -1)
    with torch.no_grad():
        words = decoder.embed_scale * decoder.embed_tokens(sources)
        copied = decoder.forward_copying_source(words, sources != PAD, slots != PAD)
    for b, source in enumerate(sources):
        count = int((source != PAD).sum())
        places = decoder.embed_positions(torch.full((1, 9), UNK))[0]  # (9, d)
        for t in range(5):
            query = decoder.copy.query.weight @ places[t]
            scores = [query @ (words[b, s] + places[s]) / 8**0.5 for s in range(count)]
            shares = torch.stack(scores).softmax(0)
            mixed = sum(shares[s] * words[b, s] for s in range(count))
            assert torch.allclose(copied[b, t], mixed)
    assert untrained("glat").models[0].decoder.copy is None


def test_where_nothing_is_copied_a_blank_slot_knows_nothing_of_the_source() -> None:
    slots = torch.tensor([[BOS, UNK, 7, UNK, EOS]]).expand(2, -1)
    for kind in ("glat", "ctc"):
        system = untrained(kind, src_embedding_copy=False)
        (model,) = system.models
        decoder: Any = model.decoder
        begun: list[Tensor] = []
        with torch.no_grad():
            words = decoder.embed_scale * decoder.embed_tokens(slots)
            decoder.layers[0].register_forward_pre_hook(
                lambda _, inputs, begun=begun: begun.append(inputs[0].transpose(0, 1))
            )
            encoded = model.encoder(frame_sources(SOURCES, system.source))
            model.decoder(normalize=False, prev_output_tokens=slots, encoder_out=encoded)
        assert torch.allclose(begun[0], words + decoder.embed_positions(slots))


def test_nothing_shown_is_a_nat() -> None:
    """With one table of embeddings, `<s>` and `</s>` are what would be copied."""
    sources = frame_sources(SOURCES, untrained("nat").source)
    slots = blank_slots((TARGETS != PAD).sum(1), untrained("nat").target)
    outputs = []
    for kind in ("nat", "glat"):
        with torch.no_grad():
            lengths = (sources != PAD).sum(1)
            outputs.append(untrained(kind).models[0](sources, lengths, slots, TARGETS))
    one, other = outputs
    mask = one["word_ins"]["mask"]
    assert torch.equal(mask, other["word_ins"]["mask"])
    assert torch.allclose(one["word_ins"]["out"][mask], other["word_ins"]["out"][mask])
    assert torch.equal(one["length"]["tgt"], other["length"]["tgt"])


def test_what_is_shown_is_not_learned() -> None:
    system = untrained("glat")
    sources = frame_sources(SOURCES, system.source)
    slots = TARGETS.clone()
    slots[0, [1, 4]] = UNK
    with torch.no_grad():
        found = system.models[0](sources, (sources != PAD).sum(1), slots, TARGETS)["word_ins"]
    assert found["mask"].tolist() == [
        [True, True, False, False, True, True],
        [True, False, False, True, False, False],
    ]


def test_glat_looks_for_the_target() -> None:
    system = untrained("glat")
    sources = frame_sources(SOURCES, system.source)
    inputs = sources, (sources != PAD).sum(1)
    slots = TARGETS.where((TARGETS == BOS) | (TARGETS == EOS) | (TARGETS == PAD), UNK)
    with torch.no_grad():
        logits = system.models[0](*inputs, slots, TARGETS)["word_ins"]["out"]
    answers, said = system.models[0].look(*inputs, slots, TARGETS)
    assert torch.equal(answers, TARGETS)
    assert torch.equal(said, logits.argmax(-1))


def test_ctc_looks_for_the_target_or_what_it_says() -> None:
    system = untrained("ctc")
    (model,) = system.models
    sources = frame_sources(SOURCES, system.source)
    inputs = sources, (sources != PAD).sum(1)
    slots = source_slots(sources, 2, system.target)
    with torch.no_grad():
        logits = model(*inputs, slots)["word_ins"]["out"]
        emitted = model(*inputs, slots, TARGETS)["emitted"]
    labels, counts = model.labels(TARGETS), (slots != PAD).sum(1)
    expected = token_scores(logits, labels.wanted).transpose(1, 2)
    assert torch.allclose(emitted.float(), expected, atol=1e-5)
    answers, said = model.look(*inputs, slots, TARGETS)
    assert torch.equal(said, logits.argmax(-1))
    assert torch.equal(answers, best_alignment(emitted, counts, labels))
    assert [collapse(row, BOS) for row in answers.tolist()] == [[6, 7, 8, 8], [9, 9]]
    few = slots[:, :4].clone()  # the first needs five
    answers, said = model.look(*inputs, few, TARGETS)
    assert torch.equal(answers[0], said[0])
    assert collapse(answers[1].tolist(), BOS) == [9, 9]


def test_ctc_predicts_no_length() -> None:
    assert not any("embed_length" in name for name in untrained("ctc").models[0].state_dict())
