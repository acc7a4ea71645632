"""How the kinds of this family are trained: fairseq's models and losses, a task of ours."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastdecode.train.command import model_arguments, validation_arguments

if TYPE_CHECKING:
    from fastdecode.train.run import Job

TASK = "fastdecode_parallel"
ARGMAX = {"length_beam": 1}  # for validation


@dataclass(frozen=True)
class Recipe:
    """What tells one kind of system from another."""

    architecture: str
    criterion: str
    noise: str  # what the decoder sees of the target; see task.py
    options: tuple[str, ...] = ()


# As fairseq's own recipe for it trains, and those of most papers since: the decoder begins with
# source embeddings, copied evenly; the length is predicted as a difference to the source's; weights
# begin as BERT's. That recipe learns positions too: here they are sines, as in all systems.
SLOTS = (
    "--src-embedding-copy",
    "--pred-length-offset",
    *("--length-loss-factor", "0.1"),
    "--apply-bert-init",
)

RECIPES = {"nat": Recipe("nonautoregressive_transformer", "nat_loss", "full_mask", SLOTS)}


def arguments(job: "Job") -> list[str]:
    """Return fairseq-train's options that say what is trained; the rest is the same for all."""
    recipe = RECIPES[job.options["kind"]]
    return [
        *model_arguments(job.architecture, job.joint, recipe.architecture),
        *recipe.options,
        *("--task", TASK, "--family", "parallel", "--noise", recipe.noise),
        *("--criterion", recipe.criterion),
        *("--label-smoothing", str(job.settings.label_smoothing)),
        *validation_arguments(job.settings, ARGMAX),
    ]
