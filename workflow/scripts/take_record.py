"""Note of a model that only its translations are given: see fastdecode.given."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.given import write_record
from fastdecode.provenance import provenance

params = snakemake.params
with clear_errors():
    origin = provenance(device=params.device, **params.names)
    write_record(Path(snakemake.output[0]), params.shape, origin, {})
