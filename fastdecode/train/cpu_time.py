"""The CPU time of a training, kept in its checkpoints beside the time that passed.

fairseq keeps only the latter, which pauses and waiting for a core are part of.
"""

import time
from typing import Any

from fairseq.distributed.utils import get_global_world_size

KEPT = ("process", "cpu_seconds")
"""In a checkpoint's extra state: when a process began, which tells it from others of the same
training, and the seconds that all its threads have had since."""


def keep_cpu_time(trainer: type[Any]) -> None:
    """Have fairseq's class `trainer` add KEPT to what it saves, from now on.

    One of several processes at a time adds nothing, since it knows but its own time. What a process
    has is not handed to one that goes on after it: see fastdecode.train.curve.
    """
    whole = trainer.state_dict
    began, used = time.time(), time.process_time()

    def state_dict(self: Any) -> dict[str, Any]:
        state: dict[str, Any] = whole(self)
        if get_global_world_size() == 1:
            spent = (began, time.process_time() - used)
            state["extra_state"] |= dict(zip(KEPT, spent, strict=True))
        return state

    trainer.state_dict = state_dict
