"""Autoregressive decoding as fast as we know how: tier `optimised`.

The model is fastdecode.transformer's; the search is fairseq's, whose own generator
(`reference.py`) is the naive twin: both write the same tokens.
"""

import torch

from fastdecode.families.autoregressive.rows import Decoder as Row
from fastdecode.families.autoregressive.search import Beam, Greedy
from fastdecode.growing import beginning_search
from fastdecode.stages import Stopwatch
from fastdecode.step_decoder import StepDecoder, Writing
from fastdecode.system import System
from fastdecode.transformer.steps import SingleSteps, beginning
from fastdecode.translation import Finish


def optimised(system: System, row: Row, finish: Finish, watch: Stopwatch) -> StepDecoder:
    """Return a decoder of one model, laid out anew.

    Raises UserError if it has parts that are not built here.
    """
    (model,) = system.models
    begin = beginning(system)
    # fairseq's beam is no wider than what a hypothesis can go on with, padding left out
    row = row.model_copy(update={"beam": min(row.beam, len(system.target) - 1)})
    writing = Writing(
        begin=lambda *batch: SingleSteps(*begin(*batch)),
        search=beginning_search(system, Greedy if row.beam == 1 else Beam),
        first=torch.tensor(system.target.eos()),
    )
    return StepDecoder(system, model, row, finish, watch, writing)
