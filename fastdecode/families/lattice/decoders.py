"""Sequence-to-lattice decoding (Deng and Rush 2021, section 3).

Candidates by look-up, edge scores by one pass of the scorer, the best path by dynamic programming.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.lattice.graphed import SLOTS, GraphedScorer, Search, graphed
from fastdecode.families.lattice.lengths import read_lengths
from fastdecode.families.lattice.model import LatticeModel
from fastdecode.families.lattice.optimised import OptimisedScorer
from fastdecode.families.lattice.rows import Decoder as Row
from fastdecode.families.lattice.scan import scan
from fastdecode.families.lattice.scorer import Scorer
from fastdecode.families.lattice.sentence import candidates_of
from fastdecode.families.lattice.viterbi import viterbi
from fastdecode.framing import end_sentences, mask_of
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.transformer import recording
from fastdecode.transformer.graphs import encoder_of
from fastdecode.transformer.layers import unsupported
from fastdecode.transformer.recording import up
from fastdecode.transformer.weights import bytes_per_pass, serial_layers
from fastdecode.translation import Finish, Translation, finite

SEARCHES = {"viterbi": viterbi, "scan": scan}


class LatticeDecoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(self, system: System, row: Row, finish: Finish, watch: Stopwatch):
        """Lay the model out; raises UserError if it has no tables, or parts not built here."""
        fault = "is not a lattice model: train one for this"
        model = system.single("a lattice is scored by one model", LatticeModel, fault)
        if system.assets is None:
            raise UserError("a lattice needs its tables: load the system with its folder of assets")
        if parts := unsupported(model):  # the scorer is this project's in both tiers
            raise UserError(f"a lattice knows no {parts}: train a plain one")
        self._source, self._target = system.source, system.target
        self._row, self._finish, self._watch = row, finish, watch
        self._device = next(model.parameters()).device
        self._candidates = system.share("candidates", lambda: candidates_of(system))
        self._lengths = read_lengths(system.assets / "lengths.json")
        if row.bf16 and self._device.type != "cpu":
            raise UserError("bf16 is the lattice's for a CPU: on a GPU set precision: bf16")
        pack, exact = row.engine == "fastdecode", row.normalise == "vocabulary"
        bos, eos = system.target.bos(), system.target.eos()
        self._encoder: Any = (
            system.share("encoder", lambda: encoder_of(model.encoder))
            if pack
            else _eager(model.encoder)
        )
        self._search: Search = SEARCHES[row.search]
        self._graphs = pack and recording.pays(model)

        def scorer() -> Scorer | OptimisedScorer:
            if self._graphs:
                return GraphedScorer(Scorer(model.decoder, bos, eos, exact))
            if pack and self._device.type == "cpu":
                return OptimisedScorer(model.decoder, bos, eos, exact, half=row.bf16)
            return Scorer(model.decoder, bos, eos, exact)

        self._scorer = system.share(f"scorer {pack} {exact} {row.bf16}", scorer)
        if self._graphs:
            self._search = system.share(
                f"search {row.search}", lambda: graphed(SEARCHES[row.search])
            )
        self._most = int(model.max_decoder_positions())  # slots, that of `</s>` among them
        self.bytes_per_pass = _bytes(model, exact, row.bf16)
        self.serial_layers = serial_layers(model)

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        One pass each. Stages: candidates, encode, score, search, finish.
        """
        self._watch.start()
        ids = [[self._source.index(token) for token in tokens] for tokens in sources]
        bounds = [self._bounds(len(sentence)) for sentence in ids]
        slots = max(longest for _, longest in bounds)
        if self._graphs and len(ids) == 1:
            slots = up(slots, SLOTS)
        candidates, _ = self._candidates.batch(ids, slots, self._row.k)
        self._watch.lap("candidates")

        padded = end_sentences(sources, self._source).to(self._device)  # (B, S)
        mask = mask_of(padded, self._source, map(len, sources))
        encoded = self._encoder(padded, mask)
        self._watch.lap("encode")
        first, edges = self._scorer(candidates, encoded, mask, bounds)
        self._watch.lap("score")
        paths = self._search(first, edges, *torch.tensor(bounds, device=self._device).unbind(1))
        chosen = candidates[:, :-1].gather(2, paths.words[..., None])[..., 0]  # (B, T - 1)
        found = paths.to_lists()
        finite([score for _, score in found])
        ids = [row[: len(path)] for row, (path, _) in zip(chosen.tolist(), found, strict=True)]
        self._watch.lap("search")
        translations = [
            self._translation(words, score) for words, (_, score) in zip(ids, found, strict=True)
        ]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _bounds(self, words: int) -> tuple[int, int]:
        """Return Tmin and Tmax for a source of so many words: they count `</s>`.

        T = round(a · S + b) + 1, and all lengths that differ by delta at most.
        """
        length = self._lengths.predict(words) + 1
        longest = max(2, min(length + self._row.delta, self._most))
        return max(2, min(length - self._row.delta, longest)), longest

    def _translation(self, ids: list[int], score: float) -> Translation:
        tokens = [self._target[i] for i in ids]
        return Translation(self._finish(tokens), tokens, score, passes=1)


def build(system: System, row: Row, finish: Finish, watch: Stopwatch) -> Decoder:
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    return LatticeDecoder(system, row, finish, watch)


def _eager(encoder: Any) -> Callable[[Tensor, Tensor | None], Tensor]:
    """Return fairseq's own encoder, called as ours is; it finds the padding itself."""

    def encode(tokens: Tensor, mask: Tensor | None) -> Tensor:
        states: Tensor = encoder(tokens)["encoder_out"][0]  # (S, B, d)
        return states.transpose(0, 1)

    return encode


def _bytes(model: Any, exact: bool, half: bool) -> int:
    """Return bytes_per_pass: of the vocabulary's weights if `exact`, of large ones `half`."""
    vocabulary = model.decoder.output_projection.weight
    large = [part.weight for layer in model.decoder.layers for part in (layer.fc1, layer.fc2)]
    size = bytes_per_pass(model)
    if exact:
        large.append(vocabulary)
    else:
        size -= vocabulary.nbytes
    if half:
        size -= sum(weight.nbytes - torch.bfloat16.itemsize * weight.numel() for weight in large)
    return size
