"""Tokenise and clean a corpus: see fastdecode.corpus.prepare."""

from pathlib import Path

from fastdecode.config.corpora import Corpus
from fastdecode.corpus.prepare import prepare
from fastdecode.errors import clear_errors
from fastdecode.measure.metrics import text_bleu

out = Path(snakemake.output.report).parent
corpus = Corpus.model_validate(snakemake.params.corpus)
with clear_errors():
    text_bleu(corpus.target, corpus.lowercase)  # what it lacks is said now, before any training
    prepare(out / "raw", out, corpus, snakemake.threads)
