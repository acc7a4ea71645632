"""The passes of one batch by our Transformer, as fastdecode.stepping takes them."""

from torch import Tensor

from fastdecode.transformer.decoder import Decoder, Memory


class FastSteps:
    """Groups of tokens (R, n) in, as many logits (R, n, V) out; see fastdecode.stepping.Steps."""

    def __init__(self, decoder: Decoder, memory: Memory):
        """Go on from `memory`."""
        self._decoder, self._memory = decoder, memory

    def step(self, tokens: Tensor) -> Tensor:
        """See Steps."""
        return self._decoder.step(tokens, self._memory)

    def keep_rows(self, rows: Tensor) -> None:
        """See Steps."""
        self._memory.keep_rows(rows)

    def keep_sentences(self, sentences: Tensor) -> None:
        """See Steps."""
        self._memory.keep_sentences(sentences)


class SingleSteps(FastSteps):
    """One token a row (R) in, the logits of the next one (R, V) out."""

    def step(self, tokens: Tensor) -> Tensor:
        """See Steps."""
        return super().step(tokens[:, None])[:, -1]
