"""Take targets that were distilled elsewhere: see fastdecode.given."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.given import take_distilled
from fastdecode.provenance import provenance

files, out, params = snakemake.input, snakemake.output, snakemake.params
dataset, target = snakemake.wildcards.given_target.split("/")
with clear_errors():
    take_distilled(
        Path(files.text),
        Path(files.source),
        Path(files.data, f"dict.{params.language}.txt"),
        Path(out.text),
        Path(out.provenance),
        provenance(dataset=dataset, system=target, device=params.device),
    )
