"""Count the tables of the lattice family: see fastdecode.families.lattice.tables."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.families.lattice.tables import build
from fastdecode.provenance import provenance

files, params, names = snakemake.input, snakemake.params, snakemake.wildcards
with clear_errors():
    dictionaries = [
        Path(files.dictionaries, f"dict.{language}.txt")
        for language in (params.source, params.target)
    ]
    origin = provenance(
        dataset=names.dataset,
        device="cpu",
        target=names.target,
    )
    build(
        Path(files.source),
        Path(files.target),
        Path(files.links),
        tuple(dictionaries),
        Path(snakemake.output.tables).parent,
        origin,
    )
