"""From a raw source line to BPE tokens, and from BPE tokens to a raw target line."""

from collections.abc import Sequence
from pathlib import Path

from fastdecode.corpus.bpe import Bpe, join
from fastdecode.corpus.tokenise import tokeniser


class Text:
    """The text side of one dataset, the same for every system trained on it."""

    def __init__(
        self,
        source: str,
        target: str,
        lowercase: bool,
        pretokenised: bool,
        codes: Path,
    ):
        """Tokenise as the corpus does (languages `source`, `target`).

        `codes` is the folder that holds the BPE codes of the source, `codes.source`.
        """
        self._source = tokeniser(source, lowercase=lowercase, pretokenised=pretokenised)
        self._target = tokeniser(target, lowercase=lowercase, pretokenised=pretokenised)
        self._bpe = Bpe(codes / "codes.source")

    def source_tokens(self, line: str) -> list[str]:
        """Normalise, tokenise and segment a raw source line."""
        return self._bpe.segment(self._source.tokenise(line)).split()

    def target_text(self, tokens: Sequence[str]) -> str:
        """Join BPE tokens and detokenise."""
        return self._target.detokenise(join(" ".join(tokens)))
