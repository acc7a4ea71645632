"""What the benchmark times of this family, with nothing trained: searches whose work is the same.

A beam's is not: what it keeps depends on what a graph says, and a random one says nothing.
"""

from typing import TYPE_CHECKING, Any

from fastdecode.families.dag.model import LONGEST_SOURCE, GraphModel
from fastdecode.system import System

if TYPE_CHECKING:
    from fastdecode.measure.untrained import Untrained

LAYERS = ("6-6",)
FACTOR = 8.0  # λ of the paper's main results
SEARCHES = ("lookahead", "viterbi")
NOTE = (
    f"dag: graphs of {FACTOR:g} vertices a token of the source, as far as {LONGEST_SOURCE} tokens; "
    "how long a path through a random one is, is left to chance, and costs next to nothing: all "
    "vertices choose at once."
)
PUBLISHED = {
    f"6-6/{engine}-lookahead": "dag.table1.da_lookahead.speedup"
    for engine in ("eager", "fastdecode")
}


def decoders(length: int, device: str) -> dict[str, dict[str, Any]]:
    """Return the decoder rows, by name: graphs are as large as sources, for any `length`."""
    del length, device
    return {
        f"{engine}-{search}": {"search": search, "engine": engine}
        for search in SEARCHES
        for engine in ("eager", "fastdecode")
    }


def build(plan: "Untrained") -> System:
    """Return a model of graphs."""
    paper = {"links": "softmax", "decoder_learned_pos": True, "activation_fn": "gelu"}
    return plan.system(GraphModel, graph_factor=FACTOR, **paper)
