"""Write the toy corpus: see fastdecode.corpus.toy."""

from pathlib import Path

from fastdecode.corpus.toy import TOY_SIZES, generate
from fastdecode.errors import clear_errors

with clear_errors():
    generate(snakemake.params.seed, TOY_SIZES, Path(snakemake.output[0]).parent)
