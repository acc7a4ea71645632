"""Graphs as they are decoded: links, and at every vertex its likeliest tokens.

The first vertex writes `<s>`, the last one `</s>`, and the others neither of them nor padding: so
it is in every target that the model learns from.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from fairseq.data import Dictionary
from torch import Tensor

from fastdecode.transformer.highest import Highest, highest

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
    masses: Tensor | None = None
    """(B, L) log Σ P(token)^(1/t) over all that may be written, if asked for, at temperature t."""


class Shortlist:
    """Finds the likeliest tokens of vertices, from logits that come in parts."""

    def __init__(
        self,
        dictionary: Dictionary,
        count: int,
        temperature: float | None = None,
        find: Highest = highest,
    ):
        """Find `count` of them, one by `find`, and masses for the `temperature`, if any."""
        self._bos, self._eos = dictionary.bos(), dictionary.eos()
        self._never = [dictionary.bos(), dictionary.pad(), dictionary.eos()]
        self._count, self._temperature, self._find = count, temperature, find

    def read(self, parts: Iterable[Tensor], links: Tensor, sizes: Tensor) -> Graph:
        """Return the graphs that have `links` (B, L, L) and `sizes` (B).

        `parts` (rows, V) are the logits of all B · L vertices, in order; they are overwritten.
        """
        columns = zip(*map(self._part, parts), strict=True)
        shape = links.shape[:2]
        first, last, words, scores, masses = (
            torch.cat(column).unflatten(0, shape) for column in columns
        )
        place = torch.arange(shape[1], device=sizes.device)
        for here, word, score in (
            ((place == 0).expand(shape), self._bos, first),
            (place == sizes[:, None] - 1, self._eos, last),
        ):
            words = words.masked_fill(here[..., None], word)
            scores = scores.masked_fill(here[..., None], float("-inf"))
            scores[..., 0] = torch.where(here, score, scores[..., 0])
            masses = torch.where(here, score / (self._temperature or 1.0), masses)
        return Graph(
            links.float(), words, scores, sizes, None if self._temperature is None else masses
        )

    def _part(self, logits: Tensor) -> tuple[Tensor, ...]:
        """Return of some rows the scores of `<s>` and `</s>`; tokens, their scores; the mass."""
        logits = logits.float()
        norms = logits.logsumexp(-1, keepdim=True)
        first, last = (logits[:, word] - norms[:, 0] for word in (self._bos, self._eos))
        for word in self._never:  # a list of numbers would be sent to the device and waited for
            logits[:, word] = float("-inf")
        if self._count == 1:
            best, words = (found[:, None] for found in self._find(logits))
        else:
            best, words = logits.topk(min(self._count, logits.shape[1] - len(self._never)))
        masses = first
        if self._temperature is not None:
            masses = ((logits - norms) / self._temperature).logsumexp(-1)
        return first, last, words, best - norms, masses
