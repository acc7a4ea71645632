"""The decoders of this family: a search over a network, fairseq's or ours."""

from collections.abc import Sequence
from typing import Any

import torch
from fairseq.models.nat import CMLMNATransformerModel, NATransformerModel

from fastdecode.errors import UserError
from fastdecode.families.parallel.graphed import GraphedFast
from fastdecode.families.parallel.models import CtcModel, GlatModel
from fastdecode.families.parallel.networks import Eager, Fast, Network
from fastdecode.families.parallel.rows import ITERATIONS
from fastdecode.families.parallel.rows import Decoder as Row
from fastdecode.families.parallel.searches import (
    Argmax,
    Ctc,
    CtcBeam,
    LengthsTried,
    MaskPredict,
    Search,
)
from fastdecode.framing import frame_sources
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.transformer import recording
from fastdecode.transformer.weights import bytes_per_pass, serial_layers
from fastdecode.translation import Finish, Translation, finite

LEARNED = {  # what each model learned to be asked
    NATransformerModel: "argmax",
    GlatModel: "argmax",
    CMLMNATransformerModel: "mask-predict",
    CtcModel: "ctc",
}


class ParallelDecoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(self, system: System, row: Row, finish: Finish, watch: Stopwatch):
        """Lay the model out, if it is to be; raises UserError if it does not fit."""
        model = single_model(system, row.search)
        self._network = Eager(model) if row.engine == "eager" else _fast(system)
        self._search = _search(self._network, model, system, row)
        self._source, self._target = system.source, system.target
        self._finish, self._watch = finish, watch
        self._device = next(model.parameters()).device
        self.bytes_per_pass, self.serial_layers = bytes_per_pass(model), serial_layers(model)

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        `passes` counts each sentence's decoder passes, all lengths tried in the same one. The score
        is the search's. Stages: encode, length (where one is predicted), decode, search (CTC with
        a beam), finish.

        Raises UserError if the model's scores are no numbers.
        """
        self._watch.start()
        padded = frame_sources(sources, self._source).to(self._device)  # (B, S)
        encoded = self._network.encode(padded)
        self._watch.lap("encode")
        found = self._search(padded, encoded, self._watch)
        finite([score for _, score in found])
        translations = [self._translation(*one) for one in found]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _translation(self, ids: list[int], score: float) -> Translation:
        tokens = [self._target[i] for i in ids]
        return Translation(self._finish(tokens), tokens, score, passes=self._search.passes)


def single_model(system: System, search: str) -> Any:
    """Return the model of `system`, ready to fill slots in this way.

    Raises UserError on an ensemble and on a model that learned something else.
    """
    model = system.single("slots are filled by one model")
    learned = LEARNED.get(type(model))
    if learned is None:
        raise UserError(f"{type(model).__name__} fills no slots in parallel: train a nat for this")
    if learned != search:
        raise UserError(f"{type(model).__name__} decodes by search: {learned}, not by {search}")
    for layer in model.decoder.layers:
        layer.need_attn = False  # maps of attention, read by nobody: fairseq-generate does the same
    return model


def build(system: System, row: Row, finish: Finish, watch: Stopwatch) -> Decoder:
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    return ParallelDecoder(system, row, finish, watch)


def _fast(system: System) -> Fast:
    (model,) = system.models
    kind = GraphedFast if recording.pays(model) else Fast
    return system.share("fast network", lambda: kind(model))


def _search(network: Network, model: Any, system: System, row: Row) -> Search:
    if row.beam:
        return CtcBeam(network, system.target, model.decoder.upsample, row.beam)
    if row.search == "ctc":
        return Ctc(network, system.target, model.decoder.upsample)
    lengths = LengthsTried(network, row.length_beam, int(model.max_decoder_positions()))
    if row.search == "mask-predict":
        return MaskPredict(network, system.target, lengths, row.iterations or ITERATIONS)
    return Argmax(network, system.target, lengths, row.merge)
