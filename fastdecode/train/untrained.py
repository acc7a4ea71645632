"""A model as its training would begin: random weights, saved as fairseq saves a trained one.

What decoding costs shows before anything is trained (fastdecode.limits says how long translations
are then).
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from fairseq import options, tasks, utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import OmegaConf

import fastdecode.plugin  # noqa: F401  registers architectures and tasks
from fastdecode.files import write_json
from fastdecode.train import checkpoints, command
from fastdecode.train.job import Job


def save_untrained(job: Job, out: Path, provenance: dict[str, Any]) -> None:
    """Write `checkpoint.pt` and `train.json` into the folder `out`, as fastdecode.train.run does.

    The record says `"trained": false` and counts no update.
    """
    words = command.fairseq_train([], job.arguments(), job.data, job.source, job.target, out)
    parser = options.get_training_parser()
    cfg = convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, words))
    utils.set_torch_seed(job.seed)
    model = tasks.setup_task(cfg.task).build_model(cfg.model)
    state = {
        "args": None,
        "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
        "model": model.state_dict(),
        "optimizer_history": [{"num_updates": 0, "lr_scheduler_state": {}}],
        "extra_state": {"train_iterator": None},
    }
    checkpoints.forget_paths(state)
    write_json(
        out / "train.json",
        {
            "provenance": provenance,
            "trained": False,
            "family": job.family,
            "layers": job.architecture.layers,
            "parameters": checkpoints.parameters(state["model"]),
            "updates": 0,
            "epochs": 0,
            "seconds": 0.0,
            "architecture": asdict(job.architecture),
            "arguments": job.arguments(),
        },
    )
    checkpoints.save(state, out / "checkpoint.pt")
