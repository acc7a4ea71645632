"""What goes into the model: framed sources, and the vertices of a graph before anything is known.

Sources and targets are framed by `<s>` and `</s>`, in training (task.py) and decoding. The first
vertex stands for `<s>` and the last one for `</s>`: every path goes from one to the other.
"""

from collections.abc import Sequence

import torch
from fairseq.data import Dictionary, data_utils
from torch import Tensor


def frame_sources(sources: Sequence[Sequence[str]], words: Dictionary) -> Tensor:
    """Return the numbers of the framed `sources`, padded on the right: (B, S)."""
    rows = [
        torch.tensor([words.bos(), *map(words.index, tokens), words.eos()]) for tokens in sources
    ]
    padded: Tensor = data_utils.collate_tokens(rows, words.pad())
    return padded


def graph_sizes(lengths: Tensor, factor: float, most: int) -> Tensor:
    """Return L = int(λ · S) (B) for sources of `lengths` (B), with the frame; at most `most`."""
    return (lengths.double() * factor).long().clamp(max=most)


def blank_vertices(sizes: Tensor, words: Dictionary) -> Tensor:
    """Return the input of graphs of `sizes` (B): `<s>`, blanks, `</s>`, then padding: (B, L).

    A blank is `<unk>`, which fairseq's own non-autoregressive models take for one too.
    """
    vertex = torch.arange(int(sizes.max()), device=sizes.device)  # (L)
    last = sizes[:, None] - 1
    vertices = torch.full((len(sizes), len(vertex)), words.unk(), device=sizes.device)  # (B, L)
    vertices.masked_fill_(vertex > last, words.pad())
    vertices.masked_fill_(vertex == last, words.eos())
    vertices[:, 0] = words.bos()
    return vertices
