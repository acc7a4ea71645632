"""Binarise training and validation text: see fastdecode.corpus.binarise."""

from pathlib import Path

from fastdecode.corpus.binarise import binarise
from fastdecode.errors import clear_errors

files, params = snakemake.input, snakemake.params
with clear_errors():
    binarise(
        tuple(map(Path, files.train)),
        tuple(map(Path, files.valid)),
        Path(snakemake.output[0]),
        params.source,
        params.target,
        joined=params.joint,
        dictionaries=Path(files.dictionaries) if files.dictionaries else None,
        processes=snakemake.threads,
    )
