"""Take a model that was trained elsewhere: see fastdecode.given."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.given import take_model
from fastdecode.provenance import provenance

files, params = snakemake.input, snakemake.params
with clear_errors():
    take_model(
        Path(files.checkpoint[0]),
        Path(files.record[0]) if files.record else None,
        Path(files.data),
        Path(snakemake.output.checkpoint).parent,
        params.shape,
        params.width,
        provenance(device=params.device, **params.names),
    )
