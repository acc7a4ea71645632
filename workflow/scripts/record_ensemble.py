"""Record what an ensemble is made of: see fastdecode.train.ensemble."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.provenance import provenance
from fastdecode.train.ensemble import record_ensemble

with clear_errors():
    origin = provenance(**snakemake.params.provenance)
    record_ensemble(list(map(Path, snakemake.input)), Path(snakemake.output[0]), origin)
