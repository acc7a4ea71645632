"""Join the parts of a distilled target: see fastdecode.distill."""

from pathlib import Path

from fastdecode.distill import join_shards
from fastdecode.errors import clear_errors
from fastdecode.files import sha256
from fastdecode.provenance import provenance

names, params = snakemake.wildcards, snakemake.params
with clear_errors():
    origin = provenance(
        dataset=names.dataset,
        system=names.target,
        decoder=params.decoder_name,
        seed=None,
        device=params.device,
        decoder_settings=params.decoder,
        teachers={path: sha256(Path(path)) for path in snakemake.input.checkpoints},
    )
    join_shards(
        [Path(path) for path in snakemake.input.shards],
        Path(snakemake.input.source),
        Path(snakemake.output.text),
        Path(snakemake.output.provenance),
        origin,
    )
