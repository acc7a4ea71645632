"""Estimate a language model of BPE tokens: see fastdecode.families.dag.language_model."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.families.dag.language_model import estimate

files = snakemake.input
with clear_errors():
    estimate(Path(files.text), Path(files.tools), Path(snakemake.output[0]))
