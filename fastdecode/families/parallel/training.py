"""How the kinds of this family are trained: models and losses, a task of ours."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastdecode.families.parallel.rows import GLANCE, SEARCHES, UPSAMPLE
from fastdecode.train.command import initial_weights, model_arguments, validation_arguments

if TYPE_CHECKING:
    from fastdecode.train.job import Job

TASK = "fastdecode_parallel"
# Architectures; the last is a loss as well.
CMLM, GLAT, CTC = "fastdecode_cmlm", "fastdecode_glat", "fastdecode_ctc"
VALIDATION: dict[str, dict[str, Any]] = {
    "argmax": {"length_beam": 1},
    "mask-predict": {"search": "mask-predict", "iterations": 4, "length_beam": 1},
    # the fast decoder never holds the logits of all slots of a batch: see the graph's
    "ctc": {"search": "ctc", "engine": "fastdecode"},
}


@dataclass(frozen=True)
class Recipe:
    """What tells one kind of system from another."""

    architecture: str
    criterion: str
    noise: str  # what the decoder sees of the target; see task.py
    options: tuple[str, ...] = ()


# As fairseq's own recipe for nat trains: the length is predicted as a difference to the source's;
# wide models begin as BERT. That recipe learns positions and copies nothing: here positions are
# sines, as in all systems, and nat copies, as its paper.
LENGTH = ("--pred-length-offset", "--length-loss-factor", "0.1")
COPY = ("--src-embedding-copy",)  # the decoder begins with source embeddings, copied evenly
COPIES = {"even": COPY, "soft": (*COPY, "--soft-copy"), "none": ()}
POSITIONS = 1024  # of a source, with its frame

RECIPES = {
    "nat": Recipe("nonautoregressive_transformer", "nat_loss", "full_mask", LENGTH),
    "cmlm": Recipe(CMLM, "nat_loss", "random_mask", LENGTH),
    "glat": Recipe(GLAT, "nat_loss", "full_mask", LENGTH),
    "ctc": Recipe(CTC, CTC, "no_target"),
    "ctc-glat": Recipe(CTC, CTC, "no_target"),
}


def arguments(job: "Job") -> list[str]:
    """Return fairseq-train's options that say what is trained; the rest is the same for all."""
    kind = job.options["kind"]
    recipe = RECIPES[kind]
    smoothing = ["--label-smoothing", str(job.settings.label_smoothing)]
    return [
        *model_arguments(job.architecture, job.joint, recipe.architecture),
        *recipe.options,
        *COPIES["none" if kind == "cmlm" else job.options["source_copy"]],
        *(["--activation-fn", "gelu"] if job.options["activation"] == "gelu" else []),
        *initial_weights(job.architecture),
        *(_upsampling(job.options["upsample"] or UPSAMPLE) if "ctc" in kind else []),
        *("--task", TASK, "--family", "parallel", "--noise", recipe.noise),
        *(_glancing(*(job.options["glance"] or GLANCE)) if "glat" in kind else []),
        *("--criterion", recipe.criterion),
        *(smoothing if recipe.criterion == "nat_loss" else []),
        *validation_arguments(job.settings, VALIDATION[SEARCHES[kind]]),
    ]


def _upsampling(count: int) -> list[str]:
    slots = count * (POSITIONS + 1)  # decoding allows all positions to words and `</s>`
    positions = ["--max-source-positions", str(POSITIONS), "--max-target-positions", str(slots)]
    return ["--upsample", str(count), *positions]


def _glancing(start: float, end: float) -> list[str]:
    return ["--glance-from", str(start), "--glance-to", str(end)]
