"""Beam search over groups of tokens, batched (Imamura and Sumita 2020, algorithm 1).

A step at a time: logits of the next group in, its tokens out. With W hypotheses a sentence and
pairs, a step's candidates are found in two stages (DOUBLETOPK): the 2W best left tokens after all
hypotheses, then the 3W best pairs of these and a right token. The two tokens are independent given
the hypothesis, so that the right tokens of a pair are those of its parent: the 2W best of them are
looked up once for each parent. They are enough: a pair with another one has 2W better pairs of the
same left token before it, of which one at most is finished, and W of each kind are all that counts.

A left EOD is followed by nothing: its right token is EOD too, at no cost. A group of one token has
no second stage: its candidates are the 2W left tokens, and the search is the ordinary beam search.

Ties: of equally good left tokens the one after the better hypothesis comes first, then the one of
the lower number; of equal pairs the one whose left token came first, then the one whose right token
has the lower number. Of equal finished hypotheses the first one found wins.
"""

from math import inf

import torch
import torch.nn.functional as F
from torch import Tensor

from fastdecode.beams import GrowingBeam
from fastdecode.families.bidirectional.ranking import first_best


class Search(GrowingBeam):
    """The hypotheses of B sentences, W rows to each, while they grow."""

    def candidates(self, logits: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """See GrowingBeam."""
        rules = self._rules
        norm = logits.logsumexp(-1, keepdim=True)
        self.forbid(logits)
        top, likeliest = first_best(logits, 2 * rules.beam, self.looks)  # (B, W, size, 2W)
        top = top - norm

        left = scores[..., None] + top[:, :, 0]  # (B, W, 2W)
        scores, index = first_best(left.flatten(1), 2 * rules.beam, self.looks)  # (B, 2W)
        parent = index // left.shape[-1]
        tokens = likeliest[:, :, 0].flatten(1).gather(1, index)
        if rules.size == 1:
            return scores, parent, tokens[..., None]

        # Behind a left EOD, as if it had a parent of its own, stands EOD at no cost.
        right = F.pad(top[:, :, 1], (0, 0, 0, 1), value=-inf)  # (B, W + 1, 2W)
        right[:, -1, 0] = 0.0
        right_tokens = F.pad(likeliest[:, :, 1], (0, 0, 0, 1), value=rules.eos)
        source = parent.masked_fill(tokens == rules.eos, rules.beam)
        source = source[..., None].expand(-1, -1, right.shape[-1])
        pairs = scores[..., None] + right.gather(1, source)  # (B, 2W, 2W)
        scores, index = first_best(pairs.flatten(1), 3 * rules.beam, self.looks)  # (B, 3W)
        chosen = index // pairs.shape[-1]
        followers = right_tokens.gather(1, source).flatten(1).gather(1, index)
        pair = torch.stack([tokens.gather(1, chosen), followers], dim=-1)
        return scores, parent.gather(1, chosen), pair
