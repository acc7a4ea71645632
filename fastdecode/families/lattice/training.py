"""How the scorer is trained: a Markov transformer, validated by searching lattices."""

from typing import TYPE_CHECKING

from fastdecode.families.lattice.rows import CANDIDATES
from fastdecode.families.lattice.vocabulary import SPECIAL, read_dictionary
from fastdecode.train.command import model_arguments, validation_arguments

if TYPE_CHECKING:
    from fastdecode.train.job import Job

ARCHITECTURE = "fastdecode_lattice"
# Of validation, as in the paper; k is at most the dictionary's size.
SEARCH = {"k": CANDIDATES, "delta": 3}


def arguments(job: "Job") -> list[str]:
    """Return fairseq-train's options that say what is trained; the rest is the same for all."""
    words = len(read_dictionary(job.data / f"dict.{job.target}.txt")) - len(SPECIAL)
    search = SEARCH | {"k": min(SEARCH["k"], words)}
    return [
        *model_arguments(job.architecture, job.joint, ARCHITECTURE),
        *("--orders", str(job.options["orders"])),
        *("--task", "fastdecode", "--family", "lattice"),
        *("--criterion", "fastdecode_markov"),
        *("--label-smoothing", str(job.settings.label_smoothing)),
        *validation_arguments(job.settings, search),
    ]
