"""Save a model of random weights: see fastdecode.train.untrained."""

from pathlib import Path

from fastdecode.config.models import Architecture
from fastdecode.config.rows import Training
from fastdecode.errors import clear_errors
from fastdecode.provenance import provenance
from fastdecode.train.job import Job
from fastdecode.train.untrained import save_untrained

params = snakemake.params
job = Job(
    label=f"untrained {snakemake.wildcards.system}",
    family=params.family,
    data=Path(snakemake.input.data),
    source=params.source,
    target=params.target,
    joint=params.joint,
    architecture=Architecture(**params.architecture),
    settings=Training.model_validate(params.training),
    seed=params.provenance["seed"],
    device="cpu",
    options=params.options,
)
with clear_errors():
    origin = provenance(**params.provenance)
    save_untrained(job, Path(snakemake.output.checkpoint).parent, origin)
