"""How this family is trained: our model and fold, fairseq's loss, validated by our own search."""

from typing import TYPE_CHECKING

from fastdecode.train.command import model_arguments, validation_arguments

if TYPE_CHECKING:
    from fastdecode.train.job import Job

ARCHITECTURE = "fastdecode_folded"
GREEDY = {"beam": 1}  # for validation


def arguments(job: "Job") -> list[str]:
    """Return fairseq-train's options that say what is trained; the rest is the same for all."""
    return [
        *model_arguments(job.architecture, job.joint, ARCHITECTURE),
        *("--fold", job.options["fold"], "--start", job.options["start"]),
        *(["--decoder-learned-pos"] if job.options["positions"] == "learned" else []),
        *("--task", "fastdecode", "--family", "bidirectional"),
        *("--criterion", "fastdecode_folded"),
        *("--label-smoothing", str(job.settings.label_smoothing)),
        *validation_arguments(job.settings, GREEDY),
    ]
