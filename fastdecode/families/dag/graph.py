"""Graphs as they are decoded: links, and at every vertex its likeliest tokens.

The first vertex writes `<s>`, the last one `</s>`, and the others neither of them nor padding: so
it is in every target that the model learns from.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from fairseq.data import Dictionary
from torch import Tensor

Found = tuple[list[int], float]  # tokens without the frame, score


@dataclass(frozen=True)
class Graph:
    """Graphs of B sentences, padded to L vertices, with K tokens at each."""

    links: Tensor
    """(B, L, L) log-probabilities of the links, -inf where there is none."""
    words: Tensor
    """(B, L, K) the likeliest tokens, best first."""
    scores: Tensor
    """(B, L, K) their log-probabilities; -inf where a vertex has no more tokens."""
    sizes: Tensor
    """(B) vertices of each."""
    masses: Tensor
    """(B, L) log Σ P(token)^(1/t) over all tokens, for the temperature t that was asked for."""


class Shortlist:
    """Finds the likeliest tokens of vertices, from logits that come in parts."""

    def __init__(self, dictionary: Dictionary, count: int, temperature: float = 1.0):
        """Find `count` of them; `temperature` is for the masses of a Graph."""
        self._bos, self._eos = dictionary.bos(), dictionary.eos()
        self._never = [dictionary.bos(), dictionary.pad(), dictionary.eos()]
        self._count, self._temperature = count, temperature

    def read(self, parts: Iterable[Tensor], links: Tensor, sizes: Tensor) -> Graph:
        """Return the graphs that have `links` (B, L, L) and `sizes` (B).

        `parts` (rows, V) are the logits of all B · L vertices, in order; they are overwritten.
        """
        columns = zip(*map(self._part, parts), strict=True)
        shape = links.shape[:2]
        norms, first, last, masses, words, scores = (
            torch.cat(column).unflatten(0, shape) for column in columns
        )
        scores = scores - norms[..., None]
        masses = masses - norms / self._temperature
        vertex = torch.arange(shape[1], device=sizes.device)
        ends = ((vertex == 0, self._bos, first), (vertex == sizes[:, None] - 1, self._eos, last))
        for here, word, logits in ends:
            here = here.expand(shape)
            words = words.masked_fill(here[..., None], word)
            scores = scores.masked_fill(here[..., None], float("-inf"))
            scores[..., 0] = scores[..., 0].where(~here, logits - norms)
            masses = masses.where(~here, (logits - norms) / self._temperature)
        return Graph(links.float(), words, scores, sizes, masses)

    def _part(self, logits: Tensor) -> tuple[Tensor, ...]:
        logits = logits.float()
        norms = logits.logsumexp(-1)
        first, last = logits[:, self._bos].clone(), logits[:, self._eos].clone()
        logits[:, self._never] = float("-inf")
        masses = norms
        if self._temperature != 1.0:
            masses = (logits / self._temperature).logsumexp(-1)
        best, words = logits.topk(min(self._count, logits.shape[1] - len(self._never)))
        return norms, first, last, masses, words, best
