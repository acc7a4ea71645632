"""Train one system: see fastdecode.train.run."""

from pathlib import Path

from fastdecode.config.models import Architecture
from fastdecode.config.rows import Training
from fastdecode.devices import own_devices
from fastdecode.errors import clear_errors
from fastdecode.provenance import provenance
from fastdecode.train.job import Job
from fastdecode.train.run import train

params = snakemake.params
names = params.provenance
job = Job(
    label=f"train {names['dataset']}/{names['target']}/{names['system']} seed{names['seed']}",
    family=params.family,
    data=Path(snakemake.input.data),
    source=params.source,
    target=params.target,
    joint=params.joint,
    architecture=Architecture(**params.architecture),
    settings=Training.model_validate(params.training),
    seed=names["seed"],
    device=params.device,
    options=params.options,
    assets=Path(params.assets) if params.assets else None,
    companions={name: Path(path) for name, path in params.companions.items()},
    nodes=snakemake.resources.get("nodes", 1),
)
gpus = own_devices(params.device, snakemake.resources.gpu, snakemake.resources.gpu_sharers)
with clear_errors(), gpus:
    origin = provenance(**names)
    train(job, Path(snakemake.output.checkpoint).parent, origin)
