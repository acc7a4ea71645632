"""How graphs are trained."""

from typing import TYPE_CHECKING

from fastdecode.train.command import initial_weights, model_arguments, validation_arguments

if TYPE_CHECKING:
    from fastdecode.train.job import Job

ARCHITECTURE = "fastdecode_dag"
TASK = "fastdecode_dag"
CRITERION = "fastdecode_dag"
ANNEALED = 2 / 3  # of a training, after which glancing stays as it is: 200,000 of 300,000
# For validation, as in the paper. The fast decoder never holds the logits of all vertices of a
# batch, which at full scale are more than a GPU has.
LOOKAHEAD = {"search": "lookahead", "engine": "fastdecode"}


def arguments(job: "Job") -> list[str]:
    """Return fairseq-train's options that say what is trained; the rest is the same for all."""
    first, last = job.options["glancing_ratio"]
    return [
        *model_arguments(job.architecture, job.joint, ARCHITECTURE),
        *initial_weights(job.architecture),
        *("--graph-factor", str(job.options["factor"])),
        *("--links", job.options["links"]),
        *("--task", TASK, "--family", "dag"),
        *("--criterion", CRITERION),
        *("--marginalise", job.options["marginalise"]),
        *("--glancing", job.options["glancing"]),
        *("--glance-from", str(first), "--glance-to", str(last), "--glance-over", str(ANNEALED)),
        *(["--force-emission"] if job.options["force_emission"] else []),
        *(["--divide-by-length"] if job.options["divide_by_length"] else []),
        *validation_arguments(job.settings, LOOKAHEAD),
    ]
