"""Viterbi search through the lattice, slot by slot: T·K² sums in T - 1 steps."""

import torch
from torch import Tensor

from fastdecode.families.lattice.paths import Paths, best_paths


def viterbi(first: Tensor, edges: Tensor, shortest: Tensor, longest: Tensor) -> Paths:
    """Return the best path of each sentence.

    `first` (B, K + 1) and `edges` (B, T - 1, K, K + 1) are the lattice, `shortest` and `longest`
    (B) its lengths; see paths.py. No gradient.
    """
    sentences, steps, words, _ = edges.shape
    scores = first.new_empty(steps + 1, sentences, words + 1)
    scores[0] = first
    # All views are made beforehand and all results written in place: at this size it is the
    # operations that cost on any device, not the sums, and in large batches fresh memory does.
    sums = torch.empty_like(edges[:, 0]) if steps else first
    before, after = scores[:, :, :words, None].unbind(), scores[1:].unbind()
    for word, step, result in zip(before, edges.unbind(dim=1), after, strict=False):
        torch.add(word, step, out=sums)
        torch.amax(sums, dim=1, out=result)
    return best_paths(scores.transpose(0, 1), edges, shortest, longest)
