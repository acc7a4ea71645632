"""What slots begin with where nothing is known of them: source embeddings, mixed by position.

So begin slots in the public code of Xia et al. (2022), whose paper has [MASK] there (figure 2), and
of glat in that of Qian et al. (2021); neither scales embeddings or divides by √d, as is done here.
"""

from torch import Tensor, nn


class SoftCopy(nn.Module):
    """Source embeddings, mixed for every slot by what its position and theirs have in common.

    softmax((W · pos_t) · (e_s + pos_s) / √d) · e_s, summed over the source positions s.
    """

    def __init__(self, width: int):
        """Begin without weights learned."""
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)

    def forward(
        self, positions: Tensor, embedded: Tensor, placed: Tensor, padding: Tensor | None
    ) -> Tensor:
        """Return (B, W, d) for `positions` (1, W, d).

        `embedded` and `placed` (B, S, d) are source embeddings without and with positions;
        `padding` (B, S) is true where there is no source.
        """
        scores = self.query(positions) @ placed.transpose(1, 2) / placed.shape[-1] ** 0.5
        if padding is not None:
            scores = scores.masked_fill(padding[:, None], float("-inf"))
        mixed: Tensor = scores.softmax(-1) @ embedded  # (B, W, d)
        return mixed
