"""Align the words of a training text: see fastdecode.corpus.align."""

from pathlib import Path

from fastdecode.corpus.align import align
from fastdecode.errors import clear_errors

with clear_errors():
    align(
        Path(snakemake.input.source),
        Path(snakemake.input.target),
        Path(snakemake.output[0]).parent,
        processes=snakemake.threads,
    )
