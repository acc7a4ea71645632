"""How this family is trained: our model, fairseq's loss, validated by our own decoder."""

from typing import TYPE_CHECKING

from fastdecode.train.command import model_arguments, validation_arguments

if TYPE_CHECKING:
    from fastdecode.train.job import Job

ARCHITECTURE = "fastdecode_template"


def arguments(job: "Job") -> list[str]:
    """Return fairseq-train's options that say what is trained; the rest is the same for all.

    `job.options` is the row of the system.
    """
    return [
        *model_arguments(job.architecture, job.joint, ARCHITECTURE),
        *("--task", "fastdecode", "--family", "template"),
        *("--criterion", "label_smoothed_cross_entropy"),
        *("--label-smoothing", str(job.settings.label_smoothing)),
        *validation_arguments(job.settings, {"engine": "eager"}),  # a row of our decoder
    ]
