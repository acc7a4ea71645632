"""Learn BPE, for both sides together or for each: see fastdecode.corpus.bpe."""

import shutil
from pathlib import Path

from fastdecode.corpus.bpe import learn
from fastdecode.errors import clear_errors
from fastdecode.files import write_aside

sides = [Path(snakemake.input.source), Path(snakemake.input.target)]
codes = [Path(snakemake.output.source), Path(snakemake.output.target)]
bpe = snakemake.params.bpe
with clear_errors():
    if bpe["joint"]:
        learn(sides, bpe["merges"], codes[0])
        with write_aside(codes[1]) as part:
            shutil.copyfile(codes[0], part)
    else:
        for side, out in zip(sides, codes, strict=True):
            learn([side], bpe["merges"], out)
