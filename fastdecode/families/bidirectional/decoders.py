"""Decoding in groups of tokens (Imamura and Sumita 2020, section 3): pass, search, unfold."""

import torch

from fastdecode.families.bidirectional.engines import eager, fast
from fastdecode.families.bidirectional.greedy import Greedy
from fastdecode.families.bidirectional.model import FoldedModel
from fastdecode.families.bidirectional.rows import Decoder as Row
from fastdecode.families.bidirectional.search import Search
from fastdecode.growing import beginning_search
from fastdecode.stages import Stopwatch
from fastdecode.step_decoder import StepDecoder, Writing
from fastdecode.system import Decoder, System
from fastdecode.translation import Finish

ENGINES = {"eager": eager, "fastdecode": fast}


def build(system: System, row: Row, finish: Finish, watch: Stopwatch) -> Decoder:
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    fault = "writes no groups of tokens: train a system of the family bidirectional for this"
    model = system.single("groups are written by one model", FoldedModel, fault)
    # The reference tier searches as fairseq's generator does: it has no shorter way for one
    # hypothesis, and records nothing.
    searches = {
        "eager": Search,
        "fastdecode": beginning_search(system, Greedy if row.beam == 1 else Search),
    }
    writing = Writing(
        begin=ENGINES[row.engine](system),
        search=searches[row.engine],
        first=torch.tensor(model.first),
        size=model.fold.size,
        restore=model.fold.restore,
    )
    return StepDecoder(system, model, row, finish, watch, writing)
