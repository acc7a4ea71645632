"""How this family is trained: fairseq's own Transformer, task and criterion."""

from typing import TYPE_CHECKING

from fastdecode.train.command import model_arguments, validation_arguments

if TYPE_CHECKING:
    from fastdecode.train.job import Job

GREEDY = {"beam": 1, "max_len_a": 1.2, "max_len_b": 10}  # for validation


def arguments(job: "Job") -> list[str]:
    """Return fairseq-train's options that say what is trained; the rest is the same for all."""
    return [
        *model_arguments(job.architecture, job.joint),
        *("--task", "translation"),
        *("--criterion", "label_smoothed_cross_entropy"),
        *("--label-smoothing", str(job.settings.label_smoothing)),
        *validation_arguments(job.settings, GREEDY),
    ]
