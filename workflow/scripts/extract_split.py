"""Extract one split of a corpus: see fastdecode.corpus.extract."""

from pathlib import Path

from fastdecode.config.corpora import DOWNLOADS, Corpus
from fastdecode.corpus.extract import extract_split
from fastdecode.errors import clear_errors

with clear_errors():
    extract_split(
        Corpus.model_validate(snakemake.params.corpus),
        snakemake.wildcards.split,
        Path(DOWNLOADS),
        Path(snakemake.output.source),
        Path(snakemake.output.target),
    )
