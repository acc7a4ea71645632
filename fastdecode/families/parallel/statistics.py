"""What is measured of a non-autoregressive system beside its translations."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from fastdecode.decode import batches
from fastdecode.families.parallel.alignment import Labels, best_alignment, collapse
from fastdecode.families.parallel.candidates import nat_candidates
from fastdecode.families.parallel.decoders import LEARNED, single_model
from fastdecode.families.parallel.drawn import slots
from fastdecode.families.parallel.slots import source_slots
from fastdecode.framing import frame_sources
from fastdecode.measure.assignment import assigned
from fastdecode.measure.recall import recall_curves, recalled
from fastdecode.measure.samples import SEED, TOP_P, sampled
from fastdecode.measure.statistic import Counted, Lines, Split, Statistic
from fastdecode.nucleus import nucleus
from fastdecode.scores import token_scores
from fastdecode.system import System
from fastdecode.train.draws import keyed_uniforms, source_ids

MOST_TOKENS = 256  # of a batch of sources that is drawn from: all words of all slots are sorted


def recall(system: System, split: Split) -> dict[str, Any]:
    """Measure how many reference tokens are among the K likeliest words of their slot.

    Deng and Rush (2021), figure 1: the model as a way to find a lattice's candidates.
    """

    def find(
        sources: Lines, lengths: list[int], sizes: list[int]
    ) -> Iterator[tuple[str, int, list[Tensor]]]:
        best = nat_candidates(system, sources, lengths, max(sizes))
        for k in sizes:
            yield "model", k, [words[:, :k] for words in best]

    return recall_curves(system, split, find)


def accuracy(system: System, split: Split) -> dict[str, Any]:
    """Measure how many reference tokens are right in their slot, or along the best alignment.

    Huang et al. (2022), table 2. Where the slots are those of a translation, they are as many as
    the reference has tokens; in an alignment a token may have several slots, which count in equal
    parts, and blanks count not. `<unk>` may be right, as it may be written.
    """
    if LEARNED.get(type(system.models[0])) == "ctc":
        return assigned(system, split, lambda *batch: _aligned(system, *batch))
    return assigned(system, split, lambda *batch: _slot_by_slot(system, *batch))


def _slot_by_slot(system: System, sources: Lines, references: Lines) -> list[Counted]:
    lengths = [len(tokens) for tokens in references]
    found = nat_candidates(system, sources, lengths, 1, unknown=True)
    return recalled(found, [[*map(system.target.index, tokens)] for tokens in references])


@torch.inference_mode()
def _aligned(system: System, sources: Lines, references: Lines) -> list[Counted]:
    slots, logits = _ctc_logits(system, sources)
    targets = [torch.tensor([*map(system.target.index, tokens)]) for tokens in references]
    labels = Labels(
        torch.nn.utils.rnn.pad_sequence(targets, batch_first=True).to(slots.device),
        torch.tensor([len(tokens) for tokens in references], device=slots.device),
        system.target.bos(),
    )
    counts = (slots != system.target.pad()).sum(1)
    emitted = token_scores(logits, labels.wanted).transpose(1, 2)
    path, best = best_alignment(emitted, counts, labels), logits.argmax(-1)
    counted: list[Counted] = []
    feasible = (labels.needed <= counts).tolist()
    rows = zip(path.tolist(), best.tolist(), counts.tolist(), references, feasible, strict=True)
    for label, word, count, reference, fits in rows:
        if not fits:
            counted.append((0, 0))
            continue
        right = 0.0
        places = zip(label[:count], word[:count], strict=True)
        for wanted, group in groupby(places, key=lambda place: place[0]):
            if wanted != labels.blank:
                hits = [predicted == wanted for _, predicted in group]
                right += sum(hits) / len(hits)
        counted.append((right, len(reference)))
    return counted


def samples(system: System, split: Split) -> dict[str, Any]:
    """Measure translations whose slots are drawn each by itself, and read as CTC reads.

    Huang et al. (2022), figure 8. Raises UserError on a model that is not CTC's.
    """
    single_model(system, "ctc")
    return sampled(system, split, lambda *wanted: _drawn(system, *wanted))


@torch.inference_mode()
def _drawn(system: System, sources: Lines, temperature: float, count: int) -> list[Lines]:
    blank = system.target.bos()
    found: list[Lines] = [[] for _ in sources]
    for group in batches(sources, MOST_TOKENS):
        slots, logits = _ctc_logits(system, [sources[i] for i in group])  # (B, T), (B, T, V)
        chances = (logits.double() / temperature).softmax(-1).flatten(0, 1)
        ids = source_ids(sources[i] for i in group).to(slots.device)
        for seed in range(SEED, SEED + count):
            draws = keyed_uniforms(ids, slots.shape[1], seed, 0)
            words = nucleus(chances, draws.flatten(), TOP_P).view(slots.shape)
            words = words.masked_fill(slots == system.target.pad(), blank)
            for i, row in zip(group, words.tolist(), strict=True):
                found[i].append([system.target[word] for word in collapse(row, blank)])
    return found


def _ctc_logits(system: System, sources: Lines) -> tuple[Tensor, Tensor]:
    """Return CTC's slots (B, T), and logits (B, T, V) in which what is never written is -inf."""
    model = single_model(system, "ctc")
    framed = frame_sources(sources, system.source).to(next(model.parameters()).device)
    slots = source_slots(framed, model.decoder.upsample, system.target)
    logits = model.decoder(
        normalize=False, encoder_out=model.encoder(framed), prev_output_tokens=slots
    )
    logits[..., [system.target.pad(), system.target.eos()]] = float("-inf")
    return slots, logits


STATISTICS: dict[str, Statistic] = {
    "recall": recall,
    "accuracy": accuracy,
    "samples": samples,
    "slots": slots,
}
