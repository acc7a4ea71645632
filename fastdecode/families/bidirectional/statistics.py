"""What is shown of a bidirectional system beside its translations.

Imamura and Sumita (2020): `masks` is for figure 1, `steps` for figure 2. `losses` says where the
order of writing costs likelihood: compare those of two systems.
"""

from collections import defaultdict
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.bidirectional.folding import Fold
from fastdecode.families.bidirectional.model import FoldedModel, group_mask
from fastdecode.framing import end_sentences
from fastdecode.measure.statistic import Split, Statistic
from fastdecode.progress import track
from fastdecode.system import System

SLOTS = 8  # of a mask: four pairs
SHORTEST, LONGEST = 5, 10  # tokens of the translation that is shown
TRIED = 100  # lines


def masks(system: System, split: Split) -> dict[str, Any]:
    """Return what slots see of one another in training, of single tokens and of this model's."""
    size = _fold(system).size
    return {
        "definition": "row: a slot; column: a slot that it may look at, or may not",
        "masks": {str(group): group_mask(SLOTS, group).int().tolist() for group in (1, size)},
    }


def steps(system: System, split: Split) -> dict[str, Any]:
    """Return a greedy translation in the groups in which it was written.

    It is that of the line that all drawings show, or, if this is short or long, the first of the
    split that is neither. Each step has its tokens with their places in the translation, from 0;
    an EOD has none.

    Raises UserError if there is none such among the first lines.
    """
    fold = _fold(system)
    decoder = system.decoder("bidirectional", {"beam": 1}, " ".join)
    lines = split.readable(system)[:TRIED]
    for number in ([] if split.drawn is None else [split.drawn]) + lines:
        (translation,) = decoder([split.sources[number]])
        if SHORTEST <= len(translation.tokens) <= LONGEST:
            break
    else:
        raise UserError(
            f"none of the first {TRIED} translations has {SHORTEST} to {LONGEST} tokens: nothing "
            "to show step by step"
        )
    return {
        "definition": "a greedy translation in the order of writing",
        "line": number,
        "source": split.sources[number],
        "translation": translation.tokens,
        "passes": translation.passes,
        "steps": written(fold, translation.tokens),
    }


def losses(system: System, split: Split) -> dict[str, Any]:
    """Return how unlikely the references are, as a whole and token by token, in nats.

    Tokens are told apart by half and by how many pairs of places lie between them and the middle,
    whatever order they are written in: so that systems can be compared.

    Raises UserError if no line fits into the model.
    """
    fold = _fold(system)
    lines = split.readable(system, "real")
    if not lines:
        raise UserError("no line of the split has words that fit into the model: nothing to score")
    sentences, tokens, ends = [], defaultdict(list), []
    for number in track(lines, "losses", "lines", total=len(lines)):
        reference = split.references["real"][number]
        scores = token_scores(system, fold, split.sources[number], reference).tolist()
        ends.append(-scores.pop())
        sentences.append(-sum(scores) + ends[-1])
        for place, score in enumerate(scores):
            tokens[_half(place, len(scores))].append(-score)
    return {
        "definition": "mean negative log-likelihood of the references, in nats; sentence: of all "
        "their tokens and of the first EOD, for a second one behind it is forced; end: of this "
        "EOD; tokens: of each, by half (the middle one of an odd number is of the first) and "
        "distance, the number of pairs of places between it and the middle",
        "lines": len(lines),
        "sentence": fmean(sentences),
        "end": fmean(ends),
        "tokens": [
            {"half": half, "distance": distance, "count": len(found), "loss": fmean(found)}
            for (half, distance), found in sorted(tokens.items())
        ],
    }


def _half(place: int, length: int) -> tuple[str, int]:
    """Return the half that a place is in, and how many pairs lie between it and the middle."""
    mirrored = length - 1 - place
    half = "first" if place <= mirrored else "second"
    return half, (length - 1) // 2 - min(place, mirrored)


@torch.inference_mode()
def token_scores(system: System, fold: Fold, source: list[str], reference: list[str]) -> Tensor:
    """Return (n + 1), the log-probability of each token of a reference, and of the first EOD.

    Every token is given all that is written before its group.
    """
    (model,) = system.models
    device = next(model.parameters()).device
    read = end_sentences([source], system.source).to(device)
    target = end_sentences([reference], system.target).to(device)  # (1, n + 1)
    pad, length = system.target.pad(), len(reference)
    folded = fold.fold(target, pad)  # (1, T)
    inputs = fold.inputs(folded, model.first, pad)
    logits, *_ = model(read, torch.tensor([read.shape[1]], device=device), inputs)  # (1, T, V)
    slots = length + 1  # a second EOD is forced
    columns = fold.columns(torch.tensor([length], device=device), blank=length)[0, :slots]
    scores = logits[0, :slots].double().log_softmax(-1)
    found: Tensor = scores.new_empty(slots)
    found[columns] = scores.gather(1, folded[0, :slots, None])[:, 0]
    return found


def written(fold: Fold, tokens: list[str]) -> list[list[tuple[str, int | None]]]:
    """Return the groups of a translation: each token with its place in it; an EOD has None."""
    slots: list[tuple[str, int | None]] = [("</s>", None)] * fold.slots(len(tokens))
    for place, slot in enumerate(fold.restore(range(len(tokens)))):
        slots[slot] = (tokens[place], place)
    return [slots[start : start + fold.size] for start in range(0, len(slots), fold.size)]


def _fold(system: System) -> Fold:
    (model,) = system.models
    assert isinstance(model, FoldedModel)  # the workflow asks no other for these
    return model.fold


STATISTICS: dict[str, Statistic] = {"losses": losses, "masks": masks, "steps": steps}
