"""Learn BPE, for both sides together or for each: see fastdecode.corpus.bpe."""

from pathlib import Path

from fastdecode.corpus.bpe import learn_sides
from fastdecode.errors import clear_errors

files, out, bpe = snakemake.input, snakemake.output, snakemake.params.bpe
with clear_errors():
    learn_sides(
        [Path(files.source), Path(files.target)],
        bpe["merges"],
        [Path(out.source), Path(out.target)],
        joint=bpe["joint"],
    )
