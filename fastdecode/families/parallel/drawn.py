"""What drawings of single sentences are made of (Huang et al. 2022, figures 1 and 9)."""

from typing import Any

import torch

from fastdecode.families.parallel.decoders import single_model
from fastdecode.families.parallel.networks import Eager
from fastdecode.families.parallel.searches import LengthsTried
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.measure.statistic import DRAWN, Split
from fastdecode.system import System

CANDIDATES = 3  # tokens of a slot


@torch.inference_mode()
def slots(system: System, split: Split) -> dict[str, Any]:
    """Return what a NAT writes of the first short sentences, and each slot's likeliest tokens.

    In the figures it stands beside graphs of the same sentences.

    Raises UserError if no sentence is short enough, and for a model that fills no slots at once.
    """
    model = single_model(system, "argmax")
    lengths = LengthsTried(Eager(model), 1, int(model.max_decoder_positions()))
    decoder = system.decoder("parallel", {"search": "argmax"}, " ".join)
    sentences = []
    for number in split.short(DRAWN):
        (translation,) = decoder([split.sources[number]])
        framed = frame_sources([split.sources[number]], system.source).to(system.device)
        encoded = model.encoder(framed)
        blanks = blank_slots(lengths(encoded)[0], system.target)  # (1, T + 2)
        logits = model.decoder(normalize=False, encoder_out=encoded, prev_output_tokens=blanks)
        chances, best = logits[0, 1:-1].float().softmax(-1).topk(CANDIDATES)  # (T, K)
        sentences.append(
            {
                "line": number,
                "source": split.sources[number],
                "reference": split.references["real"][number],
                "written": translation.tokens,
                "slots": [
                    [[system.target[word], chance] for word, chance in zip(*slot, strict=True)]
                    for slot in zip(best.tolist(), chances.tolist(), strict=True)
                ],
            }
        )
    return {
        "definition": "written: the likeliest token of every slot, of the predicted length, "
        "special symbols left out; slots: "
        f"the {CANDIDATES} likeliest tokens of each, with their probabilities",
        "sentences": sentences,
    }
