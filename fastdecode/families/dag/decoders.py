"""Decoding with graphs: one pass of encoder and decoder, then a search through the graph."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from fastdecode.errors import UserError
from fastdecode.families.dag import beam, compiled
from fastdecode.families.dag.beam import BeamSettings
from fastdecode.families.dag.graph import Found, Graph, Shortlist
from fastdecode.families.dag.graphed import GraphedVertices, GraphedViterbi
from fastdecode.families.dag.model import GraphModel
from fastdecode.families.dag.ngrams import NGrams
from fastdecode.families.dag.rows import LANGUAGE_MODEL
from fastdecode.families.dag.rows import Decoder as Row
from fastdecode.families.dag.sample import NUCLEUS, sample
from fastdecode.families.dag.vertices import Vertices
from fastdecode.families.dag.viterbi import viterbi
from fastdecode.families.dag.walk import walk
from fastdecode.framing import FRAME, blank_slots, frame_sources, mask_of
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.train.draws import keyed_uniforms, source_ids
from fastdecode.transformer import recording
from fastdecode.transformer.graphs import encoder_of
from fastdecode.transformer.highest import highest_of
from fastdecode.transformer.layers import check_supported
from fastdecode.transformer.weights import bytes_per_pass, serial_layers
from fastdecode.translation import NOT_FINITE, Finish, Translation, finite


class GraphDecoder:
    """Translates batches of BPE-tokenised source sentences."""

    def __init__(self, system: System, row: Row, finish: Finish, watch: Stopwatch):
        """Prepare model and search; raises UserError if they do not fit."""
        fault = "writes no graphs: train a dag for this"
        model = system.single("a graph is one model's", GraphModel, fault)
        self._source, self._target = system.source, system.target
        self._row, self._finish, self._watch = row, finish, watch
        self._device = next(model.parameters()).device
        self._model: Any = model.decoder
        fast = row.engine == "fastdecode"
        if fast:
            check_supported(model)
            self._encoder: Any = system.share("encoder", lambda: encoder_of(model.encoder))
            self._vertices = system.share("vertices", lambda: Vertices(model.decoder))
        else:
            self._encoder = model.encoder
        self._fast, self._graphs = fast, fast and recording.pays(model)
        temperature = row.temperature if row.search == "sample" else None
        self._shortlist = Shortlist(
            system.target, self._tokens_wanted(), temperature, highest_of(row.engine)
        )
        self._beam = BeamSettings(
            row.beams, row.beams_per_length, row.expansions, row.length_penalty, row.lm_weight
        )
        if self._graphs:
            self._read_one = system.share(
                f"graph of {self._tokens_wanted()} tokens at {temperature}",
                lambda: GraphedVertices(self._vertices, self._shortlist),
            )
            penalty = row.length_penalty
            self._viterbi_one = system.share(f"viterbi {penalty}", lambda: GraphedViterbi(penalty))
        if fast and row.search == "beam":
            compiled.library()  # says now if it does not compile
        self._best_hypotheses = (compiled if fast else beam).best_hypotheses
        self._ngrams = _ngrams(system) if row.search == "beam" and row.lm_weight else None
        self.bytes_per_pass = bytes_per_pass(model, model.decoder.links)
        self.serial_layers = serial_layers(model)

    @torch.inference_mode()
    def __call__(self, sources: Sequence[Sequence[str]]) -> list[Translation]:
        """Return one Translation for each of `sources`, which decode as one batch.

        One pass each. The score is that of the search: a path's log-probability, in `viterbi` over
        its length to the power of the penalty; in `beam` that of all paths kept of a translation,
        with γ times the language model's, over the same. Stages: encode, decode, search, finish.
        """
        self._watch.start()
        padded = frame_sources(sources, self._source).to(self._device)  # (B, S)
        lengths = torch.tensor([len(tokens) + FRAME for tokens in sources], device=self._device)
        sizes = self._model.sizes(lengths)
        vertices = blank_slots(sizes, self._target)
        if self._fast:
            graph = self._run_packed(sources, padded, vertices, sizes)
        else:
            graph = self._run_eager(lengths, padded, vertices, sizes)
        self._watch.lap("decode")
        found = self._search(graph, lengths, sources)
        finite([score for _, score in found])
        self._watch.lap("search")
        translations = [self._translation(*one) for one in found]
        self._watch.lap("finish")
        return self._watch.share(translations)

    def _run_eager(self, lengths: Tensor, padded: Tensor, vertices: Tensor, sizes: Tensor) -> Graph:
        encoded = self._encoder(padded, src_lengths=lengths)
        self._watch.lap("encode")
        logits, links = self._model(vertices, encoded, sizes)
        return self._shortlist.read([logits.flatten(0, 1)], links, sizes)

    def _run_packed(
        self, sources: Sequence[Sequence[str]], padded: Tensor, vertices: Tensor, sizes: Tensor
    ) -> Graph:
        mask = mask_of(padded, self._source, map(len, sources))
        encoded = self._encoder(padded, mask)
        self._watch.lap("encode")
        if self._graphs and len(padded) == 1:
            return self._read_one(vertices, sizes, encoded)
        own_mask = mask_of(vertices, self._target, map(len, sources))
        parts, links = self._vertices(vertices, sizes, own_mask, encoded, mask)
        return self._shortlist.read(parts, links, sizes)

    def _tokens_wanted(self) -> int:
        """Return how many tokens of a vertex the search looks at."""
        if self._row.search == "beam":
            return self._row.expansions
        if self._row.search == "sample":
            return NUCLEUS if self._row.top_p < 1 else len(self._target)
        return 1

    def _search(
        self, graph: Graph, lengths: Tensor, sources: Sequence[Sequence[str]]
    ) -> list[Found]:
        row = self._row
        if row.search == "viterbi":  # of at most 2L/λ vertices
            if self._graphs and len(sources) == 1:
                return self._viterbi_one(graph, 2 * lengths, 2 * (len(sources[0]) + FRAME))
            return viterbi(graph, 2 * lengths, row.length_penalty)
        if row.search == "beam":
            if bool(graph.scores.isnan().any() | graph.links.isnan().any()):
                raise UserError(NOT_FINITE)
            best = self._best_hypotheses(graph, 1, self._beam, self._ngrams)
            return [found for (found,) in best]
        if row.search == "sample":
            ids = source_ids(sources).to(self._device)
            draws = keyed_uniforms(ids, graph.links.shape[1] - 1, row.sample_seed, 0)
            return sample(graph, draws, row.top_p, row.temperature)
        return walk(graph, row.search == "lookahead")

    def _translation(self, ids: list[int], score: float) -> Translation:
        if self._row.merge:
            ids = [i for i, _ in groupby(ids)]
        tokens = [self._target[i] for i in ids]
        return Translation(self._finish(tokens), tokens, score, passes=1)


def _ngrams(system: System) -> NGrams:
    if system.assets is None:
        raise UserError("a beam with lm_weight needs its language model: load its folder of assets")
    path = system.assets / LANGUAGE_MODEL
    return system.share(f"ngrams {path}", lambda: NGrams(path, system.target.symbols))


def build(system: System, row: Row, finish: Finish, watch: Stopwatch) -> Decoder:
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    return GraphDecoder(system, row, finish, watch)
