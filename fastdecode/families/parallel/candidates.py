"""The words that a non-autoregressive model holds likeliest at every slot.

In figure 1 of Deng and Rush (2021) it stands beside the lattice's tables as a way to find
candidates.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from fastdecode.decode import batches
from fastdecode.errors import UserError
from fastdecode.families.parallel.decoders import single_model
from fastdecode.framing import FRAME, blank_slots, frame_sources
from fastdecode.system import System

MOST_TOKENS = 2048  # of a batch of sources


@torch.inference_mode()
def nat_candidates(
    system: System,
    sources: Sequence[Sequence[str]],
    lengths: Sequence[int],
    k: int,
    unknown: bool = False,
) -> list[Tensor]:
    """Return the K likeliest words of each slot, best first: word numbers (T, K) for each source.

    `sources` are BPE tokens; `lengths` are those of the translations asked for, T tokens without
    `<s>` and `</s>`: in a measurement of recall, the references'. Special symbols are never
    candidates, but for `<unk>` where it is asked for (`unknown`).

    Raises UserError if the dictionary has no K words, if the model has no position for a slot, on
    an ensemble, and on a model of another family.
    """
    model = single_model(system, "argmax")
    device = next(model.parameters()).device
    specials = system.target.nspecial
    words = len(system.target) - specials
    if k > words:
        raise UserError(f"K = {k}: the dictionary has {words} words: lower K")
    banned = [index for index in range(specials) if not (unknown and index == system.target.unk())]
    most = int(model.max_decoder_positions()) - FRAME
    if max(lengths, default=0) > most:
        raise UserError(f"a length of {max(lengths)}: the model has {most} slots: leave it out")
    if len(lengths) != len(sources):
        raise ValueError(f"{len(lengths)} lengths of {len(sources)} sources")
    found: dict[int, Tensor] = {}
    for group in batches(sources, MOST_TOKENS):
        framed = frame_sources([sources[i] for i in group], system.source)
        encoded = model.encoder(framed.to(device))
        asked = torch.tensor([lengths[i] + FRAME for i in group], device=device)
        slots = blank_slots(asked, system.target)
        logits = model.decoder(normalize=False, encoder_out=encoded, prev_output_tokens=slots)
        logits[..., banned] = float("-inf")
        best = logits[:, 1:].topk(k).indices  # (B, T + 1, K), from the first slot that is no frame
        found |= {i: row[: lengths[i]] for i, row in zip(group, best, strict=True)}
    return [found[i] for i in range(len(sources))]
