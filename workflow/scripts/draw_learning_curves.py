"""Gather learning curves and draw them: see fastdecode.report.learning_curves."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import write_csv
from fastdecode.report.learning_curves import gather_curves
from fastdecode.report.pictures import draw

files, out = snakemake.input, snakemake.output
with clear_errors():
    trained = zip(map(Path, files.curves), map(Path, files.records), strict=True)
    write_csv(Path(out.csv), gather_curves(trained))
    draw(Path(out.csv), Path(out.svg), Path(out.png), Path(out.pdf))
