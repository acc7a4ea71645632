"""The slots that a model fills: those of CTC, which of them hold words, masks, what they copy.

Slots of a translation of known length are framed by `<s>` and `</s>`, as sources are
(fastdecode.framing makes both); where the model learned it, the frame is predicted as any word.
Slots of CTC have no frame: what is left when blanks are dropped is the translation.

A slot that nothing is known of holds `<unk>`, as in fairseq. CTC's own blank, for "no word here",
is `<s>`: a symbol that no translation contains, with an embedding of its own.
"""

import torch
from fairseq.data import Dictionary
from torch import Tensor

from fastdecode.glancing import lowest
from fastdecode.train.draws import keyed_uniforms


def source_slots(sources: Tensor, upsample: int, words: Dictionary) -> Tensor:
    """Return CTC's slots to fill, `upsample` for each token of the framed `sources` (B, S)."""
    counts = (sources != words.pad()).sum(1) * upsample
    slot = torch.arange(upsample * sources.shape[1], device=sources.device)
    slots = torch.full((len(sources), len(slot)), words.unk(), device=sources.device)
    slots.masked_fill_(slot >= counts[:, None], words.pad())
    return slots


def is_word_slot(slots: Tensor, words: Dictionary) -> Tensor:
    """Tell which `slots` (B, T) are neither padding nor frame."""
    word: Tensor = (slots != words.pad()) & (slots != words.bos()) & (slots != words.eos())
    return word


def unframed(targets: Tensor, words: Dictionary) -> tuple[Tensor, Tensor]:
    """Return the words of framed `targets` (B, T), padded (B, T - 1), and their number (B)."""
    inner = targets[:, 1:]
    inner = inner.masked_fill(inner == words.eos(), words.pad())
    return inner, (inner != words.pad()).sum(1)


def mask_words(targets: Tensor, ids: Tensor, words: Dictionary, seed: int, update: int) -> Tensor:
    """Return `targets` (B, T) with 1 to N of their N words, all numbers equally likely, as `<unk>`.

    Which ones depends on seed, update and the sentence's id in `ids` (B) alone.
    """
    word = is_word_slot(targets, words)
    draws = keyed_uniforms(ids, 1 + targets.shape[1], seed, update)
    masked = (draws[:, 0] * word.sum(1)).long() + 1  # (B)
    return targets.masked_fill(lowest(draws[:, 1:], word, masked), words.unk())


def copied_places(sources: Tensor, slots: Tensor, pad: int) -> Tensor:
    """Return which source token each slot begins with: evenly, from the first to the last one.

    `sources` (B, S) and `slots` (B, T) hold `pad` behind their ends, and at least two tokens each;
    the places (B, T) are round(t · (S - 1) / (T - 1)) as fairseq computes it.
    """
    filled = slots != pad
    last, last_slot = (((tokens != pad).sum(1) - 1).float()[:, None] for tokens in (sources, slots))
    slot = torch.arange(slots.shape[1], device=slots.device).float()
    return (last / last_slot * slot).round().long().masked_fill(~filled, 0)
