"""The drafter's decoder over this project's own Transformer: a block of slots behind a prefix."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.drafting import Prefixes
from fastdecode.transformer.layers import Embedding
from fastdecode.transformer.linear import Linear
from fastdecode.transformer.parallel import TwoWayDecoder


@dataclass
class Source:
    """What the drafter's decoder reads of B source sentences."""

    keys: Tensor
    """Keys and values, (L, 2, B, H, S, D)."""
    words: Tensor
    """Embeddings (B, S, d)."""
    placed: Tensor
    """Embeddings with positions (B, S, d)."""
    mask: Tensor | None
    """(B, 1, 1, S), true where there are words; None where nothing is padded."""
    copied: Tensor | None = None
    """(B, W, d): what a slot at each of the first W places begins with; see BlockDecoder."""

    def keep(self, rows: Tensor) -> "Source":
        """Return these sentences alone."""
        mask = None if self.mask is None else self.mask[rows]
        copied = None if self.copied is None else self.copied[rows]
        return Source(self.keys[:, :, rows], self.words[rows], self.placed[rows], mask, copied)


class BlockDecoder(TwoWayDecoder):
    """The drafter's decoder: it looks both ways over prefixes and slots.

    Of a pass it keeps nothing; positions, which are of no sentence, are laid out once.
    """

    def __init__(self, module: Any):
        """Take the weights of a BlockNetwork."""
        super().__init__(module)
        self.block = int(module.block)
        # The last block may reach behind the last position.
        self._embed = Embedding(module, further=self.block)
        self._copy = Linear([module.copy.query])
        self._scale = module.embed_tokens.embedding_dim**-0.5
        # (W, d) each, as far as they were asked for: positions, and what slots there look for.
        self._places: Tensor = module.embed_tokens.weight.new_empty(0, 0)
        self._queries = self._places

    def fill(self, prefixes: Prefixes, source: Source, most: int) -> Tensor:
        """Return logits (R, most, V) of the first slots of the block behind each prefix.

        There are always as many, past the end of a translation too, as the model learned it.
        """
        longest, most = prefixes.longest, min(most, self.block)
        tokens, keys = prefixes.tokens[:, :longest], source.keys
        places, slots = self.slots(source, longest + self.block)  # (W, d), (R, W, d)
        if len(tokens) > 1:
            return self.behind(most, tokens, prefixes.lengths, places, slots, keys, source.mask)
        x = torch.cat([self._embed.words(tokens), slots[:, longest:]], 1)
        x = self._layers_of(x, places, None, keys, source.mask)
        return self._logits(x[:, longest : longest + most])

    def behind(
        self,
        most: int,
        tokens: Tensor,  # (R, T)
        lengths: Tensor,  # (R)
        places: Tensor,  # (W, d)
        slots: Tensor,  # (R, W, d)
        keys: Tensor,  # (L, 2, R, H, S, D)
        source_mask: Tensor | None,  # (R, 1, 1, S)
    ) -> Tensor:
        """Do what `fill` says where nobody but the device knows the `lengths` of the prefixes."""
        tokens = F.pad(tokens, (0, len(places) - tokens.shape[1]))  # (R, W)
        behind = torch.arange(len(places), device=lengths.device) - lengths[:, None]
        x = slots.where((behind >= 0)[..., None], self._embed.words(tokens))
        mask = (behind < self.block)[:, None, None]  # behind the slots there is nothing
        x = self._layers_of(x, places, mask, keys, source_mask)
        wanted = lengths[:, None] + torch.arange(most, device=lengths.device)
        return self._logits(x.gather(1, wanted[..., None].expand(-1, -1, x.shape[-1])))

    def _layers_of(
        self, x: Tensor, places: Tensor, mask: Tensor | None, keys: Tensor, source: Tensor | None
    ) -> Tensor:
        for layer, its in zip(self.layers, keys, strict=True):
            x = layer.both_ways(x + places, mask, its, source)
        return x

    def _logits(self, states: Tensor) -> Tensor:
        return self.project(self._norm(states) if self._norm else states)

    def slots(self, source: Source, width: int) -> tuple[Tensor, Tensor]:
        """Return the positions (W, d) and what slots there begin with (R, W, d): a soft copy.

        It depends on the place alone, so that it is computed once, ahead, for places to come too.
        """
        if source.copied is None or source.copied.shape[1] < width:
            source.copied = self._soft_copy(source, 2 * width)
        return self._places[:width], source.copied[:, :width]

    def _soft_copy(self, source: Source, width: int) -> Tensor:
        if len(self._places) < width:
            everywhere = torch.arange(width, device=self._places.device)
            self._places = self._embed.positions(everywhere)
            self._queries = self._copy(self._places)
        scores = self._queries[:width] @ source.placed.transpose(1, 2) * self._scale  # (R, W, S)
        if source.mask is not None:
            scores = scores.masked_fill(~source.mask[:, 0], float("-inf"))
        copied: Tensor = scores.softmax(-1) @ source.words
        return copied
