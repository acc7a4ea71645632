"""What a drafter learns from: the blocks that follow random prefixes of a translation."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Blocks:
    """A prefix and the k slots after it, for each of B sentences; the rest is padding."""

    tokens: Tensor  # (B, W), in slots anything
    blank: Tensor  # (B, W), true in slots
    places: Tensor  # (B, k), where the slots are

    def of(self, states: Tensor) -> Tensor:
        """Return what stands in the slots: (B, k, d) of (B, W, d)."""
        return states.gather(1, self.places[..., None].expand(-1, -1, states.shape[-1]))

    def show(self, words: Tensor, shown: Tensor) -> "Blocks":
        """Return the blocks with `words` (B, k) in their slots where `shown` (B, k) is true."""
        tokens = self.tokens.scatter(1, self.places, words.where(shown, self.of_ids()))
        blank = self.blank.scatter(1, self.places, ~shown)
        return Blocks(tokens, blank, self.places)

    def of_ids(self) -> Tensor:
        """Return the tokens in the slots (B, k)."""
        return self.tokens.gather(1, self.places)


def blocks_after(
    prefixes: Tensor, lengths: Tensor, longest: int, k: int, pad: int, unk: int
) -> Blocks:
    """Return k slots after the first `lengths` (B) tokens of `prefixes` (B, T).

    There are always k, past the end of a translation too, so that nothing tells its length.
    `longest` is the highest of the lengths, at most T: nothing waits for the device to tell it.
    """
    place = torch.arange(longest + k, device=lengths.device)
    behind = place - lengths[:, None]  # (B, W), 0 in the first slot
    blank = (behind >= 0) & (behind < k)
    known = prefixes[:, :longest]
    tokens = torch.cat([known, known.new_full((len(known), k), unk)], dim=1)
    tokens = tokens.masked_fill(behind >= 0, unk).masked_fill(behind >= k, pad)
    slot = torch.arange(k, device=lengths.device)
    return Blocks(tokens, blank, lengths[:, None] + slot)


def targets_after(targets: Tensor, lengths: Tensor, k: int, pad: int) -> Tensor:
    """Return the k tokens of `targets` (B, T) after the first `lengths` (B): (B, k), padded."""
    places = lengths[:, None] + torch.arange(k, device=lengths.device)
    padded = torch.cat([targets, targets.new_full((len(targets), 1), pad)], dim=1)
    return padded.gather(1, places.clamp(max=targets.shape[1]))


def draw_prefixes(uniforms: Tensor, lengths: Tensor) -> Tensor:
    """Return how many tokens are given (B), for `uniforms` (B) in [0, 1).

    Of a target of T tokens with `</s>`, in `lengths` (B), the last int(T · U) + 1 are masked.
    """
    return lengths - (lengths.double() * uniforms).long() - 1
