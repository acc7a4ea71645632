"""The naive twin: a sentence at a time, a slot at a time, fairseq's modules, nothing kept."""

from typing import Any

import torch


@torch.no_grad()
def translate(model: Any, source: list[int], least: int, most: int) -> tuple[list[int], float]:
    """Return the numbers of a translation of `least` to `most` words, without `</s>`; its score.

    `source` are the numbers of a sentence, with `</s>`.
    """
    words = model.decoder.dictionary
    encoded = model.encoder(torch.tensor([source]))
    found: list[int] = []
    total = 0.0
    while True:
        slots = torch.full((1, len(found) + 1), words.unk())
        logits = model.decoder(slots, encoder_out=encoded)[0][0, -1]  # (V), of the last slot
        log_probs = logits.log_softmax(-1)
        banned = [words.bos(), words.pad(), *([words.eos()] if len(found) < least else [])]
        log_probs[banned] = float("-inf")
        best = int(log_probs.argmax())
        if len(found) == most:
            return found, total / (most + 1)
        total += float(log_probs[best])
        if best == words.eos():
            return found, total / (len(found) + 1)
        found.append(best)
