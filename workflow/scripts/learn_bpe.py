"""Learn BPE, for both sides together or for each: see fastdecode.corpus.bpe."""

import shutil
from pathlib import Path

from fastdecode.corpus.bpe import learn
from fastdecode.errors import clear_errors

sides = [Path(snakemake.input.source), Path(snakemake.input.target)]
codes = [Path(snakemake.output.source), Path(snakemake.output.target)]
bpe = snakemake.params.bpe
with clear_errors():
    if bpe["joint"]:
        learn(sides, bpe["merges"], codes[0])
        shutil.copyfile(codes[0], codes[1])
    else:
        for side, out in zip(sides, codes, strict=True):
            learn([side], bpe["merges"], out)
