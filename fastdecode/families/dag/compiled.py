"""The beam search in C++ (beam.cpp), for engine fastdecode: beam.py is its twin.

The authors' beam search is C++, too. It is compiled when it is first asked for, with the g++ that
the installation needs, into the user's cache; the name of the library knows its source.

Sentences of a batch are searched side by side on as many threads as PyTorch has
(`torch.set_num_threads`): the search is the host's, so that a GPU would wait for one core of many.
"""

import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fastdecode.errors import UserError
from fastdecode.families.dag.beam import BeamSettings, LanguageModel, expansions
from fastdecode.families.dag.graph import Found, Graph

SOURCE = Path(__file__).with_name("beam.cpp")
# A cluster's nodes share the cache: so without -march and without their own libraries. Without
# contraction, that rounds otherwise.
FLAGS = (
    *("-O3", "-std=c++17", "-shared", "-fPIC", "-ffp-contract=off"),
    *("-static-libstdc++", "-static-libgcc"),
)
NO_MEMORY = 2  # what search_beams returns
_Numbers, _Doubles = ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_double)
Ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, _Numbers, _Numbers, _Doubles, _Numbers)


def best_hypotheses(
    graph: Graph, count: int, settings: BeamSettings, model: LanguageModel | None = None
) -> list[list[Found]]:
    """Return the `count` best translations of each sentence, tokens and score (equation 11).

    Raises UserError if the search cannot be compiled, and what the language model raises.
    """
    if not len(graph.sizes):
        return []
    pairs = expansions(graph, settings.expansions)
    graphs = _Graphs(
        sizes=_array(graph.sizes.cpu().numpy(), np.int64),
        vertices=_array(pairs.vertices, np.int64),
        words=_array(pairs.words, np.int64),
        steps=_array(pairs.scores, np.float64),
        starts=_array(graph.scores[:, 0, 0].double().cpu().numpy(), np.float64),
    )
    graphs.check()
    parts = graphs.split(torch.get_num_threads())
    if len(parts) == 1:  # in this thread, which alone hears Ctrl-C
        return _search(graphs, count, settings, model)
    library()  # compiled before several threads ask for it
    with ThreadPoolExecutor(len(parts)) as threads:  # C++ runs without Python's lock
        each = threads.map(lambda part: _search(part, count, settings, model), parts)
        return [found for part in each for found in part]


@dataclass(frozen=True)
class _Graphs:
    """Graphs of a batch as C++ reads them: (B, L, C) each, but for sizes and starts (B).

    Whole numbers of 64 bits, and for steps and starts doubles.
    """

    sizes: NDArray[Any]
    vertices: NDArray[Any]
    words: NDArray[Any]
    steps: NDArray[Any]
    starts: NDArray[Any]

    def check(self) -> None:
        """C++ does not look: raise IndexError for a link that goes back or leaves the graph."""
        here = np.arange(self.vertices.shape[1])[None, :, None]
        outside = (self.vertices <= here) | (self.vertices >= self.sizes[:, None, None])
        if ((self.steps > -inf) & outside).any():
            raise IndexError("a link leads back, or out of the graph")

    def split(self, count: int) -> list["_Graphs"]:
        """Return at most `count` parts of as many sentences each, one more or less, in order."""
        count = min(count, len(self.sizes))
        ends = [len(self.sizes) * i // count for i in range(count + 1)]
        arrays = (self.sizes, self.vertices, self.words, self.steps, self.starts)
        return [_Graphs(*(array[a:b] for array in arrays)) for a, b in pairwise(ends)]


def _search(
    graphs: _Graphs, count: int, settings: BeamSettings, model: LanguageModel | None
) -> list[list[Found]]:
    batch, longest, width = graphs.steps.shape
    tokens = np.empty((batch, count, longest), np.int64)
    lengths, scores = np.empty((batch, count), np.int64), np.empty((batch, count))
    asked = _Asked(model) if model else None
    failed = library().search_beams(
        *map(ctypes.c_int64, (batch, longest, width)),
        *map(_pointer, (graphs.sizes, graphs.vertices, graphs.words, graphs.steps, graphs.starts)),
        ctypes.c_int64(int(graphs.words.max()) + 1),
        *map(ctypes.c_int64, (settings.beams, settings.per_length)),
        *map(ctypes.c_double, (settings.alpha, settings.gamma)),
        asked.call if asked else Ask(),
        ctypes.c_int64(count),
        *map(_pointer, (tokens, lengths, scores)),
    )
    if failed == NO_MEMORY:
        raise MemoryError
    if failed:  # without an error of its own the model was interrupted before it could catch that
        raise (asked and asked.error) or KeyboardInterrupt
    return [
        [(tokens[b, i, :n].tolist(), float(scores[b, i])) for i, n in enumerate(ns) if n >= 0]
        for b, ns in enumerate(lengths.tolist())
    ]


def _array(array: NDArray[Any], kind: Any) -> NDArray[Any]:
    return np.ascontiguousarray(array, dtype=kind)


def _pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class _Asked:
    """A language model as C++ asks it: states are numbers, equal ones the same."""

    def __init__(self, model: LanguageModel):
        self._model, self._states = model, [model.begin()]
        self._numbers = {self._states[0]: 0}
        self.error: BaseException | None = None
        self.call = Ask(self._answer)

    def _answer(self, count: int, states: Any, tokens: Any, gained: Any, after: Any) -> int:
        try:  # an exception would not find its way through C++
            for i in range(count):
                gained[i], state = self._model.score(self._states[states[i]], tokens[i])
                after[i] = self._numbers.setdefault(state, len(self._states))
                if after[i] == len(self._states):
                    self._states.append(state)
        except BaseException as error:
            self.error = error
            return 1
        return 0


@cache
def library() -> ctypes.CDLL:
    """Return the compiled search. Raises UserError if it cannot be compiled, or not loaded."""
    path = build(SOURCE, cache_folder())
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise UserError(f"{path}: {error}: delete it, and it is compiled again") from None


def cache_folder() -> Path:
    """Return where compiled code is kept: `~/.cache/fastdecode`, or where XDG_CACHE_HOME says."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fastdecode"


def build(source: Path, folder: Path, run: Callable[..., Any] = subprocess.run) -> Path:
    """Return the library made of `source`, in `folder`; compile it if it is not there.

    Raises UserError if that fails.
    """
    words = " ".join((*FLAGS, platform.machine()))
    key = sha256(words.encode() + source.read_bytes()).hexdigest()[:16]
    library = folder / f"{source.stem}-{key}.so"
    if library.exists():
        return library
    compiler = os.environ.get("CXX", "g++")
    if not shutil.which(compiler):
        raise UserError(
            f"{source.name} cannot be compiled, there is no {compiler}: install g++, or name "
            "another compiler by CXX"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Several jobs may come first at once: each compiles aside, and the last one's stays.
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            made = Path(aside) / library.name
            command = [compiler, *FLAGS, str(source), "-o", str(made)]
            run(command, check=True, capture_output=True, text=True)
            made.replace(library)
    except OSError as error:
        raise UserError(f"{source.name} cannot be compiled into {folder}: {error}") from None
    except subprocess.CalledProcessError as error:
        said = " | ".join(error.stderr.strip().splitlines()[-4:])
        raise UserError(f"{source.name} does not compile: {said}") from None
    return library
