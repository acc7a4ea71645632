"""The language model that a beam search asks, token by token: KenLM's (Heafield 2011)."""

from collections.abc import Sequence
from importlib import import_module
from math import log
from pathlib import Path
from typing import Any

from fastdecode.errors import UserError

KENLM = "kenlm==0.3.0"


def kenlm_package() -> Any:
    """Return KenLM's Python package. Raises UserError if it is not installed."""
    try:
        return import_module("kenlm")
    except ImportError:
        raise UserError(
            f"a language model is queried with {KENLM}, which is not installed: run "
            "`.venv/bin/pip install -e '.[lm]'` in the project's folder (it compiles)"
        ) from None


class NGrams:
    """A language model that scores token by token: beam.LanguageModel."""

    def __init__(self, path: Path, words: Sequence[str]):
        """Open the model in `path`; `words` are the tokens by number.

        Raises UserError if there is none, if it is damaged, or if KenLM is not installed.
        """
        kenlm = kenlm_package()
        if not path.is_file():
            raise UserError(f"{path}: no language model: estimate it with its rule")
        try:
            self._model = kenlm.Model(str(path))
        except OSError as error:
            raise UserError(f"{path}: {error}: delete it and run again") from None
        self._words, self._state = words, kenlm.State

    def begin(self) -> Any:
        """Return the state after `<s>`."""
        state = self._state()
        self._model.BeginSentenceWrite(state)
        return state

    def score(self, state: Any, token: int) -> tuple[float, Any]:
        """Return log P(token | state) and the state after it; KenLM's logarithm is to base 10."""
        after = self._state()
        return self._model.BaseScore(state, self._words[token], after) * log(10), after
