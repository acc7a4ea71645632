"""Tokenise and clean a corpus: see fastdecode.corpus.prepare."""

from pathlib import Path

from fastdecode.config.corpora import Corpus
from fastdecode.corpus.prepare import prepare
from fastdecode.errors import clear_errors

out = Path(snakemake.output.report).parent
with clear_errors():
    prepare(out / "raw", out, Corpus.model_validate(snakemake.params.corpus), snakemake.threads)
