"""Segment one side of one part: see fastdecode.corpus.bpe."""

from pathlib import Path

from fastdecode.corpus.bpe import apply
from fastdecode.errors import clear_errors

with clear_errors():
    apply(
        Path(snakemake.input.codes),
        Path(snakemake.input.text),
        Path(snakemake.output[0]),
        snakemake.threads,
    )
