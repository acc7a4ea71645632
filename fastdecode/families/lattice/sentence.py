"""The lattice of a single sentence, of the predicted length and searched as in decoding."""

from dataclasses import dataclass

import torch
from torch import Tensor

from fastdecode.families.lattice.candidates import Candidates
from fastdecode.families.lattice.lengths import read_lengths
from fastdecode.families.lattice.scorer import Scorer
from fastdecode.families.lattice.tables import open_tables
from fastdecode.families.lattice.viterbi import viterbi
from fastdecode.system import System
from fastdecode.transformer.encoder import Encoder


@dataclass(frozen=True)
class Lattice:
    """T slots, the last of them for `</s>`; scores as in paths.py, one length (ΔL = 0)."""

    words: Tensor
    """(T - 1, K), the candidates of each slot."""
    first: Tensor
    """(K + 1)."""
    edges: Tensor
    """(T - 1, K, K + 1)."""
    selected: Tensor
    """(T - 1), which candidate the search selects in each slot."""


class Lattices:
    """Makes the lattices of single sentences."""

    def __init__(self, system: System, k: int):
        """Take the parts of `system`; a slot has `k` candidates."""
        (model,) = system.models
        assert system.assets is not None
        bos, eos = system.target.bos(), system.target.eos()
        self._source, self._device, self._k = system.source, system.device, k
        self._candidates = candidates_of(system)
        self._lengths = read_lengths(system.assets / "lengths.json")
        self._most = int(model.max_decoder_positions())
        self._encoder = Encoder(model.encoder, pack=False)
        self._scorer = Scorer(model.decoder, bos, eos, exact=True)

    def __call__(self, source: list[str]) -> Lattice:
        """Return the lattice of a sentence of BPE tokens."""
        ids = [self._source.index(token) for token in source]
        slots = min(self._lengths.predict(len(ids)) + 1, self._most)  # with `</s>`
        words, _ = self._candidates.batch([ids], slots, self._k)
        padded = torch.tensor([[*ids, self._source.eos()]], device=self._device)
        first, edges = self._scorer(words, self._encoder(padded, None), None)
        length = torch.tensor([slots], device=self._device)
        selected = viterbi(first, edges, length, length).words[0]
        return Lattice(words[0, : slots - 1], first[0], edges[0], selected)


def candidates_of(system: System) -> Candidates:
    """Return the look-up of a system's candidates in its tables."""
    assert system.assets is not None  # the workflow gives them to every system of this family
    words = system.source.symbols, system.target.symbols
    return Candidates(open_tables(system.assets / "tables", *words), system.device)
